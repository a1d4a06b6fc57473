"""Memories that contradict each other, and the decisions about them."""

from biem.domain.conflict import Conflict
from biem.memory.bound import BoundMemory


class ConflictMethods(BoundMemory):
    """`conflicts`, `resolve` and `undo`."""

    def conflicts(self, *, status: str | None = "pending", limit: int = 100, after: str = "") -> list[Conflict]:
        """Memories of this scope that contradict, update or repeat each other, newest first; status None: all.

        A confident contradiction is decided at once, in favour of the later statement; the others wait for `resolve`.
        `after`: the id of the last one of the previous page.
        """
        return self._system.resolver.find(self.bound_to, status=status, limit=limit, after=after)

    def resolve(self, conflict_id: str, resolution: str) -> Conflict:
        """Decide a conflict: keep_new, keep_old, merge, keep_both or ignore; `undo` reverts it."""
        return self._system.resolver.resolve(self.bound_to, conflict_id, resolution)

    def undo(self, conflict_id: str) -> Conflict:
        """Revert a decision about a conflict, made by anyone: both memories are as before."""
        return self._system.resolver.undo(self.bound_to, conflict_id)
