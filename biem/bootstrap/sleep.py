"""Builds the background jobs of a scope, in the order in which they run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict

from biem.adapters.jobs.thread import InProcessQueue, NoQueue
from biem.bootstrap.groups import Ground, Life
from biem.bootstrap.layers import LateLayers
from biem.bootstrap.life import Changes, build_expiry
from biem.domain.scope import Scope
from biem.engine.concepts.build import ConceptJobs
from biem.engine.life.erased_sweep import ErasedSweep
from biem.engine.life.expiry import Expiry
from biem.engine.life.retention import Aging
from biem.engine.life.tiers import Tiers
from biem.engine.sleep.consolidate import Consolidator
from biem.engine.sleep.crystallise import Crystalliser
from biem.engine.sleep.integrity import Integrity
from biem.engine.sleep.jobs import BackgroundJob, JobRunner
from biem.engine.sleep.relink import LinkTransfer
from biem.engine.sleep.similar import Neighbourhood
from biem.notes.system import NoteSystem
from biem.ports import JobQueue


def build_job_runner(
    ground: Ground,
    *,
    life: Life,
    changes: Changes,
    notes: NoteSystem,
    layers: LateLayers,
) -> JobRunner:
    """Runs background jobs, each in one process at a time."""
    expiry = build_expiry(ground, eraser=changes.eraser)
    return JobRunner(
        build_jobs(ground, life=life, changes=changes, expiry=expiry, notes=notes, layers=layers),
        exclusive=ground.stores.exclusive,
        clock=ground.clock,
        telemetry=ground.telemetry,
    )


def build_jobs(
    ground: Ground,
    *,
    life: Life,
    changes: Changes,
    expiry: Expiry,
    notes: NoteSystem,
    layers: LateLayers,
) -> list[BackgroundJob]:
    """All background jobs that are switched on: first those that build, then those that merge and that fade."""
    policies = ground.policies
    every = policies.sleep.periods()
    neighbourhood = Neighbourhood(
        records=ground.stores.records,
        index=ground.stores.index,
        embedder=ground.embedder,
        k=policies.consolidation.neighbours,
    )
    transfer = build_link_transfer(ground, tiers=life.tiers)
    concepts = build_concept_jobs(ground)
    consolidator = build_consolidator(ground, neighbourhood=neighbourhood, transfer=transfer)
    crystalliser = build_crystalliser(ground, neighbourhood=neighbourhood, transfer=transfer)
    integrity = build_integrity(ground, transfer=transfer)
    sweep = build_sweep(ground, tiers=life.tiers, expiry=expiry, notes=notes, items=layers.sweep_items)

    def archive(scope: Scope | None = None) -> Mapping[str, int]:
        ended = expiry.run(scope)
        aging = _counts(life.lifecycle.run(scope))
        return {
            **aging,
            "promoted": aging["promoted"] + ended.promoted,
            "expired": aging["expired"] + ended.archived,
            "erased": ended.erased,
        }

    def decide() -> Mapping[str, int]:
        return {"decided": changes.resolver.work(policies.conflicts.decisions)}

    aimate = ground.settings.profile == "aimate"  # its maintenance runs when a program starts, too
    jobs = [
        BackgroundJob("build", concepts.build, every["build"]),
        BackgroundJob("concepts", concepts.consolidate, every["concepts"]),
        BackgroundJob("dedupe", consolidator.dedupe, every["dedupe"]),
        BackgroundJob("merge", consolidator.merge, every["merge"]),
        BackgroundJob("crystallise", crystalliser.crystallise, every["crystallise"]),
        BackgroundJob("links", life.associations.tend, every["links"]),
        BackgroundJob("forget", concepts.forget, every["forget"]),
        BackgroundJob("lifecycle", archive, every["lifecycle"], everywhere=archive, at_start=aimate),
        BackgroundJob("sweep", lambda _: sweep(), every["sweep"], everywhere=sweep),
        BackgroundJob("decisions", lambda _: decide(), every["decisions"], everywhere=decide),
        BackgroundJob("turns", life.feedback.compact, every["turns"]),
        BackgroundJob("integrity", integrity.mend, every["integrity"]),
        BackgroundJob("notes", notes.scan_all, every["notes"], everywhere=notes.scan_all, at_start=True),
        verdict_job(notes, every["note_verdicts"]),
        BackgroundJob("mirror", changes.mirror.run, every["mirror"], everywhere=changes.mirror.run),
        BackgroundJob("sessions", layers.trim, every["sessions"], everywhere=layers.trim),
    ]
    return [job for job in jobs if job.name not in policies.sleep.off]


def verdict_job(notes: NoteSystem, period_s: float) -> BackgroundJob:
    """Compares facts with notes; what it needs is loaded when it runs."""
    return BackgroundJob(
        "note_verdicts",
        lambda scope: notes.facts().run(scope),
        period_s,
        everywhere=lambda: notes.facts().run_all(),
    )


def _counts(aging: Aging) -> dict[str, int]:
    return {name: int(value) for name, value in asdict(aging).items()}


def build_link_transfer(ground: Ground, *, tiers: Tiers) -> LinkTransfer:
    """Gives the links of a replaced memory to its replacement."""

    def changed(scope: Scope, ids: Sequence[str]) -> None:
        """Drop archived and replaced memories from the canvas; a kept one returns with its next use."""
        tiers.drop(scope.ns, ids)

    return LinkTransfer(
        consolidations=ground.stores.consolidations,
        links=ground.stores.links,
        changed=changed,
        clock=ground.clock,
        limit=ground.policies.consolidation.batch,
    )


def build_concept_jobs(ground: Ground) -> ConceptJobs:
    """Builds, unites and forgets concepts."""
    return ConceptJobs(
        concepts=ground.stores.concepts,
        instants=ground.stores.instants,
        links=ground.stores.links,
        analyzer=ground.analyzer,
        clock=ground.clock,
        policy=ground.policies.concepts,
        random=ground.random,
        telemetry=ground.telemetry,
        embedder=ground.embedder,
        reasoner=ground.stores.reasoner,
        graph=ground.policies.graph,
    )


def build_consolidator(ground: Ground, *, neighbourhood: Neighbourhood, transfer: LinkTransfer) -> Consolidator:
    """Removes duplicates and merges similar memories."""
    return Consolidator(
        consolidations=ground.stores.consolidations,
        neighbourhood=neighbourhood,
        succession=transfer,
        analyzer=ground.analyzer,
        rules=ground.rules,
        duplicates=ground.stores.conflicts,
        reasoner=ground.stores.reasoner,
        clock=ground.clock,
        policy=ground.policies.consolidation,
        telemetry=ground.telemetry,
    )


def build_crystalliser(ground: Ground, *, neighbourhood: Neighbourhood, transfer: LinkTransfer) -> Crystalliser:
    """Distils facts from groups of memories."""
    return Crystalliser(
        records=ground.stores.records,
        consolidations=ground.stores.consolidations,
        neighbourhood=neighbourhood,
        analyzer=ground.analyzer,
        reasoner=ground.stores.reasoner,
        succession=transfer,
        clock=ground.clock,
        policy=ground.policies.consolidation,
        telemetry=ground.telemetry,
    )


def build_integrity(ground: Ground, *, transfer: LinkTransfer) -> Integrity:
    """Repairs links without nodes, unfinished link transfers, and memories indexed under another model."""
    rows = ground.policies.sleep.integrity_rows
    model, embedders = ground.embedder.info.id, ground.stores.embedders
    return Integrity(
        links=ground.stores.links,
        checks=(
            lambda scope: {"relinked": transfer.catch_up(scope)},
            lambda scope: {"called_back": embedders.call_back(scope, model, rows)},
        ),
        clock=ground.clock,
        limit=rows,
    )


def build_sweep(
    ground: Ground, *, tiers: Tiers, expiry: Expiry, notes: NoteSystem, items: Callable[[], int]
) -> Callable[[], Mapping[str, int]]:
    """Removes expired backups and items, and expired, cooled and erased memories, from all stores."""
    stores = ground.stores
    erased = ErasedSweep(
        tombstones=stores.tombstones,
        index=stores.index,
        hot=stores.hot,
        canvas=stores.canvas,
        forget_talk=stores.forget_talk,
        late_notes=notes.late_rows,
    )

    def sweep() -> Mapping[str, int]:
        ground.backups()  # listing them deletes those that expired
        ended = expiry.run()
        swept = tiers.sweep()
        return {
            "expired": ended.archived,
            "ended": ended.erased,
            "items": items(),
            "left": swept.left,
            "repaired": swept.repaired,
            "removed": erased.sweep(),
        }

    return sweep


def build_scheduler(ground: Ground) -> JobQueue:
    """A separate thread for background jobs, so that a long job does not delay the indexing of new messages."""
    if ground.settings.queue != "thread":
        return NoQueue()
    encode = ground.policies.encode
    return InProcessQueue(
        poll_s=ground.policies.sleep.tick_s,
        backoff_s=encode.backoff_s,
        backoff_max_s=encode.backoff_max_s,
        around=ground.priority.working,
        name="biem-scheduler",
    )
