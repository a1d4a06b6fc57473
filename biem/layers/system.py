"""Sessions, items, observation, windows and maintenance of all scopes of one connection."""

from collections.abc import Callable
from dataclasses import dataclass

from biem.domain.policies.layers import LayerPolicy
from biem.domain.scope import Scope
from biem.domain.sessions.built import ContextWarning
from biem.engine.sleep.jobs import JobRunner
from biem.layers.builder import WindowBuilder, language_of
from biem.layers.commands import CommandAnswer, Commanded, answered
from biem.layers.items import Items, ItemSystem
from biem.layers.maintain import Maintenance, maintain
from biem.layers.observe import Observer
from biem.layers.sessions import Sessions, SessionSystem
from biem.layers.shelf import LayerShelf, ShelfSystem
from biem.layers.stats import LayerCounter
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
    shelves: ShelfSystem
    policy: LayerPolicy
    counter: LayerCounter

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

    def maintain(self, runner: JobRunner, scope: Scope) -> Maintenance:
        """Maintenance of one scope."""
        return maintain(runner, scope)

    def command(self, memory: Commanded, text: str, session: str, language: str | None) -> CommandAnswer | None:
        """The answer to a line of a chat loop; None where it is no command."""
        return answered(memory, text, session, language_of(text, language))

    def items(self, scope: Scope, wrote: Callable[[], None]) -> Items:
        """The items of one scope; `wrote` is called when an item became a memory."""
        return Items(self.documents, scope, wrote)

    def shelf_of(self, scope: Scope, layer: str, wrote: Callable[[], None]) -> LayerShelf:
        """The memories of one layer of a scope; `wrote` is called when one was added."""
        return LayerShelf(self.shelves, scope, layer, wrote)
