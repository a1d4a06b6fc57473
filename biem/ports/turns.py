"""What ranking needs to know of many memories at once: their words, vectors and places in conversations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from biem.domain.scope import Scope
from biem.ports.embedding import Vector
from biem.ports.index import Filter


class Turn(NamedTuple):
    """One live memory as ranking sees it. A tuple, because a recall makes some hundred."""

    id: str
    ns: str
    lexemes: Sequence[str]
    vector: Vector | None
    """Of this embedder; None where there is none yet."""
    kind: str
    speaker: str
    conversation: str
    at: datetime
    write_seq: int
    asks: bool
    """It ends with a question mark."""
    matches: bool
    """It meets the caller's conditions; otherwise it is there only because it stands beside one that does."""
    valid_to: datetime | None
    superseded_by: str | None
    sources: Sequence[str] | None = None
    """What a digest was made of; None for all else."""
    importance: float = 3.0
    """1 to 5."""
    accesses: int = 0
    """How often it was returned."""
    energy: float = 0.0
    """When it was read, in [0, 1]."""


@dataclass(frozen=True, slots=True)
class Turns:
    """Memories by id, and the stretches of conversation they stand in."""

    by_id: Mapping[str, Turn]
    stretches: Sequence[tuple[str, ...]]
    """Ids in the order they were said, with nothing left out between them."""
    openings: frozenset[str]
    """Those that begin a conversation."""


class TurnReader(Protocol):
    """Reads the surroundings of what the searches found."""

    def around(
        self,
        scopes: Sequence[Scope],
        ids: Sequence[str],
        lexemes: Sequence[str],
        where: Filter,
        *,
        pending_limit: int,
    ) -> Turns:
        """These memories; the unindexed ones that share a word with `lexemes`; up to two said before and after each of
        them in its conversation; and what superseded any of them. One round trip.

        Archived, erased and other scopes' memories are never in the answer, nor is anything said before `since` or from
        `until` on.
        """
