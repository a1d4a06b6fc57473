"""Builds the object graph: ground, life, write path, read path, AIM-Memory, and the objects that use these."""

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import TYPE_CHECKING

from biem.adapters import analyzers, contradiction
from biem.adapters.jobs.celery import CeleryQueue
from biem.bootstrap.aim import build_aim
from biem.bootstrap.groups import Ground, Life, ReadPath, WritePath
from biem.bootstrap.layers import LateLayers, build_layers
from biem.bootstrap.layers.mirror import build_projects
from biem.bootstrap.life import Changes, backups_of, build_changes, build_life
from biem.bootstrap.notes import build_notes
from biem.bootstrap.observe import observe
from biem.bootstrap.recall import build_context, build_read_path, build_recaller
from biem.bootstrap.servers import Servers
from biem.bootstrap.sleep import build_job_runner, build_scheduler
from biem.bootstrap.stores import open_stores
from biem.bootstrap.write import build_write_path
from biem.config import Settings
from biem.domain.tokens import estimate_tokens
from biem.engine.admin.browse import MemoryBrowser
from biem.engine.admin.reindex import Reindexer
from biem.engine.admin.stage_times import StageTimes
from biem.engine.aim.system import AimSystem
from biem.engine.concepts.running import Activator
from biem.engine.context.relevance_filter import RelevanceFilter
from biem.engine.encode.worker import EncodeWorker
from biem.engine.life.tiers import sweep_all
from biem.engine.priority import ForegroundPriority, YieldingAnalyzer, YieldingEmbedder, YieldingRules
from biem.engine.query.listing import MemoryList
from biem.engine.recall.recaller import Recaller
from biem.engine.sleep.jobs import JobRunner, Schedule
from biem.notes.system import NoteSystem
from biem.ports import Clock, Embedder, JobQueue
from biem.ports.layers.sessions import TokenCounter
from biem.system import System
from biem.telemetry import Telemetry

if TYPE_CHECKING:
    from biem.adapters.embedders.usage import CallCounter
    from biem.engine.admin.diagnosis import Diagnoser


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """The layers, background jobs, when each runs, and the thread that runs them."""

    layers: LateLayers
    jobs: JobRunner
    schedule: Schedule
    scheduler: JobQueue


def assemble(
    *,
    settings: Settings,
    where: Servers,
    embedder: Embedder,
    clock: Clock,
    stack: ExitStack,
    serve: bool,
    telemetry: Telemetry | None = None,
    count: TokenCounter = estimate_tokens,
) -> System:
    """Connect and build everything; `System.release` closes all connections, and everything that `stack` held before.

    `serve`: this process serves metrics, if enabled. `telemetry`: that of the object graph that this one
    replaces, with its handlers; without it, observing begins here. `count`: counts tokens.
    """
    first = telemetry is None
    ground = open_ground(
        settings=settings,
        where=where,
        embedder=embedder,
        clock=clock,
        telemetry=telemetry or Telemetry(),
        stack=stack,
        count=count,
    )
    times = StageTimes()
    unobserve = begin_observing(ground, times=times, serve=serve) if first else (lambda: None)
    life = build_life(ground)
    write = build_write_path(ground, life=life, stack=stack)
    read = build_read_path(ground, life=life)
    return build_system(ground, life=life, write=write, read=read, times=times, unobserve=unobserve, stack=stack)


def open_ground(
    *,
    settings: Settings,
    where: Servers,
    embedder: Embedder,
    clock: Clock,
    telemetry: Telemetry,
    stack: ExitStack,
    count: TokenCounter = estimate_tokens,
) -> Ground:
    """Connect to the servers; connections close with `stack`."""
    priority = ForegroundPriority()
    counter: CallCounter | None = getattr(embedder, "call_counter", None)
    embedder = YieldingEmbedder(embedder, priority.give_way)
    stores = open_stores(
        settings=settings,
        where=where,
        embedder=embedder,
        clock=clock,
        telemetry=telemetry,
        stack=stack,
        priority=priority,
    )
    if counter is not None:
        counter.begin(stores.embedders.count_calls, settings.policies.encode.quota_calls)
        stack.callback(counter.flush)
    return Ground(
        settings=settings,
        policies=settings.policies,
        where=where,
        stores=stores,
        embedder=embedder,
        analyzer=YieldingAnalyzer(analyzers.build(settings.names_pipeline), priority.give_way),
        rules=YieldingRules(contradiction.build(), priority.give_way),
        clock=clock,
        telemetry=telemetry,
        priority=priority,
        random=Random(),
        count=count,
        backups=backups_of(settings, where),
    )


def begin_observing(ground: Ground, *, times: StageTimes, serve: bool) -> Callable[[], None]:
    """Attach metrics, traces and `times`; returns a function that stops them."""
    ended = observe(ground.telemetry, settings=ground.settings, where=ground.where, clock=ground.clock, serve=serve)
    ground.telemetry.attach(times)
    return ended


def build_system(
    ground: Ground,
    *,
    life: Life,
    write: WritePath,
    read: ReadPath,
    times: StageTimes,
    unobserve: Callable[[], None],
    stack: ExitStack,
) -> System:
    """The whole system; `System.release` closes `stack`."""
    stores, policies = ground.stores, ground.policies
    notes = build_notes(ground, life=life, stack=stack)
    changes = build_changes(ground, life=life, write=write, read=read, notes=notes)
    aim, recaller = build_answers(ground, life=life, write=write, read=read)
    background = build_background(ground, life=life, write=write, changes=changes, recaller=recaller, notes=notes)
    return System(
        records=stores.records,
        notes=notes,
        layers=background.layers,
        mirror=changes.mirror,
        projects=build_projects(ground),
        queue=stores.queue,
        writer=write.writer,
        reviser=changes.reviser,
        recaller=recaller,
        relevance_filter=RelevanceFilter(stores.reasoner, policies.context, ground.telemetry),
        context_builder=build_context(ground),
        eraser=changes.eraser,
        reindexer=build_reindexer(ground, encoder=write.encoder),
        lifecycle=life.lifecycle,
        associations=life.associations,
        feedback=life.feedback,
        resolver=changes.resolver,
        reminder=read.reminder,
        activator=build_activator(ground, read=read),
        instants=write.instants,
        consolidations=stores.consolidations,
        aim=aim,
        browser=MemoryBrowser(stores.browser),
        listing=MemoryList(stores.browser, ground.clock),
        scopes=stores.directory,
        transfer=changes.transfer,
        diagnosis=partial(diagnose_from_within, ground, life=life, write=write),
        times=times,
        unobserve=unobserve,
        embedders=stores.embedders,
        job_runner=background.jobs,
        encoder=write.encoder,
        schedule=background.schedule,
        pacing=ground.priority.pacing,
        scheduler=background.scheduler,
        clock=ground.clock,
        policies=policies,
        telemetry=ground.telemetry,
        embedder=ground.embedder.info,
        collection=stores.index.collection,
        close_timeout_s=ground.settings.close_timeout_s,
        release=stack.pop_all().close,
    )


def build_answers(ground: Ground, *, life: Life, write: WritePath, read: ReadPath) -> tuple[AimSystem, Recaller]:
    """AIM-Memory, and recall under every profile."""
    aim = build_aim(ground, life=life, write=write, read=read)
    return aim, build_recaller(ground, life=life, read=read, router=aim.router)


def build_background(
    ground: Ground, *, life: Life, write: WritePath, changes: Changes, recaller: Recaller, notes: NoteSystem
) -> Background:
    """The layers, background jobs, when they run, and the thread that runs them; a full session is trimmed at once."""
    layers = build_layers(ground, writer=write.writer, reviser=changes.reviser, recaller=recaller, notes=notes)
    jobs = build_job_runner(ground, life=life, changes=changes, notes=notes, layers=layers)
    most = ground.policies.sleep.scopes_per_tick
    schedule = Schedule(jobs, ground.stores.scopes, clock=ground.clock, scopes_per_tick=most)
    scheduler = build_scheduler(ground)
    layers.full = partial(run_soon, "sessions", schedule=schedule, scheduler=scheduler, queue=ground.stores.queue)
    return Background(layers=layers, jobs=jobs, schedule=schedule, scheduler=scheduler)


def run_soon(name: str, *, schedule: Schedule, scheduler: JobQueue, queue: JobQueue) -> None:
    """Let a job run now, in this process if it runs jobs, or in a Celery worker."""
    schedule.hurry(name)
    scheduler.wake()
    if isinstance(queue, CeleryQueue):
        queue.run_soon(name)


def build_activator(ground: Ground, *, read: ReadPath) -> Activator:
    """The running memory of a conversation."""
    return Activator(
        running_memory=ground.stores.running_memory,
        reminder=read.reminder,
        analyzer=ground.analyzer,
        policy=ground.policies.concepts,
        reasoner=ground.stores.reasoner,
    )


def build_reindexer(ground: Ground, *, encoder: EncodeWorker) -> Reindexer:
    """Derives all vectors and analyses from the texts again."""
    return Reindexer(
        records=ground.stores.records,
        analyses=ground.stores.analyses,
        index=ground.stores.index,
        embedder=ground.embedder,
        encoder=encoder,
        analyzer=ground.analyzer,
        policy=ground.policies.write,
        telemetry=ground.telemetry,
    )


def diagnose_from_within(ground: Ground, *, life: Life, write: WritePath) -> AbstractContextManager["Diagnoser"]:
    """A diagnosis that can also repair."""
    from biem.bootstrap.diagnosis import diagnoser  # few processes make one

    return diagnoser(
        settings=ground.settings,
        where=ground.where,
        info=ground.embedder.info,
        clock=ground.clock,
        telemetry=ground.telemetry,
        records=ground.stores.records,
        work=write.encoder,
        sweep=partial(sweep_all, life.tiers, ground.policies.tiers),
    )
