"""Everything that all scopes of one `connect` share, and how a running program goes over to another."""

import atexit
import os
import threading
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, fields

from biem.domain.policies import Policies
from biem.engine.admin.browse import MemoryBrowser
from biem.engine.admin.diagnosis import Diagnoser
from biem.engine.admin.reindex import Reindexer
from biem.engine.admin.stage_times import StageTimes
from biem.engine.aim.system import AimSystem
from biem.engine.concepts.notes import InstantMaker
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
from biem.engine.recall.recaller import Recaller
from biem.engine.remember.writer import Writer
from biem.engine.sleep.jobs import JobRunner, Schedule
from biem.ports import Clock, EmbedderInfo, JobQueue, Records
from biem.ports.consolidation import Consolidations
from biem.ports.readers import ScopeDirectory
from biem.ports.reindexing import EmbedderRegistry
from biem.telemetry import Telemetry

_AT_EXIT_S = 5.0
"""A program that ends without closing waits so long for the batch in work: torn down in C++, it would abort."""
_KEPT = ("times", "telemetry", "unobserve", "release", "wrote", "closed", "views", "revive", "process")
"""What outlasts a change to another object graph in one process."""


@dataclass(slots=True, weakref_slot=True, eq=False)
class System:
    """The object graph that all scopes of one `connect` share. Only bootstrap builds it."""

    records: Records
    queue: JobQueue
    writer: Writer
    recaller: Recaller
    briefer: ContextBuilder
    second_look: RelevanceFilter
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
    look: MemoryBrowser
    scopes: ScopeDirectory
    diagnosis: Callable[[], AbstractContextManager[Diagnoser]]
    times: StageTimes
    unobserve: Callable[[], None]
    """Ends metrics and traces of this process; called once, last but for `release`."""
    embedders: EmbedderRegistry
    """Which embedder all memories were moved to, if any."""
    sleeper: JobRunner
    encoder: EncodeWorker
    upkeep: Schedule
    pacing: Calling
    """Entered around a job by a process that others do not call."""
    keeper: JobQueue
    """Runs the background jobs that are due."""
    clock: Clock
    policies: Policies
    telemetry: Telemetry
    embedder: EmbedderInfo
    collection: str
    close_timeout_s: float
    release: Callable[[], None]
    """Closes connections and leaves the embedded servers; called once, last."""
    wrote: threading.Event = field(default_factory=threading.Event)
    closed: threading.Event = field(default_factory=threading.Event)
    views: "weakref.WeakSet[object]" = field(default_factory=weakref.WeakSet)
    """The memories that use them and were not closed."""
    revive: Callable[[], None] = lambda: None
    """Opens them anew in a forked child."""
    process: int = field(default_factory=os.getpid)
    """In which they were opened."""

    @property
    def inherited(self) -> bool:
        """Whether they belong to the process that this one was forked from."""
        return self.process != os.getpid()

    def here(self) -> "System":
        """These parts; in a forked child opened anew, at the first use. Raises as opening does."""
        if self.inherited:
            self.revive()
        return self

    def start(self) -> None:
        """Begin background work, as far as this process does any."""
        self.queue.start(self.encoder)
        self.keeper.start(self.upkeep.tick)
        atexit.register(self.leave)

    def rest(self, timeout_s: float) -> None:
        """End background work; what it does not finish in time is given back, and is no row's fault."""
        atexit.unregister(self.leave)
        self.keeper.stop(timeout_s)
        self.queue.stop(timeout_s)
        self.encoder.give_back()

    def leave(self) -> None:
        """The program ends without closing: let the batch in work end."""
        if not self.inherited and not self.closed.is_set():
            self.rest(_AT_EXIT_S)

    def forsake(self) -> None:
        """Be closed in this process alone: the parent goes on with all of it."""
        self.closed, self.process = threading.Event(), os.getpid()
        self.closed.set()

    def take_over(self, fresh: "System") -> None:
        """Be what `fresh` is, in this process; what was here before is left alone."""
        for part in fields(self):
            if part.name not in ("views", "revive"):
                setattr(self, part.name, getattr(fresh, part.name))

    def become(self, fresh: "System") -> Callable[[], None]:
        """Go on as another object graph; returns what lets go of this one, for when its last calls are over."""
        queue, keeper, encoder, recaller = self.queue, self.keeper, self.encoder, self.recaller
        old, new = self.release, fresh.release
        fresh.queue.start(fresh.encoder)
        fresh.keeper.start(fresh.upkeep.tick)
        for part in fields(self):
            if part.name not in _KEPT:
                setattr(self, part.name, getattr(fresh, part.name))
        keeper.stop(self.close_timeout_s)
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
