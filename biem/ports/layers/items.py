"""Items in PostgreSQL: JSON documents under a namespace and a key."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from biem.domain.items.item import Namespace, StoredItem
from biem.domain.scope import Scope
from biem.ports.records import Write, Written


@dataclass(frozen=True, slots=True)
class ItemWrite:
    """An item to write. `value` is JSON; `memory` is what a query finds it by, None if none does."""

    namespace: Namespace
    key: str
    value: str
    memory: Write | None
    ttl_s: float | None


@dataclass(frozen=True, slots=True)
class ItemPut:
    """A written item. `written`: its memory, if one was made; `revised`: its memory got a new text."""

    item: StoredItem
    written: Written | None
    revised: bool


@dataclass(frozen=True, slots=True)
class NamespaceCondition:
    """The first labels of a namespace or, `at_end`, its last ones; None stands for any label."""

    labels: tuple[str | None, ...]
    at_end: bool


class ItemRecords(Protocol):
    """Items of a scope. Those that have expired by the clock are there no more. Raises `StoreUnavailable`."""

    def put(self, scope: Scope, writes: Sequence[ItemWrite]) -> list[ItemPut]:
        """Write items of different keys, all or none, in one transaction with the memories made of them.

        A key that is there gets the new value, and its memory a new revision; an archived memory is left as it is, and
        the item gets another one.
        """

    def delete(self, scope: Scope, keys: Sequence[tuple[Namespace, str]]) -> int:
        """Remove items; returns how many were there. Their memories are hidden at once and erased by a job."""

    def get(self, scope: Scope, keys: Sequence[tuple[Namespace, str]]) -> list[StoredItem]:
        """Those of these items that are there, in no order."""

    def page(
        self,
        scope: Scope,
        prefix: Namespace,
        contains: Mapping[str, Any],
        *,
        before: int | None,
        limit: int,
        found: bool = False,
    ) -> list[tuple[int, StoredItem]]:
        """Items below a namespace whose values contain this, the last written first, each with its place.

        `before` is the place of the last one of the previous page. `found`: only those that a query may find.
        """

    def namespaces(
        self, scope: Scope, conditions: Sequence[NamespaceCondition], depth: int | None, limit: int, offset: int
    ) -> list[Namespace]:
        """Namespaces that have items and meet all conditions, cut to a depth, ordered by their labels."""

    def refresh(self, scope: Scope, keys: Sequence[tuple[Namespace, str]]) -> None:
        """Start the time to live of these items again."""

    def sweep(self, scope: Scope | None) -> int:
        """Remove items that have expired, of a scope or of all; returns how many."""
