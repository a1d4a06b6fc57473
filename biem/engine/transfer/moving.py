"""Moves memories to another scope, slice by slice: the records in one transaction, then every projection of the old
place.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from biem.domain.node import parse_id
from biem.domain.scope import Scope
from biem.domain.transfer import MoveReport
from biem.engine.remember.hot_write_behind import HotFeed
from biem.errors import InvalidInput, StoreUnavailable
from biem.ports import Clock, Filter, HotStore, JobQueue
from biem.ports.hot import Canvas, InertiaStore, RunningMemoryStore
from biem.ports.readers import ScopeDirectory
from biem.ports.transfer import Moved, Moves
from biem.telemetry import Telemetry

Progress = Callable[[int, int], None]
"""Called with the number of memories that moved, and of all that are to be moved."""


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

    def move(
        self,
        source: Scope,
        target: Scope,
        ids: Sequence[str] | None,
        where: Filter | None,
        on_progress: Progress | None = None,
    ) -> MoveReport:
        """Move memories by id or by conditions, or all; raises `NotFound` for an unknown id, and `RefConflict`.

        First ends a move between these scopes that was interrupted, and counts what it moved.
        """
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
            before = self._proceed(source, target, on_progress)
            moved = self._moves.move(source, target, wanted, where, self._clock.now())
            self._left(source, moved)
            report = (moved.left and self._proceed(source, target, on_progress)) or moved.report
            span.add(memories=report.memories)
        return report if before is None else _both(before, report)

    def _proceed(self, source: Scope, target: Scope, on_progress: Progress | None) -> MoveReport | None:
        """Move all that remains of moves between these scopes; the report of the last one."""
        report = None
        while moved := self._moves.proceed(source, target, self._clock.now()):
            report = moved.report
            self._left(source, moved)
            if on_progress is not None:
                on_progress(report.memories, report.memories + moved.left)
        return report

    def _left(self, source: Scope, moved: Moved) -> None:
        """The projections of the old scope, for memories that left it."""
        if moved.ids or moved.erased:
            self._feed.settle()  # texts queued before must not reach HotKV after it was cleared
            self._clear(source, [*moved.ids, *moved.erased], self._scopes.reading(source))
            self._queue.wake()

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


def _both(before: MoveReport, now: MoveReport) -> MoveReport:
    """The report of a call that ended an interrupted move, and then did its own."""
    return replace(
        now,
        memories=before.memories + now.memories,
        already_there=max(0, now.already_there - before.memories),
        moved={name: before.moved.get(name, 0) + count for name, count in now.moved.items()} or before.moved,
        cut={name: before.cut.get(name, 0) + count for name, count in now.cut.items()} or before.cut,
        equal_facts=(*before.equal_facts, *now.equal_facts),
    )
