"""What is kept for a short time: newest memories, rates, canvas, states of conversations and of AIM."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from biem.domain.running_memory import Mind
from biem.domain.scope import Scope
from biem.ports.embedding import Vector
from biem.ports.records import Touched


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


class Rates(Protocol):
    """An allowance for each scope that fills evenly within a minute."""

    def take(self, scope: Scope, writes: int, per_minute: int) -> float:
        """Take `writes` out of the scope's allowance of `per_minute`, and return 0.0; or take nothing, and return the
        seconds until there is room again.

        Processes share the allowance. Who finds any of it left may take more than is left: it is owed, and the next
        one waits for that. So a large batch is never refused for ever, and the long-term rate holds.
        """


@dataclass(frozen=True, slots=True)
class Heading:
    """Where a conversation is going: its inertia, and λ, γ and K where these follow it."""

    vector: Vector | None = None
    """Of any length from 0 to about 1; None before the first selection."""
    strength: float | None = None
    gamma: float | None = None
    cluster: int | None = None


class Headings(Protocol):
    """Keeps headings by scope and conversation; short-lived, and lost without harm."""

    def load(self, scope: Scope, conversation: str) -> Heading:
        """The heading as saved last, bit by bit; an empty one when there is none, or of another model's vectors."""

    def save(self, scope: Scope, conversation: str, heading: Heading, *, most: int, ttl_s: float) -> None:
        """Keep a heading for `ttl_s`; of a scope at most `most`, those used longest ago go first."""

    def all(self, scope: Scope) -> Mapping[str, Heading]:
        """Every heading of a scope by its conversation."""

    def forget(self, spaces: Collection[str]) -> None:
        """Remove all headings that memories of these scopes may have given their direction.

        Those are the scopes' own and, of a user's own level, those of all projects that read it.
        """

    def count(self, spaces: Collection[str]) -> int:
        """How many headings `forget` would remove."""

    def close(self) -> None:
        """Release connections; a second call does nothing."""


class Minds(Protocol):
    """What each conversation has on its mind, between its turns and over all workers. Losing it starts anew."""

    def load(self, scope: Scope, conversation: str) -> Mind:
        """The state of a conversation; an empty one when there is none."""

    def save(self, scope: Scope, conversation: str, mind: Mind, *, most: int, ttl_s: float) -> bool:
        """Replace the state that `mind.version` was read as; False, with nothing changed, if it changed meanwhile.

        A scope has at most `most` conversations, those used longest ago go first, and none after `ttl_s` of silence.
        """

    def forget(self, spaces: Collection[str]) -> None:
        """Remove all conversations' states that may hold a memory of these scopes: nothing says of which they are.

        Those are the scopes' own and, of a user's own level, those of all projects that read it.
        """

    def count(self, spaces: Collection[str]) -> int:
        """How many states `forget` would remove."""


@dataclass(frozen=True, slots=True)
class CanvasEntry:
    """A memory in the canvas: a reference with what schedules it and its vector, never its text (X47)."""

    id: str
    energy_key: float
    accessed_at: datetime
    """Its last access, feedback or write."""
    conversation: str
    vector: Vector


class Canvas(Protocol):
    """L1: the hottest memories of each scope, at most `max_nodes`. A projection: rebuilt from records when lost."""

    def enter(self, ns: str, entries: Sequence[CanvasEntry], at: datetime, *, rebuilt: bool = False) -> list[str]:
        """Put memories in, or renew those that are there; returns the ids that are out now, also of the given.

        Out are those too weak or idle for too long at `at` and, beyond the limit, the weakest of the incoming
        conversation if that has its fair share (the limit through the number of conversations), else the weakest of the
        largest conversation: no conversation pushes another below its fair share. `rebuilt` says that these are all
        there are: the canvas is known again. One atomic step for up to 100 entries.
        """

    def renew(self, ns: str, touched: Sequence[Touched], at: datetime) -> list[str]:
        """Note new energies and accesses of memories that are there; returns the ids that are not."""

    def read(self, ns: str, at: datetime) -> list[CanvasEntry] | None:
        """What is there and alive at `at`, hottest first; None when the server lost it or another model filled it.

        One round trip. `conversation` is empty: nobody reads it.
        """

    def ids(self, ns: str) -> set[str] | None:
        """The ids that are there, alive or not; None as for `read`."""

    def leave(self, ns: str, ids: Sequence[str]) -> None:
        """Remove these memories; what is not there is no error."""

    def forget_scope(self, ns: str) -> None:
        """Remove everything kept for the scope."""

    def count(self, ns: str, ids: Sequence[str] | None = None) -> int:
        """Memories of which anything is kept for the scope, or of these."""

    def ping(self) -> None:
        """Return when the server answers."""

    def close(self) -> None:
        """Release connections; a second call does nothing."""
