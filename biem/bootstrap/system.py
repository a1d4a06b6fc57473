"""Builds the object graph: ground, life, write path, read path, AIM-Memory, and the objects that use these."""

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import partial
from random import Random

from biem.adapters import analyzers, contradiction
from biem.bootstrap.aim import build_aim
from biem.bootstrap.diagnosis import build_reindexer, diagnoser
from biem.bootstrap.groups import Ground, Life, ReadPath, WritePath
from biem.bootstrap.layers import LateLayers, build_layers
from biem.bootstrap.layers.mirror import LateMirror, build_mirror, build_projects
from biem.bootstrap.life import (
    backups_of,
    build_eraser,
    build_life,
    build_resolver,
    build_reviser,
    build_transfer,
    forgets,
)
from biem.bootstrap.notes import build_notes
from biem.bootstrap.observe import observe
from biem.bootstrap.recall import build_context, build_read_path, build_recaller
from biem.bootstrap.servers import Servers
from biem.bootstrap.sleep import build_job_runner, build_scheduler
from biem.bootstrap.stores import open_stores
from biem.bootstrap.write import build_write_path
from biem.config import Settings
from biem.engine.admin.browse import MemoryBrowser
from biem.engine.admin.diagnosis import Diagnoser
from biem.engine.admin.stage_times import StageTimes
from biem.engine.concepts.running import Activator
from biem.engine.conflicts.resolve import Resolver
from biem.engine.context.relevance_filter import RelevanceFilter
from biem.engine.life.erase import Eraser
from biem.engine.life.tiers import sweep_all
from biem.engine.priority import ForegroundPriority, YieldingAnalyzer, YieldingEmbedder, YieldingRules
from biem.engine.query.listing import MemoryList
from biem.engine.remember.revise import Reviser
from biem.engine.sleep.jobs import JobRunner, Schedule
from biem.engine.transfer import Transfer
from biem.notes.system import NoteSystem
from biem.ports import Clock, Embedder
from biem.system import System
from biem.telemetry import Telemetry


@dataclass(frozen=True, slots=True)
class Background:
    """What changes, moves and removes memories, and the jobs that do so."""

    reviser: Reviser
    transfer: Transfer
    eraser: Eraser
    resolver: Resolver
    layers: LateLayers
    mirror: LateMirror
    jobs: JobRunner


def assemble(
    *,
    settings: Settings,
    where: Servers,
    embedder: Embedder,
    clock: Clock,
    stack: ExitStack,
    serve: bool,
    telemetry: Telemetry | None = None,
) -> System:
    """Connect and build everything; `System.release` closes all connections, and everything that `stack` held before.

    `serve`: this process serves metrics, if enabled. `telemetry`: that of the object graph that this one
    replaces, with its handlers; without it, observing begins here.
    """
    first = telemetry is None
    ground = open_ground(
        settings=settings,
        where=where,
        embedder=embedder,
        clock=clock,
        telemetry=telemetry or Telemetry(),
        stack=stack,
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
) -> Ground:
    """Connect to the servers; connections close with `stack`."""
    priority = ForegroundPriority()
    embedder = YieldingEmbedder(embedder, priority.give_way)
    return Ground(
        settings=settings,
        policies=settings.policies,
        where=where,
        stores=open_stores(
            settings=settings,
            where=where,
            embedder=embedder,
            clock=clock,
            telemetry=telemetry,
            stack=stack,
            priority=priority,
        ),
        embedder=embedder,
        analyzer=YieldingAnalyzer(analyzers.build(settings.names_pipeline), priority.give_way),
        rules=YieldingRules(contradiction.build(), priority.give_way),
        clock=clock,
        telemetry=telemetry,
        priority=priority,
        random=Random(),
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
    notes = build_notes(ground, stack=stack)
    back = build_background(ground, life=life, write=write, read=read, notes=notes)
    aim = build_aim(ground, life=life, write=write, read=read)
    return System(
        records=stores.records,
        notes=notes,
        layers=back.layers,
        mirror=back.mirror,
        projects=build_projects(ground),
        queue=stores.queue,
        writer=write.writer,
        reviser=back.reviser,
        recaller=build_recaller(ground, life=life, read=read, router=aim.router),
        relevance_filter=RelevanceFilter(stores.reasoner, policies.context, ground.telemetry),
        context_builder=build_context(ground),
        eraser=back.eraser,
        reindexer=build_reindexer(ground, encoder=write.encoder),
        lifecycle=life.lifecycle,
        associations=life.associations,
        feedback=life.feedback,
        resolver=back.resolver,
        reminder=read.reminder,
        activator=build_activator(ground, read=read),
        instants=write.instants,
        consolidations=stores.consolidations,
        aim=aim,
        browser=MemoryBrowser(stores.browser),
        listing=MemoryList(stores.browser, ground.clock),
        scopes=stores.directory,
        transfer=back.transfer,
        diagnosis=partial(diagnose_from_within, ground, life=life, write=write),
        times=times,
        unobserve=unobserve,
        embedders=stores.embedders,
        job_runner=back.jobs,
        encoder=write.encoder,
        schedule=Schedule(back.jobs, stores.scopes, clock=ground.clock, scopes_per_tick=policies.sleep.scopes_per_tick),
        pacing=ground.priority.pacing,
        scheduler=build_scheduler(ground),
        clock=ground.clock,
        policies=policies,
        telemetry=ground.telemetry,
        embedder=ground.embedder.info,
        collection=stores.index.collection,
        close_timeout_s=ground.settings.close_timeout_s,
        release=stack.pop_all().close,
    )


def build_background(ground: Ground, *, life: Life, write: WritePath, read: ReadPath, notes: NoteSystem) -> Background:
    """What changes, moves and removes memories, and the jobs that do so."""
    reviser = build_reviser(ground, write=write)
    transfer = build_transfer(ground, write=write, forgotten=forgets(life=life, write=write, read=read))
    mirror = build_mirror(ground, writer=write.writer, reviser=reviser, lifecycle=life.lifecycle, transfer=transfer)
    eraser = build_eraser(ground, life=life, write=write, read=read, notes=notes, mirror=mirror)
    resolver = build_resolver(ground, writer=write.writer, eraser=eraser)
    layers = build_layers(ground, writer=write.writer)
    jobs = build_job_runner(
        ground, life=life, resolver=resolver, eraser=eraser, notes=notes, layers=layers, mirror=mirror
    )
    return Background(reviser, transfer, eraser, resolver, layers=layers, mirror=mirror, jobs=jobs)


def build_activator(ground: Ground, *, read: ReadPath) -> Activator:
    """The running memory of a conversation."""
    return Activator(
        running_memory=ground.stores.running_memory,
        reminder=read.reminder,
        analyzer=ground.analyzer,
        policy=ground.policies.concepts,
        reasoner=ground.stores.reasoner,
    )


def diagnose_from_within(ground: Ground, *, life: Life, write: WritePath) -> AbstractContextManager[Diagnoser]:
    """A diagnosis that can also repair."""
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
