"""Everything that all scopes of one `connect` share, and how a running program goes over to another."""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, fields

from biem.domain.policy import Policies
from biem.engine.activation import Activator
from biem.engine.aim.system import AimSystem
from biem.engine.association import Associations
from biem.engine.briefing import Briefer
from biem.engine.browse import Look
from biem.engine.courtesy import Calling
from biem.engine.diagnosis import Diagnoser
from biem.engine.encode import Encoder
from biem.engine.erase import Eraser
from biem.engine.feedback import Feedback
from biem.engine.lifecycle import Lifecycle
from biem.engine.perf import StageTimes
from biem.engine.recall import Recaller
from biem.engine.reindex import Reindexer
from biem.engine.related import Reminder
from biem.engine.remember import Writer
from biem.engine.resolution import Resolver
from biem.engine.second_look import SecondLook
from biem.engine.sleep import Sleeper, Upkeep
from biem.ports import Clock, EmbedderInfo, JobQueue, Records
from biem.ports.consolidation import Consolidations
from biem.ports.reembed import EmbedderRegistry
from biem.telemetry import Telemetry


@dataclass(slots=True)
class Parts:
    """The object graph that all scopes of one `connect` share. Only bootstrap builds it."""

    records: Records
    queue: JobQueue
    writer: Writer
    recaller: Recaller
    briefer: Briefer
    second_look: SecondLook
    eraser: Eraser
    reindexer: Reindexer
    lifecycle: Lifecycle
    associations: Associations
    feedback: Feedback
    resolver: Resolver
    reminder: Reminder
    activator: Activator
    consolidations: Consolidations
    aim: AimSystem
    look: Look
    diagnosis: Callable[[], AbstractContextManager[Diagnoser]]
    times: StageTimes
    unobserve: Callable[[], None]
    """Ends metrics and traces of this process; called once, last but for `release`."""
    embedders: EmbedderRegistry
    """Which embedder all memories were moved to, if any."""
    sleeper: Sleeper
    encoder: Encoder
    upkeep: Upkeep
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

    def start(self) -> None:
        """Begin background work, as far as this process does any."""
        self.queue.start(self.encoder)
        self.keeper.start(self.upkeep.tick)

    def become(self, fresh: "Parts") -> Callable[[], None]:
        """Go on as another object graph; returns what lets go of this one, for when its last calls are over."""
        queue, keeper, recaller, old, new = self.queue, self.keeper, self.recaller, self.release, fresh.release
        fresh.start()
        for part in fields(self):
            if part.name not in ("telemetry", "times", "unobserve", "release", "wrote", "closed"):
                setattr(self, part.name, getattr(fresh, part.name))
        keeper.stop(self.close_timeout_s)
        queue.stop(self.close_timeout_s)

        def let_go() -> None:
            recaller.close()
            old()

        def release() -> None:
            new()
            let_go()

        self.release = release
        return let_go
