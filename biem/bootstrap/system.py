"""The object graph: every use case, built once from the stores and the policies."""

from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from random import Random

from biem.adapters import analyzers, contradiction
from biem.bootstrap.aim import build_aim, build_gate
from biem.bootstrap.diagnosis import build_reindexer, diagnoser
from biem.bootstrap.erase import backups_of, build_eraser
from biem.bootstrap.observe import observe
from biem.bootstrap.recall import build_briefer, build_orbits, build_recaller
from biem.bootstrap.servers import Servers
from biem.bootstrap.sleep import keeper_queue, night_jobs
from biem.bootstrap.stores import open_stores
from biem.config import Settings
from biem.domain.scope import Scope
from biem.engine.admin.browse import MemoryBrowser
from biem.engine.admin.stage_times import StageTimes
from biem.engine.aim.inertia import Inertia
from biem.engine.aim.inertia_write_behind import HeadingFeed
from biem.engine.concepts.notes import InstantMaker
from biem.engine.concepts.recollect import Reminder
from biem.engine.concepts.running import Activator
from biem.engine.conflicts.detect import ConflictChecker
from biem.engine.conflicts.resolve import Resolver
from biem.engine.context.relevance_filter import RelevanceFilter
from biem.engine.encode.integrate import Integrator
from biem.engine.encode.worker import EncodeWorker
from biem.engine.graph.associations import Associations
from biem.engine.life.feedback import Feedback
from biem.engine.life.retention import Lifecycle
from biem.engine.life.tiers import Tiers, sweep_all
from biem.engine.priority import ForegroundPriority, YieldingAnalyzer, YieldingEmbedder, YieldingRules
from biem.engine.recall.search import Searcher
from biem.engine.remember.hot_write_behind import HotFeed
from biem.engine.remember.writer import Writer
from biem.engine.sleep.jobs import JobRunner, Schedule
from biem.ports import Clock, Embedder
from biem.system import System
from biem.telemetry import Telemetry


def assemble(
    settings: Settings,
    where: Servers,
    embedder: Embedder,
    clock: Clock,
    stack: ExitStack,
    *,
    serve: bool,
    telemetry: Telemetry | None = None,
) -> System:
    """Connect and build everything; `System.release` closes what was opened, and what `stack` held before.

    `serve`: metrics, where wanted, are served by this process and not by the one that started it. `telemetry` is that
    of the object graph that this one takes the place of.
    """
    first, telemetry = telemetry is None, telemetry or Telemetry()
    policies = settings.policies
    courtesy = ForegroundPriority()
    embedder = YieldingEmbedder(embedder, courtesy.give_way)
    stores = open_stores(settings, where, embedder, clock, telemetry, stack, courtesy)
    times = StageTimes()
    unobserve = observe(telemetry, settings, where, clock, serve=serve) if first else None
    if first:
        telemetry.attach(times)
    analyzer = YieldingAnalyzer(analyzers.build(settings.names_pipeline), courtesy.give_way)
    rules = YieldingRules(contradiction.build(), courtesy.give_way)
    random = Random()
    feed = HotFeed(stores.hot, window=policies.write.hot_window)
    stack.callback(feed.close)
    associations = Associations(links=stores.links, clock=clock, policy=policies.graph, telemetry=telemetry)
    writer = Writer(
        records=stores.records,
        hot=feed,
        queue=stores.queue,
        analyzer=analyzer,
        clock=clock,
        policy=policies.write,
        telemetry=telemetry,
        rates=stores.rates,
        calling=courtesy.calling,
        remembered=associations.remembered,
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
    gate = build_gate(stores, policies, rules, embedder, analyzer, clock, telemetry)
    headings = HeadingFeed(stores.headings)
    stack.callback(headings.close)
    inertia = Inertia(headings=headings, policy=policies.aim, telemetry=telemetry)
    instants = InstantMaker(
        instants=stores.instants,
        analyzer=analyzer,
        clock=clock,
        policy=policies.concepts,
        reasoner=stores.reasoner,
    )
    former = Integrator(
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
        admit=gate.admit,
        associations=associations,
        tiers=tiers,
        instants=instants,
        telemetry=telemetry,
    )
    encoder = EncodeWorker(
        records=stores.records,
        index=stores.index,
        hot=stores.hot,
        embedder=embedder,
        analyzer=analyzer,
        former=former,
        clear=lifecycle.clear,
        leave=tiers.leave,
        forget_talk=stores.forget_talk,
        policy=policies.encode,
        telemetry=telemetry,
        deferring=stores.database.deferring,
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
        destroy=lambda scope, memory_id: eraser.erase(scope, memory_id),
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
        index=stores.search,
        hot=stores.hot,
        tiers=tiers,
        associations=associations,
        embedder=embedder,
        policy=policies.recall,
        graph=policies.graph,
        telemetry=telemetry,
    )
    orbits = build_orbits(stores, tiers, policies, clock, telemetry)
    backups = backups_of(settings, where)
    eraser = build_eraser(
        stores, feed, headings, associations, orbits, inertia, backups, clock, policies.encode, telemetry
    )

    def changed(scope: Scope, ids: Sequence[str]) -> None:
        """Copies of what was archived or replaced are dropped at once; what is kept comes back when it is used."""
        tiers.drop(scope.ns, ids)

    jobs = night_jobs(
        stores, policies, embedder, analyzer, rules, random, clock, telemetry, associations, tiers, lifecycle, feedback,
        resolver, changed, backups,
    )  # fmt: skip
    sleeper = JobRunner(
        jobs,
        exclusive=stores.exclusive,
        clock=clock,
        telemetry=telemetry,
    )
    aim = build_aim(
        stores, policies, gate, inertia, former, writer, feed, rules, analyzer, embedder, tiers.accessed,
        searcher.submit, clock, telemetry,
    )  # fmt: skip
    upkeep = Schedule(sleeper, stores.scopes, clock=clock, scopes_per_tick=policies.sleep.scopes_per_tick)
    return System(
        records=stores.records,
        queue=stores.queue,
        writer=writer,
        recaller=build_recaller(
            stores,
            policies,
            searcher=searcher,
            orbits=orbits,
            tiers=tiers,
            associations=associations,
            reminder=reminder,
            router=aim.router,
            rules=rules,
            embedder=embedder,
            analyzer=analyzer,
            random=random,
            clock=clock,
            telemetry=telemetry,
            calling=courtesy.calling,
        ),
        second_look=RelevanceFilter(stores.reasoner, policies.context, telemetry),
        briefer=build_briefer(stores, policies, analyzer, rules, telemetry),
        eraser=eraser,
        reindexer=build_reindexer(stores, policies.write, embedder, encoder, analyzer, telemetry),
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
        instants=instants,
        consolidations=stores.consolidations,
        aim=aim,
        look=MemoryBrowser(stores.browser),
        scopes=stores.directory,
        diagnosis=lambda: diagnoser(
            settings,
            where,
            embedder.info,
            clock,
            telemetry,
            records=stores.records,
            work=encoder,
            sweep=partial(sweep_all, tiers, policies.tiers),
        ),
        times=times,
        unobserve=unobserve or (lambda: None),
        embedders=stores.embedders,
        sleeper=sleeper,
        encoder=encoder,
        upkeep=upkeep,
        pacing=courtesy.pacing,
        keeper=keeper_queue(settings, policies, courtesy),
        clock=clock,
        policies=policies,
        telemetry=telemetry,
        embedder=embedder.info,
        collection=stores.index.collection,
        close_timeout_s=settings.close_timeout_s,
        release=stack.pop_all().close,
    )
