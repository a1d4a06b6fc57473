"""The object graph that all scopes of one `connect` share, and its exchange for another one in a running program."""

import atexit
import os
import threading
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from biem.domain.policies import Policies
from biem.domain.scope import Scope
from biem.engine.admin.browse import MemoryBrowser
from biem.engine.admin.reindex import Reindexer
from biem.engine.admin.stage_times import StageTimes
from biem.engine.aim.system import AimSystem
from biem.engine.concepts.instant_memory import InstantMaker
from biem.engine.concepts.recollect import Reminder
from biem.engine.concepts.running import Activator
from biem.engine.conflicts.resolve import Resolver
from biem.engine.context.relevance_filter import RelevanceFilter
from biem.engine.context.sections import ContextBuilder
from biem.engine.encode.worker import EncodeWorker
from biem.engine.graph.associations import Associations
from biem.engine.life.erase import Eraser
from biem.engine.life.feedback import Feedback
from biem.engine.life.retention import Lifecycle
from biem.engine.priority import Calling
from biem.engine.query.listing import MemoryList
from biem.engine.recall.recaller import Recaller
from biem.engine.remember.revise import Reviser
from biem.engine.remember.writer import Writer
from biem.engine.sleep.jobs import JobRunner, Schedule
from biem.engine.transfer import Transfer
from biem.notes.system import NoteSystem
from biem.ports import Clock, EmbedderInfo, JobQueue, Records
from biem.ports.consolidation import Consolidations
from biem.ports.readers import ScopeDirectory
from biem.ports.reindexing import EmbedderRegistry
from biem.telemetry import Telemetry

if TYPE_CHECKING:
    from biem.engine.admin.diagnosis import Diagnoser
    from biem.layers.mirror.mirror import Mirror
    from biem.layers.projects import Projects
    from biem.layers.system import LayerSystem

_AT_EXIT_S = 5.0
"""How long a program that ends without closing waits for its current batch, whose C++ code would abort otherwise."""
_REPLACED = (
    "records", "notes", "layers", "mirror", "projects", "queue", "writer", "reviser", "recaller", "context_builder",
    "relevance_filter", "eraser", "reindexer", "lifecycle", "associations", "feedback", "resolver", "reminder",
    "activator", "instants", "consolidations", "aim", "browser", "listing", "scopes", "transfer", "diagnosis",
    "embedders", "job_runner", "encoder", "schedule", "pacing", "scheduler", "clock", "policies", "embedder",
    "collection", "close_timeout_s",
)  # fmt: skip
"""Fields that `System.become` takes from the other graph: those that depend on the embedder or its connections."""


@dataclass(slots=True, weakref_slot=True, eq=False)
class System:
    """The object graph that all scopes of one `connect` share. Only bootstrap builds it."""

    records: Records
    notes: NoteSystem
    layers: "Callable[[], LayerSystem]"
    """Sessions and observation, loaded at the first call."""
    mirror: "Callable[[Scope, Callable[[], None]], Mirror]"
    """Memories as files, loaded at the first call."""
    projects: "Callable[[Scope], Projects]"
    """Which folder is which project, loaded at the first call."""
    queue: JobQueue
    writer: Writer
    reviser: Reviser
    recaller: Recaller
    context_builder: ContextBuilder
    relevance_filter: RelevanceFilter
    eraser: Eraser
    reindexer: Reindexer
    lifecycle: Lifecycle
    associations: Associations
    feedback: Feedback
    resolver: Resolver
    reminder: Reminder
    activator: Activator
    instants: InstantMaker
    consolidations: Consolidations
    aim: AimSystem
    browser: MemoryBrowser
    listing: MemoryList
    scopes: ScopeDirectory
    transfer: Transfer
    diagnosis: Callable[[], "AbstractContextManager[Diagnoser]"]
    times: StageTimes
    unobserve: Callable[[], None]
    """Ends metrics and traces of this process; called once, before `release`."""
    embedders: EmbedderRegistry
    """Which embedder all memories were moved to, if any."""
    job_runner: JobRunner
    encoder: EncodeWorker
    schedule: Schedule
    pacing: Calling
    """Entered around a job by a worker process, whose callers are in other processes."""
    scheduler: JobQueue
    """The thread that runs due background jobs."""
    clock: Clock
    policies: Policies
    telemetry: Telemetry
    embedder: EmbedderInfo
    collection: str
    close_timeout_s: float
    release: Callable[[], None]
    """Closes connections and leaves the embedded servers; called once, at the end."""
    wrote: threading.Event = field(default_factory=threading.Event)
    closed: threading.Event = field(default_factory=threading.Event)
    views: "weakref.WeakSet[object]" = field(default_factory=weakref.WeakSet)
    """The open memories of this graph."""
    revive: Callable[[], None] = lambda: None
    """Reopens this graph in a forked child."""
    process: int = field(default_factory=os.getpid)
    """The process that opened this graph."""

    @property
    def inherited(self) -> bool:
        """Whether the parent of this forked process opened the graph."""
        return self.process != os.getpid()

    def here(self) -> "System":
        """This graph; its first use in a forked child reopens it. Raises what `connect` raises."""
        if self.inherited:
            self.revive()
        return self

    def start(self) -> None:
        """Start background work, if this process does any."""
        self.queue.start(self.encoder)
        self.notes.start()
        self.scheduler.start(self.schedule.tick)
        atexit.register(self.leave)

    def rest(self, timeout_s: float) -> None:
        """Stop background work. Leases of unfinished jobs are released and do not count as failed attempts."""
        atexit.unregister(self.leave)
        self.scheduler.stop(timeout_s)
        self.notes.rest(timeout_s)
        self.queue.stop(timeout_s)
        self.encoder.give_back()

    def leave(self) -> None:
        """Called at exit of a program that did not close: lets the current batch end."""
        if not self.inherited and not self.closed.is_set():
            self.rest(_AT_EXIT_S)

    def forsake(self) -> None:
        """Close the graph in this forked process only; the parent keeps using it."""
        self.closed, self.process = threading.Event(), os.getpid()
        self.closed.set()

    def take_over(self, fresh: "System") -> None:
        """Take all fields of `fresh` but the open memories; the former objects belong to the parent process."""
        for each in fields(self):
            if each.name not in ("views", "revive"):
                setattr(self, each.name, getattr(fresh, each.name))

    def become(self, fresh: "System") -> Callable[[], None]:
        """Use the objects of another graph from now on.

        Returns a function that closes the former ones, to be called when calls that began before have ended.
        """
        queue, scheduler, encoder, recaller = self.queue, self.scheduler, self.encoder, self.recaller
        notes = self.notes
        old, new = self.release, fresh.release
        fresh.queue.start(fresh.encoder)
        fresh.notes.start()
        fresh.scheduler.start(fresh.schedule.tick)
        for name in _REPLACED:
            setattr(self, name, getattr(fresh, name))
        scheduler.stop(self.close_timeout_s)
        notes.rest(self.close_timeout_s)
        queue.stop(self.close_timeout_s)

        def let_go() -> None:
            recaller.close()
            encoder.give_back()
            old()

        def release() -> None:
            new()
            let_go()

        self.release = release
        return let_go
