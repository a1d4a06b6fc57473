"""Ports of the concept memory: concepts, instant memories, and running memory.

`Concepts` is the only interface between concept memory and database; links between concepts are `Links`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from biem.domain.concept import Concept, Item, Message, Snippet
from biem.domain.scope import Scope


@dataclass(frozen=True, slots=True)
class Named:
    """A concept to store: its id, its name, and the index terms of the name."""

    id: str
    name: str
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fading:
    """How items fade: each loses one strength per idle period, and is gone at 0. Computed, never rewritten.

    An item recalled or found again before that has its full strength again.
    """

    idle_s: float
    strength: int
    """Of a new item, and the increment of a repetition."""
    most: int
    """The maximum strength of an item."""


class Concepts(Protocol):
    """The stored concepts. Each method is one transaction, safe to repeat, and touches the given scopes only.

    Deleting a memory deletes every item that has it as a source, and concepts left without items.
    """

    def collect(self, scope: Scope, *, length: int, pause_s: float, limit: int) -> int:
        """Sort at most `limit` new memories into snippets (`domain.concept.cut`), in write order; returns how many."""

    def nearest(
        self, scope: Scope, at: datetime, *, length: int, quiet_since: datetime, without: Sequence[int] = ()
    ) -> Snippet | None:
        """The snippet that ends nearest to an instant, of those ready: full, silent since `quiet_since`, or facts."""

    def messages(self, scope: Scope, snippet: Snippet) -> list[Message]:
        """Its memories that are not archived, in the order they were written."""

    def used(self, scope: Scope, snippet: Snippet, uses: int) -> bool:
        """Record that a snippet was built from; after `uses` times it is removed. False if another process was
        faster.
        """

    def built(self, scope: Scope) -> int:
        """How many snippets were built from."""

    def find(self, scopes: Sequence[Scope], ids: Sequence[str], at: datetime) -> list[Concept]:
        """Those of these concepts that exist in these scopes."""

    def similar(self, scope: Scope, terms: Sequence[str], *, postings: int, limit: int) -> list[Concept]:
        """Concepts whose names share terms, most shared first. Examines `postings` names per term, never all."""

    def add(self, scope: Scope, concepts: Sequence[Named], items: Sequence[Item], fading: Fading, at: datetime) -> int:
        """Store concepts and items; returns how many items are new.

        An existing item gains sources and, for each new source, strength. An item without sources, or with a missing
        source, is left out, and so is a concept that has no item before or after.
        """

    def items(
        self, scopes: Sequence[Scope], concepts: Sequence[str], limit: int, fading: Fading, at: datetime
    ) -> dict[str, list[Item]]:
        """At most `limit` items of each concept, strongest first; without faded ones and those of archived memories
        only.

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
        """Record an access: the idle period restarts, and items have their full strength again.

        Nothing is written again within `cooldown_s`.
        """

    def pick(self, scope: Scope, point: str, limit: int) -> list[str]:
        """At most `limit` concepts with several items, by id from `point` on, wrapping around; ids are uniformly
        distributed.
        """

    def replace(self, scope: Scope, kept: Item, others: Sequence[str], fading: Fading, at: datetime) -> bool:
        """Replace other items of its concept by one item, new or known, with all their sources and their summed
        strength.

        Returns False, with nothing changed, unless all others exist.
        """

    def fade(self, scope: Scope, limit: int, at: datetime) -> int:
        """Remove at most `limit` items whose strength has reached 0; returns how many."""

    def vanishing(self, scope: Scope, limit: int) -> list[str]:
        """Concepts without items that no longer co-occur with any other."""

    def vanish(self, scope: Scope, ids: Sequence[str]) -> int:
        """Remove those of these concepts that have no items; returns how many."""

    def sources(self, scopes: Sequence[Scope], memories: Sequence[str]) -> dict[str, bool]:
        """Those of these memories that exist, each with True if it is not archived."""

    def count(self, scope: Scope) -> Mapping[str, int]:
        """Rows of the scope: `concepts`, `items` and `instant` memories."""


@dataclass(frozen=True, slots=True)
class InstantMemory:
    """A short note of one message. `viewed_at` is when it was last read."""

    id: str
    memory_id: str
    conversation: str
    """The chat id."""
    text: str
    keywords: tuple[str, ...]
    created_at: datetime
    viewed_at: datetime | None = None
    revision: int = 1
    """The revision of the message that it is a note of; a note of a former one is not stored."""


class Instants(Protocol):
    """The table of instant memories. A message has at most one; those of archived messages are not returned."""

    def add(self, scope: Scope, note: InstantMemory) -> bool:
        """Store a note; False when the message has one already or is gone."""

    def add_all(self, scope: Scope, notes: Sequence[InstantMemory]) -> int:
        """Store notes in one transaction, without those that `add` would refuse; returns how many were stored."""

    def recent(self, scope: Scope, conversation: str, limit: int, at: datetime) -> list[InstantMemory]:
        """The newest notes of a conversation, newest first; updates `viewed_at`."""

    def due(self, scope: Scope, before: datetime, limit: int) -> list[InstantMemory]:
        """Notes made until `before` that are not built into concepts, oldest first."""

    def done(self, scope: Scope, ids: Sequence[str], at: datetime) -> None:
        """Mark these notes as built into concepts."""

    def forget(self, scope: Scope, before: datetime, limit: int) -> int:
        """Remove at most `limit` notes made until `before` that are built into concepts; returns how many."""
