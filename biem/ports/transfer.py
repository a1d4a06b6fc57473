"""Ports of export, import, and moves between scopes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from biem.domain.items.item import Namespace
from biem.domain.scope import Scope
from biem.domain.transfer import MoveReport, Row, Section
from biem.ports.index import Filter


@dataclass(frozen=True, slots=True)
class Present:
    """A memory that has the id, the ref or the fact of one to import."""

    id: str
    here: bool
    """Whether it is in this scope. Of memories elsewhere only the id is given."""
    sha: str = ""
    """SHA-256 of its text, in hexadecimal."""
    kind: str = ""
    at: datetime | None = None
    created_at: datetime | None = None
    speaker: str = ""
    conversation: str = ""
    revision: int = 1
    ref: str | None = None
    fact_key: str | None = None
    """In hexadecimal; None where it does not stand for a fact."""


@dataclass(frozen=True, slots=True)
class Added:
    """The memories that one call stored, or the `circles` for which it stored none."""

    created: tuple[str, ...]
    circles: tuple[str, ...] = ()
    """Memories that their own successors lead back to."""


class ScopeLines(Protocol):
    """Reads a scope for a file."""

    def read(self, scope: Scope, where: Filter | None) -> Iterator[tuple[Section, Row]]:
        """All lines, of one instant, in the order of `SECTIONS`, with bounded memory; the same scope gives the same.

        With `where`, only the memories that meet it, and what refers to no others. Without, all that the scope holds,
        archived and expired memories included, but no items that have expired. Derived data is left out: analyses,
        vectors, concepts, jobs.
        """


class Imports(Protocol):
    """Adds lines to a scope. Each method is one transaction, and adds only what is not there."""

    def present(self, scope: Scope, ids: Sequence[str], refs: Sequence[str], facts: Sequence[str]) -> list[Present]:
        """Memories of the scope that have one of these ids, refs or facts, and memories elsewhere that have an id."""

    def add_memories(self, scope: Scope, rows: Sequence[Row]) -> Added:
        """Store memories in this order, with jobs that index them; those that are there stay as they are.

        Nothing is stored if the successors of one lead back to it. An erased id can come back: what still waited to
        remove it from the projections no longer does.
        """

    def add(self, scope: Scope, section: Section, rows: Sequence[Row], ids: Sequence[str]) -> list[str]:
        """Store lines of another type. Returns those of `ids` that are no memories of the scope, and then nothing is
        stored.

        An item that is there stays as it is, and the memory of the other one is hidden at once and erased by a job.
        """

    def other_items(self, scope: Scope, rows: Sequence[Row]) -> list[tuple[Namespace, str]]:
        """Those of these items, by namespace and key, that the scope has with another value."""

    def cut(self, scope: Scope, ids: Sequence[str]) -> int:
        """Remove pointers to successors, of these ids, that are no memories of the scope; returns how many ids."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A finished move and the ids of the memories that left, for the projections."""

    report: MoveReport
    ids: tuple[str, ...]
    erased: tuple[str, ...]
    """Facts distilled from both sides, which are gone."""
    left: int = 0
    """Memories of the move that are still to be moved, by `proceed`."""


class Moves(Protocol):
    """Moves memories between scopes of one tenant."""

    def proceed(self, source: Scope, target: Scope, at: datetime) -> Moved | None:
        """Move the next slice of a move between these scopes that was begun, also by a process that died; None if none
        is. The report counts all slices that are done.
        """

    def move(
        self, source: Scope, target: Scope, ids: Sequence[str] | None, where: Filter | None, at: datetime
    ) -> Moved:
        """Move these memories, or all that meet `where`: at no instant is one in both or in none.

        Up to a thousand are moved in one transaction. Of more a plan is stored, and each call of `proceed` moves the
        next slice; links between slices are made when both ends are there.

        What stands for a moved memory goes along: the memories it was merged from or into. Revisions, and links,
        conflicts, derivations and facts that join moved memories only, go along, too; the others are removed as by an
        erasure, which destroys no memory but facts that were distilled from both sides.
        """
