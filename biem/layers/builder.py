"""A whole window for a model: `memory.build_context`.

    core .1 (the user's, then the project's) → found for the query .2 (memories, notes) → recent tasks, notes and
    contexts of the project .2 → the session's newest rounds .5

The unused rest of a share goes to the next section, unless the policy says otherwise. Items are shown whole or omitted,
none twice; omissions for lack of room are warnings. The user's memories of other layers are shown only where a search
found them.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from biem.domain.node import Hit, Hits, Node
from biem.domain.policies.context import ContextPolicy
from biem.domain.policies.layers import BuilderPolicy, LayerPolicy
from biem.domain.prompt.contents import NOTHING, Known, known, messages_in
from biem.domain.prompt.lines import named, told
from biem.domain.scope import Scope
from biem.domain.sessions.built import BuiltContext, ContextWarning
from biem.domain.sessions.session import SessionMessage, Window
from biem.domain.sessions.window import fitting
from biem.domain.speech.acts import is_courtesy
from biem.domain.speech.follow_up import as_meant
from biem.domain.speech.plain_question import plain_question
from biem.domain.text import late, require_count, simplified
from biem.engine.context.block import Context
from biem.engine.context.relevance_filter import RelevanceFilter
from biem.engine.context.sections import CORE, ContextBuilder
from biem.engine.query.request import require_question
from biem.engine.recall.recaller import Recaller
from biem.engine.recall.rerank import HYBRID, Choice
from biem.errors import InvalidInput
from biem.layers import warnings
from biem.layers.sessions import Sessions, window_of
from biem.notes.system import NoteSystem
from biem.ports import EVERYTHING, Clock, Records
from biem.ports.layers.sessions import Shelf, ShelfReader, TokenCounter
from biem.telemetry import Telemetry

SHORT_TERM = "## Tasks, Notes and Contexts"
_CHINESE = late("[\u4e00-\u9fff]")
_MOST_TOKENS = 1 << 30
_WHOLE = 1 << 30
"""Characters of an item that is never shown in part."""
_SURE = 1e-9
"""Below any confidence: the lines decide (`engine.context.silence`), and a courtesy is not searched."""


@dataclass(frozen=True, slots=True)
class WindowParts:
    """What `WindowBuilder` needs of the other parts of the system."""

    recaller: Recaller
    sections: ContextBuilder
    """Builds the section of found memories and notes, and no other."""
    relevance: RelevanceFilter
    notes: NoteSystem
    records: Records
    shelf: ShelfReader
    count: TokenCounter
    clock: Clock
    telemetry: Telemetry


@dataclass(frozen=True, slots=True)
class _Section:
    text: str = ""
    tokens: int = 0
    shown: tuple[Node, ...] = ()
    left_out: int = 0


class WindowBuilder:
    """Builds whole windows. Thread-safe."""

    def __init__(
        self,
        parts: WindowParts,
        *,
        policy: BuilderPolicy,
        layers: LayerPolicy,
        context: ContextPolicy,
        choice: Choice,
    ) -> None:
        """`context`: how memories are shown; `choice`: how they are ranked."""
        self._parts = parts
        self._policy = policy
        self._layers = layers
        self._context = context
        self._lines = replace(context, item_chars=_WHOLE)
        self._choice = choice
        # The ranking of a source design gives no confidence.
        self._least = _SURE if context.min_confidence and choice.profile == HYBRID.profile else 0.0

    def build(
        self, scope: Scope, query: str, chats: Sessions, *, budget: int | None, session: str, language: str | None
    ) -> BuiltContext:
        """The window for a query; see `Memory.build_context`."""
        with self._parts.telemetry.span("biem.window") as span:
            built = self._built(scope, query, chats, budget=budget, session=session, language=language)
            span.add(tokens=built.tokens, items=len(built.hits), messages=len(built.messages))
        return built

    def _built(
        self, scope: Scope, query: str, chats: Sessions, *, budget: int | None, session: str, language: str | None
    ) -> BuiltContext:
        require_question(query, "the query")
        total = self._policy.total_budget if budget is None else budget
        require_count(total, "budget", _MOST_TOKENS)
        spoken = language_of(query, language)
        reading = self._parts.recaller.submit(lambda: self._parts.shelf.read(scope, self._policy.most))
        chat = chats.get(session) if session else None
        said = window_of(chats, chat, total) if chat else Window((), 0, 0)
        shares = _Shares(self._policy, total)
        query = _in_full(query, said)

        held = self._held(scope, _within(said, shares.of("session")))
        hits = self._found(scope, query, session=chat.name or chat.id if chat else "", held=held)
        shelf = reading.result()

        core = self._core(scope, shelf, shares.room("core"))
        shares.spend("core", core.tokens)
        found = self._relevant(scope, query, hits, core.shown, held, shares.room("long_term"))
        found_tokens = self._cost(found.text)
        shares.spend("long_term", found_tokens)
        shown = {node.id for node in core.shown} | {hit.node.id for hit in found.hits}
        recent = self._short_term(shelf, shares.room("short_term"), lambda node: node.id in shown or held.has(node))
        shares.spend("short_term", recent.tokens)
        room = shares.room("session")
        window = _within(said, room)

        text = "\n\n".join(part for part in (core.text, found.text, recent.text) if part)
        tokens = self._parts.count(text) + window.tokens
        listed: list[ContextWarning] = []
        if chat is not None:
            listed += warnings.of_session(chat.tokens, chats.policy, spoken)
        listed += warnings.of_short_term(shelf.short_terms, self._layers.short_term_most, spoken)
        listed += warnings.of_left_out("core_left_out", core.left_out, shares.limits["core"], spoken)
        listed += warnings.of_left_out("found_left_out", found.left_out, shares.limits["long_term"], spoken)
        listed += warnings.of_left_out("short_term_left_out", recent.left_out, shares.limits["short_term"], spoken)
        listed += warnings.of_left_out("messages_left_out", said.left_out + _cut(said, window), room, spoken)
        listed += warnings.of_budget(tokens, total, spoken)
        self._count_accesses(scope, hits, found)
        always = [Hit(node, 1.0, {"layer": node.layer, "energy": node.energy}) for node in (*core.shown, *recent.shown)]
        return BuiltContext(
            system=text,
            messages=tuple(window.chat),
            tokens=tokens,
            warnings=tuple(listed),
            hits=(*always[: len(core.shown)], *found.hits, *always[len(core.shown) :]),
            notes=found.notes,
            degraded=found.degraded,
            sections={
                "core": core.tokens,
                "long_term": found_tokens,
                "short_term": recent.tokens,
                "session": window.tokens,
            },
        )

    def _held(self, scope: Scope, window: Window) -> Known:
        """The memories of the messages in the window, unless their texts were revised since."""
        messages = [
            {"role": one.role, "content": one.content, "id": one.memory_id} for one in window.messages if one.memory_id
        ]
        held = known((), messages)
        if not held.written:
            return NOTHING
        return held.updated(self._parts.records.revised(scope.readable, list(held.written)))

    def _found(self, scope: Scope, query: str, *, session: str, held: Known) -> Hits:
        """Memories and notes for the query."""
        most, relevance = self._policy.top_k, self._parts.relevance
        noted = None
        if self._policy.notes_share and not is_courtesy(query):
            noted = self._parts.notes.begin(scope, query, top_k=most, tags=(), since=None, until=None)
        hits = self._parts.recaller.recall(
            scope,
            query,
            top_k=relevance.wanted(most),
            mode="auto",
            where=EVERYTHING,
            session=session,
            min_confidence=self._least,
            choice=self._choice,
            known=held,
            count=False,
            as_read=True,
        )
        hits = relevance.keep(scope, query, hits, most)
        if noted is not None:
            hits.notes = self._parts.sections.sure_notes(query, noted(hits))
            self._parts.notes.mark(scope, hits)
        return hits

    def _core(self, scope: Scope, shelf: Shelf, limit: int) -> _Section:
        """The user's own, then the project's, each by importance."""
        ordered = sorted(shelf.core, key=lambda node: bool(scope.project) and node.scope.ns == scope.ns)
        section = self._listed(CORE, ((node, told(node, node.text, self._lines)) for node in ordered), limit)
        return replace(section, left_out=section.left_out + shelf.cores - len(shelf.core))

    def _relevant(self, scope: Scope, query: str, hits: Hits, core: Sequence[Node], held: Known, limit: int) -> Context:
        shown = {node.id for node in core}
        hits[:] = [hit for hit in hits if hit.node.id not in shown]
        most = self._policy.top_k
        return self._parts.sections.brief(scope, query, hits, budget_tokens=limit, known=held, top_k=most, before=core)

    def _short_term(self, shelf: Shelf, limit: int, is_shown: Callable[[Node], bool]) -> _Section:
        """Newest first, as far as they are of the last days."""
        since = self._parts.clock.now() - timedelta(days=self._policy.short_term_days)
        nodes = [node for node in shelf.short_term if node.at >= since and not is_shown(node)]
        lines = ((node, f"[{_category(node)}] {told(node, node.text, self._lines)}") for node in nodes)
        section = self._listed(SHORT_TERM, lines, limit)
        unread = shelf.short_terms - len(shelf.short_term)
        return replace(section, left_out=section.left_out + unread)

    def _listed(self, heading: str, items: Iterable[tuple[Node, str]], limit: int) -> _Section:
        """A section of the items that fit, in their order; each line is counted with its line break."""
        left = limit - self._cost(f"{heading}\n")
        shown: list[Node] = []
        lines: list[str] = []
        left_out = 0
        for node, said in items:
            line = f"- {said}"
            cost = self._parts.count(f"{line}\n")
            if cost > left:
                left_out += 1
                continue
            left -= cost
            shown.append(node)
            lines.append(line)
        text = "\n".join([heading, "", *lines]) if lines else ""
        return _Section(text, self._cost(text), tuple(shown), left_out)

    def _cost(self, text: str) -> int:
        """Tokens of a section with the blank line before the next."""
        return self._parts.count(f"{text}\n\n") if text else 0

    def _count_accesses(self, scope: Scope, hits: Hits, found: Context) -> None:
        recalled = {hit.node.id for hit in hits}
        self._parts.recaller.accessed(scope, [hit.node.id for hit in found.hits if hit.node.id in recalled])


class _Shares:
    """The limits of the sections, in tokens, in their order."""

    def __init__(self, policy: BuilderPolicy, total: int) -> None:
        shares = {
            "core": policy.core,
            "long_term": policy.long_term,
            "short_term": policy.short_term,
            "session": policy.session,
        }
        self._own = {name: int(total * share) for name, share in shares.items()}
        self._flow = policy.flow
        self._left = 0
        self.limits: dict[str, int] = {}

    def of(self, name: str) -> int:
        """The share of a section."""
        return self._own[name]

    def room(self, name: str) -> int:
        """What a section may take: its share and what those before it left."""
        self.limits[name] = self._own[name] + (self._left if self._flow else 0)
        return self.limits[name]

    def spend(self, name: str, tokens: int) -> None:
        """What it took; the next section gets the rest."""
        self._left = max(0, self.limits[name] - tokens)


def language_of(text: str, language: str | None) -> str:
    """The language of warnings: the one that was named, else that of a text. Raises `InvalidInput`."""
    if language is None:
        return "zh" if _CHINESE.search(text) else "en"
    if language not in warnings.LANGUAGES:
        raise InvalidInput(f"language {language!r} is unknown; choose one of {', '.join(warnings.LANGUAGES)}")
    return language


def _within(window: Window, budget: int) -> Window:
    """A smaller window of the same messages, if that one is too large."""
    if window.tokens <= budget:
        return window
    system: Sequence[SessionMessage] = [one for one in window.messages if one.role == "system"]
    others = [one for one in reversed(window.messages) if one.role != "system"]
    return fitting(system, others, budget, len(window.messages))


def _cut(window: Window, smaller: Window) -> int:
    return len(window.messages) - len(smaller.messages)


def _category(node: Node) -> str:
    return named(str(node.metadata.get("category", ""))) or "note"


def _in_full(query: str, window: Window) -> str:
    """The query as it is meant after the messages of the window, where a person's name stands in for a pronoun."""
    said = [{"role": one.role, "content": one.content} for one in window.messages]
    plain = plain_question(simplified(query))
    asked = as_meant(plain, messages_in(said, query))
    return asked.text if asked.sure else plain
