"""Layers of this memory: sessions, whole windows, numbers, maintenance, commands of a chat loop."""

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from biem.domain.node import Hits, Node
from biem.engine.recall.rerank import Choice
from biem.errors import InvalidInput
from biem.memory.bound import BoundMemory
from biem.ports import EVERYTHING

if TYPE_CHECKING:
    from biem.domain.sessions.built import BuiltContext, ContextWarning
    from biem.layers.commands import CommandAnswer, Commanded
    from biem.layers.items import Items
    from biem.layers.maintain import Maintenance
    from biem.layers.mirror.mirror import Mirror
    from biem.layers.projects import Projects
    from biem.layers.sessions import Sessions
    from biem.layers.shelf import LayerShelf
    from biem.layers.stats import LayerStats
    from biem.ports.layers.sessions import LayerCount


class LayerMethods(BoundMemory):
    """Sessions, the mirror, projects, items, whole windows, maintenance and commands."""

    @property
    def sessions(self) -> "Sessions":
        """Conversations of this scope, word for word, each with the window that a model gets of it."""
        return self._system.layers().sessions(self.bound_to, self._shared.wrote.set)

    @property
    def mirror(self) -> "Mirror":
        """Memories of this scope as Markdown files that people read, edit and commit; off until a folder is added."""
        return self._system.mirror(self.bound_to, self._shared.wrote.set)

    @property
    def projects(self) -> "Projects":
        """Which folder is which project of the user, and which folders open it."""
        return self._system.projects(self.bound_to)

    @property
    def items(self) -> "Items":
        """JSON documents of this scope under namespaces and keys, each found by the memory made of it."""
        return self._system.layers().items(self.bound_to, self._shared.wrote.set)

    def shelf(self, layer: str) -> "LayerShelf":
        """The memories of one layer of this scope: core, short_term or long_term; the layer session has `sessions`."""
        return self._system.layers().shelf_of(self.bound_to, layer, self._shared.wrote.set)

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

    def core(self) -> tuple[Node, ...]:
        """Core memories: the user's own and, from a project, its own, the most important first; at most 1,000."""
        return self._system.layers().shelf.read(self.bound_to, self._system.policies.builder.most).core

    def search(
        self,
        query: str,
        top_k: int = 5,
        *,
        use_vector: bool = True,
        use_keyword: bool = True,
        use_time_weight: bool = True,
        min_similarity: float = 0.6,
    ) -> Hits:
        """A recall with the ranking of AIMate and its options; see `recall` with `profile="aimate"`.

        Searches by meaning, where at least `min_similarity`, and by words; either can be switched off, not both.
        """
        system = self._system
        try:
            formulas = replace(
                system.policies.formulas,
                aimate_vector=use_vector,
                aimate_keyword=use_keyword,
                aimate_time_weight=use_time_weight,
                aimate_min_similarity=min_similarity,
            )
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"these options of search are impossible: {error}") from None
        choice = Choice("aimate", formulas=formulas)
        return system.recaller.recall(self.bound_to, query, top_k=top_k, mode="auto", where=EVERYTHING, choice=choice)

    def layer_stats(self, session: str = "") -> "LayerStats":
        """What the layers hold, and how full the session with this id is. Raises `NotFound`."""
        return self._system.layers().counter.stats(self.bound_to, self.sessions, session)

    def storage_stats(self) -> "list[LayerCount]":
        """Live memories by level (user's own, project) and layer, with the bytes of their texts."""
        return self._system.layers().counter.storage(self.bound_to)

    def maintain(self) -> "Maintenance":
        """Maintain this scope now: promote, expire, archive, limit, then sessions, mirror, notes, repair. Never raises.

        The hourly jobs do the same; each step runs in one process at a time, and repeating it changes nothing.
        """
        done = self._system.layers().maintain(self._system.job_runner, self.bound_to)
        if done.changed:
            self._shared.wrote.set()
        return done

    def command(self, text: str, *, session: str = "", language: str | None = None) -> "CommandAnswer | None":
        """The answer to a line of a chat loop that is a command; None for any other line.

        These are `/memory stats|perf|diagnose|reindex|search QUERY|core|recent|sync|maintenance`, `/new`, and
        `/session status|list|restore ID`. `session`: id of the current one; `CommandAnswer.session` is the
        one that is current afterwards. `language`: en or zh; default: that of the line. Raises as the methods that
        answer.
        """
        if not isinstance(text, str) or not text.lstrip().startswith("/"):
            return None
        return self._system.layers().command(cast("Commanded", self), text, session, language)
