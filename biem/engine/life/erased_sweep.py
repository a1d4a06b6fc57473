"""Repeats the removal of erased memories from projections, because a suspended writer may add a row afterwards.

An erasure clears every store, and a job clears them again when no lease can be held any longer. But a process suspended
for longer (stopped, or on a sleeping machine) resumes in the middle of its write, and if it is killed before it learns
that the memory is gone, its row stays. So ids of erased memories are kept for a while and checked again, each time
after twice the time: a row of a process suspended for t is removed after t more and one sweep.
"""

import logging
from collections import defaultdict
from collections.abc import Callable

from biem.errors import StoreUnavailable
from biem.ports import HotStore, VectorIndex
from biem.ports.hot import Canvas
from biem.ports.life import Tombstones

logger = logging.getLogger("biem.erase")

_KEPT_S = 7 * 86_400.0
"""Then the ids are deleted, too; `biem diagnose` finds a row without a memory at any time."""
_BATCH = 500
_MOST_BATCHES = 100


class ErasedSweep:
    """Removes rows from the projections that were added after their memory was erased. Idempotent, and bounded in
    each run.
    """

    def __init__(
        self,
        *,
        tombstones: Tombstones,
        index: VectorIndex,
        hot: HotStore,
        canvas: Canvas,
        forget_talk: Callable[[str], None],
        late_notes: Callable[[list[str]], int],
    ) -> None:
        """`forget_talk(ns)` removes conversation state of a scope; `late_notes` rows of chunks of notes, and counts."""
        self._tombstones = tombstones
        self._index = index
        self._hot = hot
        self._canvas = canvas
        self._forget_talk = forget_talk
        self._late_notes = late_notes

    def sweep(self) -> int:
        """Check the due ids; returns how many rows of the vector index were removed.

        While a store is down nothing is marked as checked, and the next sweep repeats it.
        """
        removed = 0
        try:
            for _ in range(_MOST_BATCHES):
                due = self._tombstones.due(_BATCH)
                if due:
                    removed += self._remove(due)
                if len(due) < _BATCH:
                    break
        except StoreUnavailable as error:
            logger.warning("check of erased memories postponed: %s", error)
        return removed

    def _remove(self, due: list[tuple[str, str]]) -> int:
        ids = [memory_id for memory_id, _ in due]
        late = self._index.count(ids)
        if late:
            logger.warning(
                "%d rows were added to the vector index after their memories were erased; they are removed", late
            )
            self._index.purge(ids)
        late += self._late_notes(ids)
        scopes: dict[str, list[str]] = defaultdict(list)
        for memory_id, ns in due:
            scopes[ns].append(memory_id)
        for ns, part in scopes.items():
            self._hot.purge(ns, part)
            self._canvas.leave(ns, part)
            self._forget_talk(ns)
        self._tombstones.looked(ids, _KEPT_S)
        return late
