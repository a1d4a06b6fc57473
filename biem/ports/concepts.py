"""What the concept memory needs from the outside: the truth of concepts, instant memories, and what is on one's mind.

`Concepts` is the only way between concept memory and database (Hippocampus H5, the entorhinal cortex); links between
concepts are `Links`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from biem.domain.concept import Concept, Item, Message, Snippet
from biem.domain.scope import Scope


@dataclass(frozen=True, slots=True)
class Named:
    """A concept to be kept: its id, its name, and the index terms of the name."""

    id: str
    name: str
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fading:
    """How items fade: each loses one strength a period of idleness, and is gone at 0. Computed, never rewritten.

    Called up or found again before that, it has its whole strength once more.
    """

    idle_s: float
    strength: int
    """Of a new item, and what a repetition adds."""
    most: int
    """The strongest an item can be."""


class Concepts(Protocol):
    """The truth of concepts. Each method is one transaction, safe to repeat, and touches the scopes given only.

    What is deleted of the memories takes every item that has it as a source along, and concepts left without items.
    """

    def collect(self, scope: Scope, *, length: int, pause_s: float, limit: int) -> int:
        """Sort at most `limit` memories not seen yet into snippets (`domain.concept.cut`), in write order; how many."""

    def nearest(
        self, scope: Scope, at: datetime, *, length: int, quiet_since: datetime, without: Sequence[int] = ()
    ) -> Snippet | None:
        """The snippet that ends nearest to an instant, of those ready: full, silent since `quiet_since`, or facts."""

    def messages(self, scope: Scope, snippet: Snippet) -> list[Message]:
        """Its memories that are not archived, in the order they were written."""

    def used(self, scope: Scope, snippet: Snippet, uses: int) -> bool:
        """Note that a snippet was built from; after `uses` times it is gone. False if somebody else was faster."""

    def built(self, scope: Scope) -> int:
        """How many snippets were built from."""

    def find(self, scopes: Sequence[Scope], ids: Sequence[str], at: datetime) -> list[Concept]:
        """Those of these concepts that there are in these scopes."""

    def similar(self, scope: Scope, terms: Sequence[str], *, postings: int, limit: int) -> list[Concept]:
        """Concepts whose names share terms, most shared first. Looks at `postings` names a term, never at all (X32)."""

    def add(self, scope: Scope, concepts: Sequence[Named], items: Sequence[Item], fading: Fading, at: datetime) -> int:
        """Keep concepts and items; returns how many items are new.

        An item that is there gains sources and, for a source it did not have, strength. An item with a source that is
        not there (any more), or without sources, is left out, and so is a concept that has no item then or before.
        """

    def items(
        self, scopes: Sequence[Scope], concepts: Sequence[str], limit: int, fading: Fading, at: datetime
    ) -> dict[str, list[Item]]:
        """At most `limit` items of each concept, strongest first; not those faded, nor those only of archived memories.

        Their strength is that of `at`; their vector is None when another embedder made it.
        """

    def access(
        self,
        scopes: Sequence[Scope],
        concepts: Sequence[str],
        items: Sequence[str],
        fading: Fading,
        at: datetime,
        *,
        cooldown_s: float,
    ) -> None:
        """They were called up: idleness begins anew (H14), and items have their whole strength again.

        Nothing is written again within `cooldown_s`.
        """

    def pick(self, scope: Scope, point: str, limit: int) -> list[str]:
        """At most `limit` concepts with several items, by id from `point` on and round; the ids lie evenly."""

    def replace(self, scope: Scope, kept: Item, others: Sequence[str], fading: Fading, at: datetime) -> bool:
        """One item, new or known, stands for others of its concept: with all their sources and their summed strength.

        False, with nothing changed, unless all others are there.
        """

    def fade(self, scope: Scope, limit: int, at: datetime) -> int:
        """Remove at most `limit` items whose strength has reached 0; returns how many."""

    def vanishing(self, scope: Scope, limit: int) -> list[str]:
        """Concepts without items that no longer co-occur with any other."""

    def vanish(self, scope: Scope, ids: Sequence[str]) -> int:
        """Remove those of these concepts that have no items; returns how many."""

    def sources(self, scopes: Sequence[Scope], memories: Sequence[str]) -> dict[str, bool]:
        """Those of these memories that are there, and whether they are not archived."""

    def count(self, scope: Scope) -> Mapping[str, int]:
        """Rows of the scope: `concepts`, `items` and `instant` memories."""


@dataclass(frozen=True, slots=True)
class InstantMemory:
    """A light note of one message (Hippocampus H47). `viewed_at` is when it was last looked at."""

    id: str
    memory_id: str
    conversation: str
    """The chat id."""
    text: str
    keywords: tuple[str, ...]
    created_at: datetime
    viewed_at: datetime | None = None


class Instants(Protocol):
    """The table of instant memories. A message has at most one; archived messages' are not shown."""

    def add(self, scope: Scope, note: InstantMemory) -> bool:
        """Keep a note; False when the message has one already or is gone."""

    def add_all(self, scope: Scope, notes: Sequence[InstantMemory]) -> int:
        """Keep notes in one transaction, leaving out those that `add` would refuse; returns how many were kept."""

    def recent(self, scope: Scope, conversation: str, limit: int, at: datetime) -> list[InstantMemory]:
        """The newest notes of a conversation, newest first; counts as looking at them."""

    def due(self, scope: Scope, before: datetime, limit: int) -> list[InstantMemory]:
        """Notes made until `before` that are not built into concepts, oldest first."""

    def done(self, scope: Scope, ids: Sequence[str], at: datetime) -> None:
        """These notes are in the concepts."""

    def forget(self, scope: Scope, before: datetime, limit: int) -> int:
        """Remove at most `limit` notes made until `before` that are in the concepts; returns how many."""
