"""Whole windows, and what a caller should know about the layers of this memory."""

from typing import TYPE_CHECKING

from biem.memory.bound import BoundMemory

if TYPE_CHECKING:
    from biem.domain.sessions.built import BuiltContext, ContextWarning
    from biem.layers.items import Items
    from biem.layers.mirror.mirror import Mirror
    from biem.layers.sessions import Sessions


class LayerMethods(BoundMemory):
    """`sessions`, `mirror`, `items`, `build_context` and `check_warnings`."""

    @property
    def sessions(self) -> "Sessions":
        """Conversations of this scope, word for word, each with the window that a model gets of it."""
        return self._system.layers().sessions(self.bound_to, self._shared.wrote.set)

    @property
    def mirror(self) -> "Mirror":
        """Memories of this scope as Markdown files that people read, edit and commit; off until a folder is added."""
        return self._system.mirror(self.bound_to, self._shared.wrote.set)

    @property
    def items(self) -> "Items":
        """JSON documents of this scope under namespaces and keys, each found by the memory made of it."""
        return self._system.layers().items(self.bound_to, self._shared.wrote.set)

    def build_context(
        self, query: str, *, budget: int | None = None, session: str = "", language: str | None = None
    ) -> "BuiltContext":
        """The whole window for a model: system text of memories and notes, and the chat messages of a session.

        Its sections, with their shares of `budget` tokens (default `BIEM_BUILDER__TOTAL_BUDGET`): core memories .1,
        the user's before the project's; memories and notes found for the query .2, half and half; recent tasks, notes
        and contexts of the last 7 days of this scope .2; the newest rounds of the session with this id .5. What a
        section leaves of its share goes to the next one (not under `BIEM_PROFILE=aimate`). Nothing is cut inside, and
        nothing left out silently: see `BuiltContext.warnings`, worded in `language` (en, zh; default: the query's).

        System messages and the newest round are always there, also when they alone exceed the budget. Raises
        `InvalidInput`, `NotFound` for an unknown session, and `StoreUnavailable`.
        """
        builder = self._system.layers().builder
        return builder.build(self.bound_to, query, self.sessions, budget=budget, session=session, language=language)

    def check_warnings(self, session: str = "", *, language: str = "en") -> "tuple[ContextWarning, ...]":
        """How full a session is, from `warning_ratio` on, and how many short-term memories this scope has."""
        return self._system.layers().warned(self.bound_to, self.sessions, session, language)
