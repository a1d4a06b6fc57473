"""The object graph: every use case, built once from the stores and the policies."""

from collections.abc import Sequence
from contextlib import ExitStack
from random import Random

from biem.adapters import contradiction
from biem.adapters.analyzers import RuleAnalyzer
from biem.adapters.exporters import OpenTelemetry, Prometheus
from biem.adapters.gauges import PostgresGauges
from biem.adapters.queue import InProcessQueue, NoQueue
from biem.bootstrap.night import night_jobs
from biem.bootstrap.places import Servers
from biem.bootstrap.stores import open_stores
from biem.config import Settings
from biem.domain.policy import Policies
from biem.domain.scope import Scope
from biem.engine.activation import Activator
from biem.engine.association import Associations
from biem.engine.conflicts import ConflictChecker
from biem.engine.encode import Encoder
from biem.engine.erase import Eraser
from biem.engine.feedback import Feedback
from biem.engine.form import Former
from biem.engine.hotfeed import HotFeed
from biem.engine.instant import InstantMaker
from biem.engine.lifecycle import Lifecycle
from biem.engine.recall import Recaller
from biem.engine.reindex import Reindexer
from biem.engine.related import Reminder
from biem.engine.remember import Writer
from biem.engine.resolution import Resolver
from biem.engine.search import Searcher
from biem.engine.sleep import Sleeper, Upkeep
from biem.engine.tiers import Tiers
from biem.memory import Parts
from biem.ports import Clock, Embedder, JobQueue
from biem.telemetry import Telemetry


def assemble(
    settings: Settings, where: Servers, embedder: Embedder, clock: Clock, stack: ExitStack, *, serve: bool
) -> Parts:
    """Connect and build everything; `Parts.release` closes what was opened, and what `stack` held before.

    `serve`: metrics, where wanted, are served by this process and not by the one that started it.
    """
    telemetry = Telemetry()
    policies = settings.policies
    stores = open_stores(settings, where, embedder, clock, telemetry, stack)
    _observe(telemetry, settings, clock, PostgresGauges(stores.database) if serve else None, stack)
    analyzer, rules, random = RuleAnalyzer(), contradiction.build(), Random()
    feed = HotFeed(stores.hot, window=policies.write.hot_window)
    stack.callback(feed.close)
    writer = Writer(
        records=stores.records,
        hot=feed,
        queue=stores.queue,
        analyzer=analyzer,
        clock=clock,
        policy=policies.write,
        telemetry=telemetry,
    )
    associations = Associations(
        links=stores.links,
        clock=clock,
        policy=policies.graph,
        telemetry=telemetry,
    )
    tiers = Tiers(
        records=stores.records,
        life=stores.life,
        canvas=stores.canvas,
        clock=clock,
        policy=policies.tiers,
        telemetry=telemetry,
    )
    lifecycle = Lifecycle(
        records=stores.records,
        life=stores.life,
        index=stores.index,
        hot=stores.hot,
        canvas=stores.canvas,
        queue=stores.queue,
        clock=clock,
        policies=policies,
        telemetry=telemetry,
        on_archived=(associations.archived,),
    )
    former = Former(
        checker=ConflictChecker(
            conflicts=stores.conflicts,
            neighbours=stores.index,
            embedder=embedder,
            rules=rules,
            clock=clock,
            policy=policies.conflicts,
            telemetry=telemetry,
            judged=stores.reasoner is not None,
        ),
        associations=associations,
        tiers=tiers,
        instants=InstantMaker(
            instants=stores.instants,
            analyzer=analyzer,
            clock=clock,
            policy=policies.concepts,
            reasoner=stores.reasoner,
        ),
        telemetry=telemetry,
    )
    encoder = Encoder(
        records=stores.records,
        index=stores.index,
        hot=stores.hot,
        embedder=embedder,
        analyzer=analyzer,
        former=former,
        clear=lifecycle.clear,
        leave=tiers.leave,
        policy=policies.encode,
        telemetry=telemetry,
    )
    feedback = Feedback(
        records=stores.records,
        feedbacks=stores.feedbacks,
        links=stores.links,
        touched=lambda _, touched: tiers.follow(touched),
        clock=clock,
        policy=policies.feedback,
        telemetry=telemetry,
    )
    resolver = Resolver(
        conflicts=stores.conflicts,
        records=stores.records,
        writer=writer,
        links=stores.links,
        reasoner=stores.reasoner,
        clock=clock,
        policy=policies.conflicts,
        telemetry=telemetry,
    )
    reminder = Reminder(
        concepts=stores.concepts,
        associations=associations,
        analyzer=analyzer,
        clock=clock,
        policy=policies.concepts,
        random=random,
        telemetry=telemetry,
        embedder=embedder,
        reasoner=stores.reasoner,
    )
    searcher = Searcher(
        records=stores.records,
        index=stores.index,
        hot=stores.hot,
        tiers=tiers,
        associations=associations,
        embedder=embedder,
        policy=policies.recall,
        graph=policies.graph,
        telemetry=telemetry,
    )

    def changed(scope: Scope, ids: Sequence[str]) -> None:
        """Copies of what was archived or replaced are dropped at once; what is kept comes back when it is used."""
        tiers.drop(scope.ns, ids)

    sleeper = Sleeper(
        night_jobs(
            stores,
            policies,
            embedder,
            analyzer,
            rules,
            random,
            clock,
            telemetry,
            associations,
            tiers,
            lifecycle,
            feedback,
            resolver,
            changed,
        ),
        exclusive=stores.exclusive,
        clock=clock,
        telemetry=telemetry,
    )
    upkeep = Upkeep(sleeper, stores.scopes, clock=clock, scopes_per_tick=policies.sleep.scopes_per_tick)
    return Parts(
        records=stores.records,
        queue=stores.queue,
        writer=writer,
        recaller=Recaller(
            records=stores.records,
            turns=stores.turns,
            conflicts=stores.conflicts,
            searcher=searcher,
            tiers=tiers,
            analyzer=analyzer,
            clock=clock,
            policy=policies.recall,
            ranking=policies.ranking,
            telemetry=telemetry,
        ),
        eraser=Eraser(
            records=stores.records,
            index=stores.index,
            hot=stores.hot,
            feed=feed,
            canvas=stores.canvas,
            minds=stores.minds,
            forgotten=associations.drop,
            clock=clock,
            policy=policies.encode,
            telemetry=telemetry,
        ),
        reindexer=Reindexer(
            records=stores.records, index=stores.index, embedder=embedder, encoder=encoder, telemetry=telemetry
        ),
        lifecycle=lifecycle,
        associations=associations,
        feedback=feedback,
        resolver=resolver,
        reminder=reminder,
        activator=Activator(
            minds=stores.minds,
            reminder=reminder,
            analyzer=analyzer,
            policy=policies.concepts,
            reasoner=stores.reasoner,
        ),
        consolidations=stores.consolidations,
        sleeper=sleeper,
        encoder=encoder,
        upkeep=upkeep,
        keeper=_keeper(settings, policies),
        clock=clock,
        policies=policies,
        telemetry=telemetry,
        embedder=embedder.info,
        collection=stores.index.collection,
        close_timeout_s=settings.close_timeout_s,
        release=stack.pop_all().close,
    )


def _observe(
    telemetry: Telemetry, settings: Settings, clock: Clock, gauges: PostgresGauges | None, stack: ExitStack
) -> None:
    """Attach the handlers that settings ask for."""
    if settings.traces:
        telemetry.attach(OpenTelemetry(clock))
    if settings.metrics_port is not None:
        exporter = Prometheus(gauges)
        telemetry.attach(exporter)
        if gauges is not None:
            exporter.serve(settings.metrics_port, settings.metrics_host)
            stack.callback(exporter.close)


def _keeper(settings: Settings, policies: Policies) -> JobQueue:
    """A thread for the background jobs of its own: a long night must not keep a new message from being indexed."""
    if settings.queue != "thread":
        return NoQueue()
    encode = policies.encode
    return InProcessQueue(
        poll_s=policies.sleep.tick_s, backoff_s=encode.backoff_s, backoff_max_s=encode.backoff_max_s, name="biem-keeper"
    )
