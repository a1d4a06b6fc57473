"""Sessions, items and observation of all scopes of one connection."""

from collections.abc import Callable
from dataclasses import dataclass

from biem.domain.policies.context import LayerPolicy
from biem.domain.scope import Scope
from biem.domain.sessions.built import ContextWarning
from biem.layers.builder import WindowBuilder, language_of
from biem.layers.items import Items, ItemSystem
from biem.layers.observe import Observer
from biem.layers.sessions import Sessions, SessionSystem
from biem.layers.warnings import of_session, of_short_term
from biem.ports.layers.sessions import ShelfReader


@dataclass(frozen=True, slots=True, eq=False)
class LayerSystem:
    """The use cases on top of memories. Only bootstrap builds it."""

    chats: SessionSystem
    documents: ItemSystem
    observer: Observer
    builder: WindowBuilder
    shelf: ShelfReader
    policy: LayerPolicy

    def sessions(self, scope: Scope, wrote: Callable[[], None]) -> Sessions:
        """The sessions of one scope; `wrote` is called when a message became a memory."""
        return Sessions(self.chats, scope, wrote)

    def warned(self, scope: Scope, chats: Sessions, session: str, language: str) -> tuple[ContextWarning, ...]:
        """What a caller should know about a session, if one is named, and about short-term memories."""
        spoken = language_of("", language)
        held = self.shelf.read(scope, 1)
        return (
            *(of_session(chats.get(session).tokens, chats.policy, spoken) if session else ()),
            *of_short_term(held.short_terms, self.policy.short_term_most, spoken),
        )

    def items(self, scope: Scope, wrote: Callable[[], None]) -> Items:
        """The items of one scope; `wrote` is called when an item became a memory."""
        return Items(self.documents, scope, wrote)
