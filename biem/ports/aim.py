"""Storage that AIM-Memory needs: gate decisions with the temporal mirror, and nearest-neighbour search for a route."""

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
    """A memory written before another one. `formed` is true while its gate decision is still open."""

    id: str
    write_seq: int
    conversation: str
    formed: bool
    vector: Vector | None


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether a memory counts as formed, and whether that is decided; `foretold`: decided before it was encoded."""

    formed: bool
    decided: bool
    foretold: bool | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """A message that the gate refused: its original text, and the decision."""

    id: str
    text: str
    speaker: str
    decision: GateDecision


@dataclass(frozen=True, slots=True)
class Held:
    """A memory for a route: its `age` (memories formed since), its vector, and its original where that was
    requested.
    """

    node: Node
    formed: bool
    age: int
    vector: Vector | None
    evidence: str | None
    disputed: bool = False
    """It is in a conflict that is still undecided."""


@dataclass(frozen=True, slots=True)
class Anchored:
    """The fields of a memory, or the text to extract them from; and its `age` (memories formed since)."""

    fields: Fields
    text: str | None
    age: int
    formed: bool = True


@dataclass(frozen=True, slots=True)
class Census:
    """Counts of a scope: formed memories, times they were returned, mean weight, and memories that weigh more than
    `high`.
    """

    nodes: int
    accesses: int
    mean_weight: float
    high: int


@dataclass(frozen=True, slots=True)
class Kept:
    """One memory of a scope with its sequence number in the mirror."""

    node: Node
    formed: bool
    mirror_seq: int | None


class AimRecords(Protocol):
    """The part of L3 that AIM-Memory reads and writes. Archived memories are never returned."""

    def said(self, scope: Scope, seqs: Sequence[int], most: int) -> list[Said]:
        """Memories written up to `most` positions before each of `seqs` in the write sequence, without repeats."""

    def standing(self, scope: Scope, ids: Sequence[str]) -> Mapping[str, Standing]:
        """The gate state of these memories of the scope; unknown ids are left out."""

    def record_decisions(self, scope: Scope, decisions: Sequence[tuple[str, GateDecision, int | None]]) -> None:
        """Store decisions about memories that are not written yet, with their mirror numbers where known.

        An existing decision stays.
        """

    def decide(self, scope: Scope, ids: Sequence[str], refused: Mapping[str, GateDecision]) -> frozenset[str]:
        """Form these memories, except the refused ones; returns those that are formed now. Safe to repeat.

        Earlier and foretold decisions stay. Formed memories get the next mirror numbers in write order; a refused one
        changes no number and loses its energy.
        """

    def admit(self, scope: Scope, memory_id: str, decision: GateDecision) -> bool:
        """Form a refused memory: initial energy, newest number. Returns False, and changes nothing, if it is formed
        already.
        """

    def refusals(self, scope: Scope, limit: int) -> list[Refusal]:
        """Refused messages that were not formed since, newest first."""

    def nodes(self, scopes: Sequence[Scope], ids: Sequence[str], at: datetime, *, evidence: bool) -> list[Held]:
        """These memories in the given order, without those no longer valid `at` this instant."""

    def anchors(self, scopes: Sequence[Scope], ids: Sequence[str]) -> Mapping[str, Anchored]:
        """The anchors of these memories."""

    def census(self, scope: Scope, gamma: float, fresh: float, high: float) -> Census:
        """Count the formed memories of a scope."""

    def page(self, scope: Scope, after: int) -> list[Kept]:
        """The next few hundred memories after this position of the write sequence, in its order; `[]` at the end."""

    def counter(self, scope: Scope) -> int:
        """How many mirror numbers were assigned; 0 for an unknown scope."""

    def numbers(self, scope: Scope, ids: Sequence[str]) -> Mapping[str, int]:
        """The mirror numbers of these memories, assigned or foretold; memories without one are left out."""

    def reserve(self, scope: Scope, count: int) -> int:
        """Reserve `count` mirror numbers; returns the last number that was assigned before."""


class MemoryMap(Protocol):
    """Nearest-neighbour search for a route; every `VectorIndex` satisfies it."""

    def dense(self, scopes: Sequence[Scope], vector: Vector, limit: int, where: Filter) -> Mapping[str, float]:
        """The ids with the highest cosine and their cosine, from these scopes only: the local cluster of a
        direction.
        """
