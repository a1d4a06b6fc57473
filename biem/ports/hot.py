"""Short-lived state: newest memories, rate limits, canvas, states of conversations and of AIM."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from biem.domain.running_memory import RunningMemory
from biem.domain.scope import Scope
from biem.ports.embedding import Vector
from biem.ports.records import Touched


@dataclass(frozen=True, slots=True)
class HotEntry:
    """One text of HotKV: only what is needed to match it by words."""

    id: str
    lexemes: str


class HotStore(Protocol):
    """L1: the newest texts of a scope, rebuilt when lost."""

    def push(self, scope: Scope, entries: Sequence[HotEntry], window: int) -> None:
        """Prepend texts to the scope's HotKV and drop the oldest beyond `window`, atomically."""

    def recent(self, scope: Scope, limit: int) -> list[HotEntry]:
        """The newest texts, newest first."""

    def forget(self, scope: Scope, ids: Sequence[str]) -> None:
        """Remove these memories from everything stored for the scope."""

    def forget_scope(self, scope: Scope) -> None:
        """Remove everything stored for the scope."""

    def purge(self, ns: str, ids: Sequence[str]) -> None:
        """As `forget`, for a scope whose names are erased already."""

    def count(self, scope: Scope, ids: Sequence[str] | None = None) -> int:
        """Entries stored for the scope, or for these memories of it."""

    def ping(self) -> None:
        """Return when the server answers."""

    def close(self) -> None:
        """Release connections; a second call does nothing."""


class Rates(Protocol):
    """A rate limit for each scope: an allowance that refills evenly within a minute."""

    def take(self, scope: Scope, writes: int, per_minute: int) -> float:
        """Take `writes` from the scope's allowance of `per_minute` and return 0.0; or take nothing and return the
        seconds until there is room again.

        Processes share the allowance. A caller that finds any of it left may take more than is left: the excess is a
        debt that the next caller waits for. So a large batch is never refused for ever, and the long-term rate holds.
        """


@dataclass(frozen=True, slots=True)
class InertiaState:
    """The direction of a conversation: its inertia, and λ, γ and K where these are adaptive."""

    vector: Vector | None = None
    """Of any length from 0 to about 1; None before the first selection."""
    strength: float | None = None
    gamma: float | None = None
    cluster: int | None = None


class InertiaStore(Protocol):
    """Stores inertia by scope and conversation; short-lived, and their loss is harmless."""

    def load(self, scope: Scope, conversation: str) -> InertiaState:
        """The last saved state, bit for bit; an empty one when there is none, or one of another model's vectors."""

    def save(self, scope: Scope, conversation: str, inertia: InertiaState, *, most: int, ttl_s: float) -> None:
        """Store a state for `ttl_s`; beyond `most` states of a scope, the least recently used go first."""

    def all(self, scope: Scope) -> Mapping[str, InertiaState]:
        """Every state of a scope by its conversation."""

    def forget(self, spaces: Collection[str]) -> None:
        """Remove all states that memories of these scopes may have influenced.

        Those are the scopes' own and, for a user's own level, those of all projects that read it.
        """

    def count(self, spaces: Collection[str]) -> int:
        """How many states `forget` would remove."""

    def close(self) -> None:
        """Release connections; a second call does nothing."""


class RunningMemoryStore(Protocol):
    """The running memory of each conversation, shared by all workers. A lost state starts empty."""

    def load(self, scope: Scope, conversation: str) -> RunningMemory:
        """The state of a conversation; an empty one when there is none."""

    def save(self, scope: Scope, conversation: str, state: RunningMemory, *, most: int, ttl_s: float) -> bool:
        """Replace the state if it still has `state.version`; returns False, with nothing changed, if it changed
        meanwhile.

        A scope has at most `most` conversations, the least recently used go first, and none is kept after `ttl_s`
        without a turn.
        """

    def forget(self, spaces: Collection[str]) -> None:
        """Remove all conversations' states that may hold a memory of these scopes; states do not record which memories
        they hold.

        Those are the scopes' own and, for a user's own level, those of all projects that read it.
        """

    def count(self, spaces: Collection[str]) -> int:
        """How many states `forget` would remove."""


@dataclass(frozen=True, slots=True)
class CanvasEntry:
    """A memory in the canvas: a reference with its scheduling data and its vector, never its text."""

    id: str
    energy_key: float
    accessed_at: datetime
    """Its last access, feedback or write."""
    conversation: str
    vector: Vector


class Canvas(Protocol):
    """L1: the hottest memories of each scope, at most `max_nodes`. A projection: rebuilt from the records when lost."""

    def enter(self, ns: str, entries: Sequence[CanvasEntry], at: datetime, *, rebuilt: bool = False) -> list[str]:
        """Add or renew memories; returns the ids that are out now, which may include given ones.

        Removed are those too weak or idle for too long at `at` and, beyond the limit, the weakest of the incoming
        conversation if that has its fair share (the limit divided by the number of conversations), else the weakest of
        the largest conversation: no conversation pushes another below its fair share. `rebuilt` marks the entries as
        complete, so that the canvas is valid again. One atomic step for up to 100 entries.
        """

    def renew(self, ns: str, touched: Sequence[Touched], at: datetime) -> list[str]:
        """Update energies and accesses of memories in the canvas; returns the ids that are not in it."""

    def read(self, ns: str, at: datetime) -> list[CanvasEntry] | None:
        """The live entries at `at`, hottest first; None when the server lost the canvas or another model filled it.

        One round trip. `conversation` is left empty.
        """

    def ids(self, ns: str) -> set[str] | None:
        """The ids in the canvas, alive or not; None as for `read`."""

    def leave(self, ns: str, ids: Sequence[str]) -> None:
        """Remove these memories; missing ids are no error."""

    def forget_scope(self, ns: str) -> None:
        """Remove everything stored for the scope."""

    def count(self, ns: str, ids: Sequence[str] | None = None) -> int:
        """How many memories of the scope, or of these ids, have an entry."""

    def ping(self) -> None:
        """Return when the server answers."""

    def close(self) -> None:
        """Release connections; a second call does nothing."""
