"""Sessions, items and observation of all scopes of one connection."""

from collections.abc import Callable
from dataclasses import dataclass

from biem.domain.scope import Scope
from biem.layers.items import Items, ItemSystem
from biem.layers.observe import Observer
from biem.layers.sessions import Sessions, SessionSystem


@dataclass(frozen=True, slots=True, eq=False)
class LayerSystem:
    """The use cases on top of memories. Only bootstrap builds it."""

    chats: SessionSystem
    documents: ItemSystem
    observer: Observer

    def sessions(self, scope: Scope, wrote: Callable[[], None]) -> Sessions:
        """The sessions of one scope; `wrote` is called when a message became a memory."""
        return Sessions(self.chats, scope, wrote)

    def items(self, scope: Scope, wrote: Callable[[], None]) -> Items:
        """The items of one scope; `wrote` is called when an item became a memory."""
        return Items(self.documents, scope, wrote)
