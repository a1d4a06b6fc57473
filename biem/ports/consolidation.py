"""Ports of consolidation: the derivations between memories, a lock, and the list of scopes.

Nothing here deletes a memory. A replaced memory is archived, with `superseded_by` set, and is whole again when it is
restored.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

from biem.domain.scope import Scope
from biem.ports.records import Write

Work = Literal["dedupe", "merge", "crystal"]
"""The jobs that memories wait for."""
Origin = Literal["dedupe", "merge", "crystal", "heir", "summary"]
"""How a memory came from another: it was kept of several duplicates (*dedupe*), it is the merged text of several
(*merge*), or it is a fact distilled from a cluster, which stays active (*crystal*). *heir*: the source replaced a
source of the fact, and belongs to it without having been part of it.
"""


@dataclass(frozen=True, slots=True)
class Mark:
    """One memory that a job has to process; `marks` changes when the memory was touched meanwhile."""

    id: str
    marks: int


@dataclass(frozen=True, slots=True)
class CrystalFact:
    """A fact distilled from memories. It is also a memory with the same id, and so takes part in recall."""

    id: str
    content: str
    source_node_ids: tuple[str, ...]
    confidence: float
    """0 to 1: how similar its sources are."""
    created_at: datetime
    updated_at: datetime
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """`sources_hash`; `superseded_by`, the id of the fact that grew out of it."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """A memory and the ones it replaces, whose links it has still to take over."""

    kept: str
    replaced: tuple[str, ...]


class Consolidations(Protocol):
    """Derivations between memories. Each method is one transaction, safe to repeat, and touches one scope only."""

    def waiting(self, scope: Scope, job: Work, limit: int) -> list[Mark]:
        """Memories that this job has to process.

        *dedupe*: facts (no events) that became active. *merge*: those of the layer long_term that became active, or
        entered that layer. *crystal*: all that were found useful, or accessed for the third time or more.
        """

    def looked(self, scope: Scope, job: Work, marks: Sequence[Mark]) -> None:
        """Mark memories as processed; those touched since `waiting` keep waiting."""

    def absorb(self, scope: Scope, kept: str, replaced: Sequence[str], at: datetime) -> bool:
        """Let `kept` replace `replaced`; returns False, with nothing changed, unless all are active and current, none
        is untrusted, and none more trusted than `kept`.

        Tags are united (a job updates the index), importance and energy are the maximum, counters are summed, and its
        metadata lists `merged_from`. The replaced are archived with `superseded_by` set. A repetition returns True and
        changes nothing.
        """

    def merge(self, scope: Scope, write: Write, sources: Sequence[str], at: datetime) -> bool:
        """Write a new memory that replaces `sources`, which are archived; inheritance as with `absorb`.

        Returns False, with nothing changed, unless all sources are active, current, and as trusted as the new one,
        which is not untrusted. A repetition with the same id returns True and changes nothing.
        """

    def crystallise(self, scope: Scope, fact: CrystalFact, write: Write, grown_from: str | None, at: datetime) -> bool:
        """Store a fact and its memory, which has the same id; `grown_from` is archived as superseded by it.

        Returns False, with nothing changed, unless all sources are memories of the scope, none is untrusted or less
        trusted than the fact, and none belongs to another fact than `grown_from`. A repetition returns True and changes
        nothing.
        """

    def facts(self, scope: Scope, limit: int, *, after: str = "") -> list[CrystalFact]:
        """Current facts of the scope by id, without those superseded by another fact."""

    def fact(self, scope: Scope, fact_id: str) -> CrystalFact | None:
        """One fact of exactly this scope, current or not."""

    def facts_of(self, scope: Scope, ids: Sequence[str]) -> dict[str, str]:
        """The fact's id for those of these memories that a current fact was distilled from."""

    def sources(self, scope: Scope, ids: Sequence[str]) -> dict[str, list[tuple[str, Origin]]]:
        """The sources that these memories were made of, with the kind of derivation."""

    def unlinked(self, scope: Scope, limit: int) -> list[Replacement]:
        """Replacements whose links were not taken over yet, for example because the process died in between."""

    def linked(self, scope: Scope, replacement: Replacement) -> None:
        """Mark the links of what it replaced as taken over."""
