"""Changing a stored memory: its former values stay as revisions."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from biem.domain.node import Draft, Node
from biem.domain.revision import Revision
from biem.domain.scope import Scope


@dataclass(frozen=True, slots=True)
class Change:
    """New values of one memory, and what was derived from them before the transaction."""

    id: str
    base: int
    """The revision that they were computed from."""
    draft: Draft
    """All its values, changed or not."""
    lexemes: str
    fact_key: bytes | None
    changed: frozenset[str]
    """Names of the fields that differ from the base."""
    by: str


@dataclass(frozen=True, slots=True)
class FormerText:
    """A text that a memory had, as it was embedded. `embedded`: this embedder's vector of it is stored."""

    memory_id: str
    revision: int
    text: str
    lexemes: str
    embedded: bool


class Revisions(Protocol):
    """Revises memories, and reads their history."""

    def revise(self, scope: Scope, change: Change, at: datetime) -> Node | None:
        """Replace the values of a live memory, keeping the former ones as a revision, in one transaction.

        Returns the new state; None, with nothing changed, if the memory is at another revision than `change.base`.
        Safe to repeat after a lost connection. Raises `NotFound` for an unknown memory or one of another scope, and
        `InvalidInput` for an archived one or if another memory of the scope states the same fact, naming its id.

        Where embedded, indexed or analysed values changed, the memory is pending, with a job that replaces its row of
        the index. What was derived from a changed text is removed: semantic links, undecided conflicts, statements of
        concepts, notes, and facts distilled from it; its sources are marked for building and distilling anew.
        """

    def outdated(self, revisions: Sequence[tuple[str, int]]) -> list[str]:
        """Those of these memories whose revision is another one now; what was derived meanwhile from the former text
        is removed, and each has a job that indexes it again.

        For a worker that may have written results of a former revision.
        """

    def former(self, after: tuple[str, int], limit: int, *, memory_id: str | None = None) -> list[FormerText]:
        """Former texts after a memory and revision (`("", 0)`: from the start), in this order: of all or of one."""

    def describe(self, terms: Sequence[tuple[str, int, str]]) -> None:
        """Replace the index terms of former texts: memory, revision, terms."""

    def history(self, scope: Scope, memory_id: str) -> list[Revision]:
        """All revisions of a memory of exactly this scope, oldest first, the present one last; empty if unknown."""
