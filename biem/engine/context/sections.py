"""Builds the context block from its sections.

    core (always, within its share) → relevant → recently useful (optional, within its share) → originals in strict
    mode → newest texts → notes (within their share, and what the others leave) → untrusted memories
    (`biem.engine.context.unverified_section`)

Notes that are more likely to answer than the memories stand above these, below the core.
The rest of a section's budget goes to the next one; items are never cut to fit, and no memory is shown twice. An
unavailable section is skipped and reported.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import zip_longest
from typing import TYPE_CHECKING

from biem.domain.node import Hit, Hits, Node, as_written
from biem.domain.notes.library import NoteHits
from biem.domain.policies.context import ContextPolicy
from biem.domain.prompt.contents import NOTHING, Known
from biem.domain.prompt.lines import told
from biem.domain.scope import Scope
from biem.domain.tokens import estimate_tokens
from biem.domain.trust import UNTRUSTED
from biem.engine.context.block import BlockReader, Context, Omission, listed, note_of_doubt, render
from biem.engine.context.lines import only_asks
from biem.engine.context.notes_section import near_best, noted
from biem.engine.context.picking import Bar, Picker
from biem.engine.context.unverified_section import unverified
from biem.engine.query.request import admits
from biem.errors import BiemError, InvalidInput
from biem.ports import EVERYTHING, Analyzer, Filter, HotStore, Records
from biem.ports.contradiction import ContradictionRules
from biem.ports.embedding import NO_READERS, PairReaders
from biem.ports.layers.sessions import TokenCounter
from biem.ports.readers import CoreReader
from biem.telemetry import Telemetry

if TYPE_CHECKING:
    from biem.engine.context.calendar import TimedHits

logger = logging.getLogger("biem.context")

CORE = "## Core Memories"
USEFUL = "## Useful Before"
ORIGINALS = "## Originals"
RECENT = "## Recent Messages"
_ORDERS = 3
"""Most orders about the form of all answers that a block tells."""
_SURELY = 0.75
"""Probability from which a piece of a query counts as answered."""
_READ = 8_000
"""Characters of a query used to shorten long texts: the rest of a pasted document would cost seconds."""


class ContextBuilder:
    """Builds context blocks. Thread-safe."""

    def __init__(
        self,
        *,
        core: CoreReader,
        records: Records,
        hot: HotStore,
        analyzer: Analyzer,
        rules: ContradictionRules,
        policy: ContextPolicy,
        telemetry: Telemetry,
        count: TokenCounter = estimate_tokens,
        readers: PairReaders = NO_READERS,
    ) -> None:
        """`readers`: see `Picker`."""
        self._core = core
        self._records = records
        self._hot = hot
        self._analyzer = analyzer
        self._picker = Picker(rules, analyzer, policy, readers)
        self._readers = readers
        self._policy = policy
        self._telemetry = telemetry
        self._count = count
        self._plain = BlockReader(count=count)

    def sure_notes(self, query: str, found: NoteHits) -> NoteHits:
        """The notes found for a query; none where they do not answer probably (`notes_min_confidence`)."""
        if found and self._policy.notes_min_confidence and self._readers.answering is not None:
            from biem.engine.context.note_reading import confidence  # noqa: PLC0415  many scopes have no notes

            read = confidence(found, query[:_READ], self._readers.answering, self._analyzer.lexemes)
            found = NoteHits(found, confidence=read, degraded=found.degraded)
        return found.if_sure(self._policy.notes_min_confidence)

    def brief(
        self,
        scope: Scope,
        query: str,
        hits: Hits,
        *,
        each: Sequence[tuple[str, Hits]] = (),
        pieces: Sequence[tuple[str, Hits]] = (),
        timed: "TimedHits | None" = None,
        orders: Sequence[Hit] = (),
        budget_tokens: int,
        where: Filter = EVERYTHING,
        known: Known = NOTHING,
        top_k: int | None = None,
        before: Sequence[Node] = (),
    ) -> Context:
        """The block for at most `top_k` relevant hits of this query; empty text without any.

        `each`: the questions of a query that asks several, with their hits; the best line for each comes first.
        `timed`: what was told of the time that a question asks for.
        `pieces`: parts of a query that may ask for something; the best line for each that is surely answered is last.
        `orders`: what holds for every answer; these lines come after all others.

        Hits that repeat a memory which the prompt has `before` it are left out.

        Memories of other sections match `where`, too, and are not `known` to the prompt.

        A budget below 1 gives an empty block; one that is no whole number raises `InvalidInput`.
        """
        if isinstance(budget_tokens, bool) or not isinstance(budget_tokens, int):
            raise InvalidInput(f"budget_tokens must be a whole number of tokens, not {budget_tokens!r}")
        policy, degraded = self._policy, list(hits.degraded)
        reader = BlockReader(set(self._analyzer.lexemes(query[:_READ])), self._analyzer.lexemes, self._count)

        def is_news(node: Node) -> bool:
            return node.trust != UNTRUSTED and admits(where, node) and not known.has(node)

        with self._telemetry.span("biem.context") as span:
            always, shown = self._always(scope, min(budget_tokens, policy.core_tokens), where.as_of, is_news)
            sections, left = [always], budget_tokens - self._cost(always)
            answers = near_best(hits.notes, policy)
            section, notes = noted(answers, policy, reader, int(left * policy.notes_share))
            left -= self._cost(section)
            told_first = {hit.node.id for hit in shown}
            share = min(policy.slot_tokens, left // 2) if policy.slots else 0
            personal = hits.grounds.get("personal", 0.0)
            worth, sure = self._chosen(query, hits, told_first, top_k)
            if timed is not None and timed.asked.only:
                happening = [hit for hit in timed.hits if hit.node.id not in told_first]
                worth, sure = happening if timed.asked.ahead or top_k is None else happening[-top_k:], None
            elif timed is not None:
                then, sure_then = self._chosen(timed.asked.topic, timed.hits, told_first, top_k, timed.bar)
                if timed.asked.which or (then and (sure is None or sure_then is None or sure_then >= sure)):
                    worth, sure = timed.ordered(then), sure_then
            elif each:
                worth, sure = _merged([self._chosen(one, found, told_first, top_k) for one, found in each], worth, sure)
            elif pieces:
                chosen = (self._chosen(one, found, told_first, top_k) for one, found in pieces)
                best = [hits[0] for hits, surely in chosen if hits and surely is not None and surely >= _SURELY]
                there = {hit.node.id for hit in worth}
                worth += {hit.node.id: hit for hit in best if hit.node.id not in there}.values()
            if orders:
                worth, sure = _with_orders(worth, orders, top_k), sure if worth else None
            first = [*(hit.node for hit in shown), *before]
            note = note_of_doubt(sure, query[:_READ], policy)
            block = render(as_written(worth), policy, left - share, (), reader, top_k, first, note)
            sections.append(block.text)
            left -= self._cost(block.text)
            shown += block.hits
            if share > 0:
                told_now = {hit.node.id for hit in shown}
                kept, useful = self._useful(scope, told_now, share - 1, where.as_of, is_news)
                sections.append(kept)
                left -= self._cost(kept)
                shown += useful
            originals = listed(ORIGINALS, _originals(block.hits, policy), left, reader)
            sections.append(originals)
            left -= self._cost(originals)
            if policy.recent:
                ids = {hit.node.id for hit in shown}
                sections.append(self._newest(scope, ids, left, degraded, where.as_of, is_news))
                left -= self._cost(sections[-1])
            if section and len(notes) < len(answers):  # what memories leave goes to notes
                left += self._cost(section)
                section, notes = noted(answers, policy, reader, left)
                left -= self._cost(section)
            sections.insert(1 if _notes_are_surer(hits) else len(sections), section)
            doubtful = self._doubtful(hits, query[:_READ], top_k, personal)
            last, untrusted = unverified(as_written(doubtful), shown, query, policy, reader, budget_tokens, left)
            sections.append(last)
            shown += untrusted
            text = "\n\n".join(section for section in sections if section)
            span.add(items=len(shown), notes=len(notes), tokens=self._count(text))
        degraded += [server for server in hits.notes.degraded if server not in degraded]
        left_out = block.left_out + len(answers) - len(notes)
        omitted = {**_passed_over(hits, worth, top_k), **block.omitted}
        for hit in shown:
            omitted.pop(hit.node.id, None)
        return Context(text, tuple(shown), tuple(degraded), hits.indexing, notes, left_out, omitted, sure)

    def _chosen(
        self,
        question: str,
        hits: Hits,
        told_first: set[str],
        top_k: int | None,
        bar: Bar | None = None,
    ) -> tuple[list[Hit], float | None]:
        """The hits to show, best first, and the probability that one of them answers."""
        found = [hit for hit in hits if hit.node.id not in told_first and hit.node.trust != UNTRUSTED]
        measured, lists = hits.confidence if hits.grounds else None, hits.grounds.get("lists", 0.0)
        return self._picker.choose(
            found, question[:_READ], measured, top_k, hits.grounds.get("personal", 0.0), bar, lists
        )

    def _doubtful(self, hits: Sequence[Hit], question: str, top_k: int | None, personal: float) -> list[Hit]:
        """The untrusted ones that answer, by their own confidence."""
        apart = [hit for hit in hits if hit.node.trust == UNTRUSTED]
        if not apart:
            return []
        sure = apart[0].why.get("confidence")
        return self._picker.pick(apart, question, sure if isinstance(sure, float) else None, top_k, personal)

    def _always(
        self, scope: Scope, budget_tokens: int, as_of: datetime | None, is_news: Callable[[Node], bool]
    ) -> tuple[str, list[Hit]]:
        """Core memories that fit into their share."""
        if budget_tokens <= 0 or not self._policy.core_most:
            return "", []
        nodes = [node for node in self._core.core(scope.readable, self._policy.core_most, as_of=as_of) if is_news(node)]
        section, shown = self._section(CORE, self._lines(nodes[::-1]), budget_tokens)
        return section, [Hit(node, 1.0, {"layer": node.layer, "energy": node.energy}) for node in shown]

    def _useful(
        self,
        scope: Scope,
        shown: set[str],
        budget_tokens: int,
        as_of: datetime | None,
        is_news: Callable[[Node], bool],
    ) -> tuple[str, list[Hit]]:
        """Memories useful in the last turns and not shown yet, latest first."""
        nodes = self._core.useful(scope.readable, self._policy.slots_of_kinds)
        if as_of is not None:
            nodes = self._live(scope, [node.id for node in nodes], as_of)
        lines = self._lines(node for node in nodes[::-1] if node.id not in shown and is_news(node))
        section, kept = self._section(USEFUL, lines, budget_tokens)
        return section, [Hit(node, 1.0, {"slot": node.kind, "energy": node.energy}) for node in kept]

    def _newest(
        self,
        scope: Scope,
        shown: set[str],
        budget_tokens: int,
        degraded: list[str],
        as_of: datetime | None,
        is_news: Callable[[Node], bool],
    ) -> str:
        """Newest texts of HotKV that are not shown yet, oldest first."""
        try:
            entries = self._hot.recent(scope, self._policy.recent)
        except BiemError as error:
            logger.warning("the context block omits the newest texts: %s", error)
            if "redis" not in degraded:
                degraded.append("redis")
            return ""
        ids = [entry.id for entry in reversed(entries) if entry.id not in shown]
        nodes = [node for node in self._live(scope, ids, as_of) if is_news(node)]
        return listed(RECENT, self._lines(nodes), budget_tokens, self._plain)

    def _live(self, scope: Scope, ids: Sequence[str], as_of: datetime | None) -> list[Node]:
        """The live state of these, or with `as_of` what stood then, in this order."""
        where = Filter(as_of=as_of)
        live = self._records.candidates(scope.readable, ids, (), where, pending_limit=0, evidence=False)
        return [live.nodes[key] for key in ids if key in live.nodes]

    def _lines(self, nodes: Iterable[Node]) -> dict[str, Node]:
        return {told(node, node.text, self._policy): node for node in nodes}

    def _section(self, heading: str, said: dict[str, Node], budget_tokens: int) -> tuple[str, list[Node]]:
        """A section of those lines that fit, last first, and the memories that it shows."""
        section = listed(heading, reversed(said), budget_tokens, self._plain)
        lines = set(section.splitlines())
        return section, [said[line] for line in reversed(said) if f"- {line}" in lines]

    def _cost(self, section: str) -> int:
        """Tokens of a section with the blank line before the next."""
        return self._count(f"{section}\n\n") if section else 0


def _with_orders(worth: Sequence[Hit], orders: Sequence[Hit], top_k: int | None) -> list[Hit]:
    """The lines with those of orders behind them, which take half of the places at most, and not the only one."""
    places = _ORDERS if top_k is None else min(_ORDERS, (top_k + 1) // 2, top_k - bool(worth))
    last = orders[:places]
    ids = {hit.node.id for hit in last}
    others = [hit for hit in worth if hit.node.id not in ids]
    return [*others[: None if top_k is None else top_k - len(last)], *last]


def _merged(
    each: Sequence[tuple[list[Hit], float | None]], whole: list[Hit], sure: float | None
) -> tuple[list[Hit], float | None]:
    """The hits for several questions, the best for each first; those for the whole query last if a question has none.

    Only these if no question has any.
    """
    if not any(hits for hits, _ in each):
        return whole, sure
    turns = (hit for best in zip_longest(*(hits for hits, _ in each)) for hit in best if hit is not None)
    left = () if all(hits for hits, _ in each) else whole
    merged = dict[str, Hit]()
    for hit in (*turns, *left):
        before = merged.setdefault(hit.node.id, hit)
        if before is not hit:
            merged[hit.node.id] = replace(before, told=tuple(dict.fromkeys([*before.told, *hit.told])))
    known = [one for _, one in each if one is not None]
    return list(merged.values()), max(known, default=sure)


def _notes_are_surer(hits: Hits) -> bool:
    """Whether the notes more likely answer than the memories, where the confidence of these was measured."""
    return bool(hits.grounds) and hits.notes.confidence > hits.confidence


def _passed_over(hits: Sequence[Hit], picked: Sequence[Hit], most: int | None) -> dict[str, Omission]:
    """Why hits are not among those picked for a block."""
    chosen = {hit.node.id for hit in picked}
    full = most is not None and len(picked) >= most

    def why(node: Node) -> Omission:
        if node.trust == UNTRUSTED:
            return "untrusted"
        if not picked:
            return "unsure"
        return "asks" if only_asks(node) else "places" if full else "weaker"

    return {hit.node.id: why(hit.node) for hit in hits if hit.node.id not in chosen}


def _originals(hits: Sequence[Hit], policy: ContextPolicy) -> list[str]:
    """For strict mode: the originals of texts that the items show in part."""
    whole = replace(policy, item_chars=policy.original_chars)
    return [
        told(hit.node, hit.evidence, whole)
        for hit in hits
        if hit.evidence is not None and len(hit.evidence) > policy.item_chars
    ]
