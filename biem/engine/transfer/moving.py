"""Moves memories to another scope: the records in one transaction, then every projection of the old place."""

from collections.abc import Callable, Collection, Sequence

from biem.domain.node import parse_id
from biem.domain.scope import Scope
from biem.domain.transfer import MoveReport
from biem.engine.remember.hot_write_behind import HotFeed
from biem.errors import InvalidInput, StoreUnavailable
from biem.ports import Clock, Filter, HotStore, JobQueue
from biem.ports.hot import Canvas, InertiaStore, RunningMemoryStore
from biem.ports.readers import ScopeDirectory
from biem.ports.transfer import Moves
from biem.telemetry import Telemetry


class Mover:
    """Moves within a tenant. A projection that cannot be reached is cleared by a worker, from a job of the move."""

    def __init__(
        self,
        moves: Moves,
        *,
        hot: HotStore,
        feed: HotFeed,
        canvas: Canvas,
        running_memory: RunningMemoryStore,
        inertia_store: InertiaStore,
        scopes: ScopeDirectory,
        forgotten: Callable[[Scope], None],
        queue: JobQueue,
        clock: Clock,
        telemetry: Telemetry,
    ) -> None:
        self._moves = moves
        self._hot = hot
        self._feed = feed
        self._canvas = canvas
        self._running_memory = running_memory
        self._inertia_store = inertia_store
        self._scopes = scopes
        self._forgotten = forgotten
        self._queue = queue
        self._clock = clock
        self._telemetry = telemetry

    def move(self, source: Scope, target: Scope, ids: Sequence[str] | None, where: Filter | None) -> MoveReport:
        """Move memories by id or by conditions, or all; raises `NotFound` for an unknown id, and `RefConflict`."""
        if not isinstance(target, Scope):
            raise InvalidInput(f"to must be a Scope, such as Scope(user=…, project=…), not {type(target).__name__}")
        if target == source:
            raise InvalidInput(f"the memories are in {target} already; name another scope")
        if target.tenant != source.tenant:
            raise InvalidInput("memories move within a tenant; for another one export and import them, then erase them")
        if ids is not None and (isinstance(ids, str | bytes) or not isinstance(ids, Collection)):
            raise InvalidInput(f"ids must be a list of ids, not {type(ids).__name__}")
        wanted = None if ids is None else list(dict.fromkeys(parse_id(each) for each in ids))
        with self._telemetry.span("biem.move") as span:
            reading = self._scopes.reading(source)
            moved = self._moves.move(source, target, wanted, where, self._clock.now())
            self._feed.settle()  # texts queued before must not reach HotKV after it was cleared
            self._clear(source, [*moved.ids, *moved.erased], reading)
            span.add(memories=moved.report.memories)
        self._queue.wake()
        return moved.report

    def _clear(self, source: Scope, ids: Sequence[str], reading: Sequence[Scope]) -> None:
        for each in (*reading, source):
            self._forgotten(each)
        try:
            self._hot.forget(source, ids)
            self._canvas.leave(source.ns, ids)
            self._running_memory.forget([scope.ns for scope in reading])
            self._inertia_store.forget([scope.ns for scope in reading])
        except StoreUnavailable:  # the jobs of the move do it
            pass
