"""The background jobs of a scope, in the order of a night."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from random import Random

from biem.adapters.jobs.thread import InProcessQueue, NoQueue
from biem.bootstrap.stores import Stores
from biem.config import Settings
from biem.domain.policies import Policies
from biem.engine.concepts.build import ConceptJobs
from biem.engine.conflicts.resolve import Resolver
from biem.engine.graph.associations import Associations
from biem.engine.life.erased_sweep import ErasedSweep
from biem.engine.life.feedback import Feedback
from biem.engine.life.retention import Aging, Lifecycle
from biem.engine.life.tiers import Tiers
from biem.engine.priority import ForegroundPriority
from biem.engine.sleep.consolidate import Consolidator
from biem.engine.sleep.crystallise import Crystalliser
from biem.engine.sleep.integrity import Integrity
from biem.engine.sleep.jobs import BackgroundJob
from biem.engine.sleep.relink import Changed, LinkTransfer
from biem.engine.sleep.similar import Neighbourhood
from biem.ports import Analyzer, Clock, Embedder, JobQueue
from biem.ports.contradiction import ContradictionRules
from biem.telemetry import Telemetry


def _archived(aging: Aging) -> dict[str, int]:
    return {name: int(value) for name, value in asdict(aging).items()}


def night_jobs(
    stores: Stores,
    policies: Policies,
    embedder: Embedder,
    analyzer: Analyzer,
    rules: ContradictionRules,
    random: Random,
    clock: Clock,
    telemetry: Telemetry,
    associations: Associations,
    tiers: Tiers,
    lifecycle: Lifecycle,
    feedback: Feedback,
    resolver: Resolver,
    changed: Changed,
    backups: Callable[[], object],
) -> list[BackgroundJob]:
    """All background jobs in the order of a night: first what is built, then what is made one, then what fades."""
    every = policies.sleep.periods()
    neighbourhood = Neighbourhood(
        records=stores.records, index=stores.index, embedder=embedder, k=policies.consolidation.neighbours
    )
    succession = LinkTransfer(
        consolidations=stores.consolidations,
        links=stores.links,
        changed=changed,
        clock=clock,
        limit=policies.consolidation.batch,
    )
    hippocampus = ConceptJobs(
        concepts=stores.concepts,
        instants=stores.instants,
        links=stores.links,
        analyzer=analyzer,
        clock=clock,
        policy=policies.concepts,
        random=random,
        telemetry=telemetry,
        embedder=embedder,
        reasoner=stores.reasoner,
        graph=policies.graph,
    )
    consolidator = Consolidator(
        consolidations=stores.consolidations,
        neighbourhood=neighbourhood,
        succession=succession,
        analyzer=analyzer,
        rules=rules,
        duplicates=stores.conflicts,
        reasoner=stores.reasoner,
        clock=clock,
        policy=policies.consolidation,
        telemetry=telemetry,
    )
    crystalliser = Crystalliser(
        records=stores.records,
        consolidations=stores.consolidations,
        neighbourhood=neighbourhood,
        analyzer=analyzer,
        reasoner=stores.reasoner,
        succession=succession,
        clock=clock,
        policy=policies.consolidation,
        telemetry=telemetry,
    )
    integrity = Integrity(
        links=stores.links,
        checks=(
            lambda scope: {"relinked": succession.catch_up(scope)},
            lambda scope: {
                "called_back": stores.embedders.call_back(scope, embedder.info.id, policies.sleep.integrity_rows)
            },
        ),
        clock=clock,
        limit=policies.sleep.integrity_rows,
    )

    late = ErasedSweep(
        tombstones=stores.tombstones,
        index=stores.index,
        hot=stores.hot,
        canvas=stores.canvas,
        forget_talk=stores.forget_talk,
    )

    def sweep() -> Mapping[str, int]:
        backups()  # listing them deletes those that expired
        swept = tiers.sweep()
        return {"left": swept.left, "repaired": swept.repaired, "removed": late.sweep()}

    def decide() -> Mapping[str, int]:
        return {"decided": resolver.work(policies.conflicts.decisions)}

    jobs = [
        BackgroundJob("build", hippocampus.build, every["build"]),
        BackgroundJob("concepts", hippocampus.consolidate, every["concepts"]),
        BackgroundJob("dedupe", consolidator.dedupe, every["dedupe"]),
        BackgroundJob("merge", consolidator.merge, every["merge"]),
        BackgroundJob("crystallise", crystalliser.crystallise, every["crystallise"]),
        BackgroundJob("links", associations.tend, every["links"]),
        BackgroundJob("forget", hippocampus.forget, every["forget"]),
        BackgroundJob(
            "lifecycle",
            lambda scope: _archived(lifecycle.run(scope)),
            every["lifecycle"],
            everywhere=lambda: _archived(lifecycle.run()),
        ),
        BackgroundJob("sweep", lambda _: sweep(), every["sweep"], everywhere=sweep),
        BackgroundJob("decisions", lambda _: decide(), every["decisions"], everywhere=decide),
        BackgroundJob("turns", feedback.compact, every["turns"]),
        BackgroundJob("integrity", integrity.mend, every["integrity"]),
    ]
    return [job for job in jobs if job.name not in policies.sleep.off]


def keeper_queue(settings: Settings, policies: Policies, courtesy: ForegroundPriority) -> JobQueue:
    """A thread for the background jobs of its own: a long night must not keep a new message from being indexed."""
    if settings.queue != "thread":
        return NoQueue()
    encode = policies.encode
    return InProcessQueue(
        poll_s=policies.sleep.tick_s,
        backoff_s=encode.backoff_s,
        backoff_max_s=encode.backoff_max_s,
        around=courtesy.working,
        name="biem-keeper",
    )
