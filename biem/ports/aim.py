"""What AIM-Memory needs from the outside: the gate's decisions with the temporal mirror, and directions of search."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from biem.domain.designs.aim import GateDecision
from biem.domain.fields import Fields
from biem.domain.node import Node
from biem.domain.scope import Scope
from biem.ports.embedding import Vector
from biem.ports.index import Filter


@dataclass(frozen=True, slots=True)
class Said:
    """A memory written before another one: `formed` while nothing else is decided."""

    id: str
    write_seq: int
    conversation: str
    formed: bool
    vector: Vector | None


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether a memory counts as formed, and whether that was decided; `foretold` by somebody before it was encoded."""

    formed: bool
    decided: bool
    foretold: bool | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """What the gate refused: the text as it was said, and why."""

    id: str
    text: str
    speaker: str
    decision: GateDecision


@dataclass(frozen=True, slots=True)
class Held:
    """A memory for a route: how many were formed since, its vector, its original where that was asked for."""

    node: Node
    formed: bool
    age: int
    vector: Vector | None
    evidence: str | None
    disputed: bool = False
    """It is in a conflict about which nobody has decided."""


@dataclass(frozen=True, slots=True)
class Anchored:
    """The fields of a memory, or the text that they are yet to be read from; and how many were formed since."""

    fields: Fields
    text: str | None
    age: int
    formed: bool = True


@dataclass(frozen=True, slots=True)
class Census:
    """Formed memories of a scope, times they were returned, their mean weight, and how many weigh more than `high`."""

    nodes: int
    accesses: int
    mean_weight: float
    high: int


@dataclass(frozen=True, slots=True)
class Kept:
    """One memory of a scope with its number in the mirror."""

    node: Node
    formed: bool
    mirror_seq: int | None


class AimRecords(Protocol):
    """The part of L3 that AIM-Memory reads and writes. Archived memories are in no answer."""

    def said(self, scope: Scope, seqs: Sequence[int], most: int) -> list[Said]:
        """Memories written up to `most` places before each of `seqs` in the write sequence, each once."""

    def standing(self, scope: Scope, ids: Sequence[str]) -> Mapping[str, Standing]:
        """What is known of these memories of the scope; unknown ones are left out."""

    def foretell(self, scope: Scope, decisions: Sequence[tuple[str, GateDecision, int | None]]) -> None:
        """Keep decisions about memories to come, with their numbers in the mirror where these are known.

        A decision that is there already stays.
        """

    def decide(self, scope: Scope, ids: Sequence[str], refused: Mapping[str, GateDecision]) -> frozenset[str]:
        """Form these memories, except the refused ones; returns those that are formed now. Safe to repeat.

        What was decided before, or foretold, stays. The formed ones get the next numbers of the mirror in the order
        they were written; a refused one changes no number and loses its energy.
        """

    def admit(self, scope: Scope, memory_id: str, decision: GateDecision) -> bool:
        """Form a refused memory: energy as at first, the newest number. False, and nothing changes, if it is formed."""

    def refusals(self, scope: Scope, limit: int) -> list[Refusal]:
        """What was refused and not formed since, newest first."""

    def nodes(self, scopes: Sequence[Scope], ids: Sequence[str], at: datetime, *, evidence: bool) -> list[Held]:
        """These memories in the given order, without those that hold no more `at` this instant."""

    def anchors(self, scopes: Sequence[Scope], ids: Sequence[str]) -> Mapping[str, Anchored]:
        """What these memories pin down."""

    def census(self, scope: Scope, gamma: float, fresh: float, high: float) -> Census:
        """Count the formed memories of a scope."""

    def page(self, scope: Scope, after: int) -> list[Kept]:
        """Some hundred memories with a greater place in the write sequence, in its order; `[]` at the end."""

    def counter(self, scope: Scope) -> int:
        """How many numbers of the mirror were given out; 0 for an unknown scope."""

    def numbers(self, scope: Scope, ids: Sequence[str]) -> Mapping[str, int]:
        """The numbers of these memories in the mirror, given or foretold; left out is what has none."""

    def reserve(self, scope: Scope, count: int) -> int:
        """Take so many numbers of the mirror; returns the last one that was taken before."""


class MemoryMap(Protocol):
    """What a route looks at (A23, A60): whatever finds the nearest of many vectors, such as every `VectorIndex`."""

    def dense(self, scopes: Sequence[Scope], vector: Vector, limit: int, where: Filter) -> Mapping[str, float]:
        """The ids with the highest cosine and their cosine, of these scopes only: the local cluster of a direction."""
