"""The memories of one layer: `memory.shelf("core")`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from biem.domain.node import Node
from biem.domain.observing.category import Category
from biem.domain.observing.unit import Unit
from biem.domain.paging import Page
from biem.domain.scope import Scope
from biem.domain.text import require_string
from biem.engine.query.listing import MemoryList, Wanted
from biem.engine.remember.writer import Writer
from biem.errors import InvalidInput

_USUAL: Mapping[str, str] = {"core": "preference", "short_term": "note", "long_term": "knowledge"}
"""The layers that have a shelf, and the category of what is added without one."""


@dataclass(frozen=True, slots=True, eq=False)
class ShelfSystem:
    """What the shelves of all scopes of one connection share. Only bootstrap builds it."""

    writer: Writer
    listing: MemoryList
    categories: Mapping[str, Category]


class LayerShelf:
    """The memories of one layer of one scope: core, short_term (those with a category) or long_term.

    The layer session has `memory.sessions`. Errors are those of `Memory.remember`.
    """

    def __init__(self, system: ShelfSystem, scope: Scope, layer: str, wrote: Callable[[], None]) -> None:
        """`wrote` is called when a memory was added. Raises `InvalidInput` for a layer without a shelf."""
        if layer not in tuple(_USUAL):  # also for what has no hash
            raise InvalidInput(
                f"layer {layer!r:.60} is unknown; choose one of {', '.join(_USUAL)}, or use memory.sessions"
            )
        self._system = system
        self._scope = scope
        self._wrote = wrote
        self.layer = layer

    def add(self, text: str, *, category: str = "", reason: str = "", tags: Sequence[str] = ()) -> str:
        """Remember a statement of the user in this layer; returns the id of its memory, also of a repeated one.

        `category`: by default preference in core, note in short_term, knowledge in long_term. A short-term memory
        expires after the days of its category.
        """
        require_string(text, "text")
        name = category or _USUAL[self.layer]
        if name not in self._system.categories:
            raise InvalidInput(f"category {name!r:.60} is unknown; choose one of {', '.join(self._system.categories)}")
        known = self._system.categories[name]
        unit = Unit(
            text=text,
            judgment=text,
            reason=reason,
            tags=tuple(tags),
            category=name,
            kind=known.kind,
            layer=self.layer,
            level="project" if self._scope.project else "user",
            rule="caller",
            confidence=1.0,
            ttl_days=known.ttl_days if self.layer == "short_term" else None,
        )
        memory_id = self._system.writer.remember(self._scope, text, source="user", **unit.details)
        self._wrote()
        return memory_id

    def list(self, *, limit: int = 50, after: str = "") -> Page[Node]:
        """A page of its live memories: of core the most important first, else the newest; as `Memory.list`."""
        order = "importance" if self.layer == "core" else "newest"
        return self._system.listing.page(self._scope, order, limit, after, **self._wanted)

    def count(self) -> int:
        """The number of its live memories."""
        return self._system.listing.count(self._scope, **self._wanted)

    @property
    def _wanted(self) -> Wanted:
        """Messages of conversations are short-term, too, but have no category."""
        return {
            "layer": self.layer,
            **({"where": {"category": {"$exists": True}}} if self.layer == "short_term" else {}),
        }
