"""L1, the hot part of memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from biem.domain.scope import Scope


@dataclass(frozen=True, slots=True)
class HotEntry:
    """One text of HotKV: just enough to match it by words."""

    id: str
    lexemes: str


class HotStore(Protocol):
    """L1: the hot part of memory, rebuilt when lost."""

    def push(self, scope: Scope, entries: Sequence[HotEntry], window: int) -> None:
        """Put texts at the head of the scope's HotKV and drop the oldest beyond `window`, atomically."""

    def recent(self, scope: Scope, limit: int) -> list[HotEntry]:
        """The newest texts, newest first."""

    def forget(self, scope: Scope, ids: Sequence[str]) -> None:
        """Remove these memories from everything kept for the scope."""

    def forget_scope(self, scope: Scope) -> None:
        """Remove everything kept for the scope."""

    def purge(self, ns: str, ids: Sequence[str]) -> None:
        """As `forget`, for a scope whose names are erased already."""

    def count(self, scope: Scope, ids: Sequence[str] | None = None) -> int:
        """Records kept for the scope, or for these memories of it."""

    def ping(self) -> None:
        """Return when the server answers."""

    def close(self) -> None:
        """Release connections; a second call does nothing."""
