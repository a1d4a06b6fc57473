"""What an agent is told before a call: the sections of the context block, put together (C31, A40).

    core (always, in its share) → relevant → what was of use last (in its share, where wanted) → originals in strict
    mode → newest texts

What a section leaves of the budget flows to the next; no item is cut to fit, and nothing is told twice. A part that is
down is left out and named.
"""

import logging
from collections.abc import Sequence

from biem.domain.context_policy import ContextPolicy
from biem.domain.node import Hit, Hits, Node
from biem.domain.scope import Scope
from biem.engine.context import Context, Reader, estimate_tokens, harmless, listed, render
from biem.errors import BiemError, InvalidInput
from biem.ports import Analyzer, Clock, Filter, HotStore, Records
from biem.ports.core import CoreReader
from biem.telemetry import Telemetry

logger = logging.getLogger("biem.context")

CORE = "## Core Memories"
USEFUL = "## Useful Before"
ORIGINALS = "## Originals"
RECENT = "## Recent Messages"
_READ = 8_000
"""Characters of a query after whose words long texts are cut: the rest of a pasted document would cost seconds."""


class Briefer:
    """Builds context blocks. Thread-safe."""

    def __init__(
        self,
        *,
        core: CoreReader,
        records: Records,
        hot: HotStore,
        analyzer: Analyzer,
        clock: Clock,
        policy: ContextPolicy,
        telemetry: Telemetry,
    ) -> None:
        self._core = core
        self._records = records
        self._hot = hot
        self._analyzer = analyzer
        self._clock = clock
        self._policy = policy
        self._telemetry = telemetry

    def brief(self, scope: Scope, query: str, hits: Hits, *, budget_tokens: int) -> Context:
        """The block for these hits of this query; empty text when there is nothing to tell.

        A budget below 1 leaves room for nothing; what is no whole number is `InvalidInput`.
        """
        if isinstance(budget_tokens, bool) or not isinstance(budget_tokens, int):
            raise InvalidInput(f"budget_tokens must be a whole number of tokens, not {budget_tokens!r}")
        policy, degraded = self._policy, list(hits.degraded)
        reader = Reader(set(self._analyzer.lexemes(query[:_READ])), self._analyzer.lexemes, self._clock.now())
        with self._telemetry.span("biem.context") as span:
            always, shown = self._always(scope, min(budget_tokens, policy.core_tokens))
            sections, left = [always], budget_tokens - _cost(always)
            known = {hit.node.id for hit in shown}
            share = min(policy.slot_tokens, left // 2) if policy.slots else 0
            block = render([hit for hit in hits if hit.node.id not in known], policy, left - share, (), reader)
            sections.append(block.text)
            left -= _cost(block.text)
            shown += block.hits
            if share > 0:
                kept, told = self._useful(scope, {hit.node.id for hit in shown}, share - 1)
                sections.append(kept)
                left -= _cost(kept)
                shown += told
            originals = listed(ORIGINALS, _originals(block.hits, policy), left)
            sections.append(originals)
            left -= _cost(originals)
            if policy.recent:
                sections.append(self._newest(scope, {hit.node.id for hit in shown}, left, degraded))
            text = "\n\n".join(section for section in sections if section)
            span.add(items=len(shown), tokens=estimate_tokens(text))
        return Context(text, tuple(shown), tuple(degraded))

    def _always(self, scope: Scope, budget_tokens: int) -> tuple[str, list[Hit]]:
        """The core memories that fit into their share."""
        if budget_tokens <= 0 or not self._policy.core_most:
            return "", []
        nodes = self._core.core(scope.readable, self._policy.core_most)
        section, told = _told(
            CORE, {harmless(node.text, self._policy.item_chars): node for node in nodes[::-1]}, budget_tokens
        )
        return section, [Hit(node, 1.0, {"layer": node.layer, "energy": node.energy}) for node in told]

    def _useful(self, scope: Scope, shown: set[str], budget_tokens: int) -> tuple[str, list[Hit]]:
        """What was of use in the last turns and is not told yet, the last first."""
        nodes = self._core.useful(scope.readable, self._policy.slots_of_kinds)
        said = {_message(node, self._policy): node for node in nodes[::-1] if node.id not in shown}
        section, told = _told(USEFUL, said, budget_tokens)
        return section, [Hit(node, 1.0, {"slot": node.kind, "energy": node.energy}) for node in told]

    def _newest(self, scope: Scope, shown: set[str], budget_tokens: int, degraded: list[str]) -> str:
        """The newest texts of HotKV that are not told yet, oldest first."""
        try:
            entries = self._hot.recent(scope, self._policy.recent)
        except BiemError as error:
            logger.warning("the block goes without the newest texts: %s", error)
            if "redis" not in degraded:
                degraded.append("redis")
            return ""
        ids = [entry.id for entry in reversed(entries) if entry.id not in shown]
        live = self._records.candidates(scope.readable, ids, (), Filter(), pending_limit=0, evidence=False)
        nodes = [live.nodes[key] for key in ids if key in live.nodes]
        return listed(RECENT, (_message(node, self._policy) for node in nodes), budget_tokens)


def _told(heading: str, said: dict[str, Node], budget_tokens: int) -> tuple[str, list[Node]]:
    """A section of these lines, last first, as far as they fit, and the memories that it tells."""
    section = listed(heading, reversed(said), budget_tokens)
    lines = set(section.splitlines())
    return section, [said[line] for line in reversed(said) if f"- {line}" in lines]


def _cost(section: str) -> int:
    """Tokens of a section with the blank line before the next."""
    return estimate_tokens(f"{section}\n\n") if section else 0


def _originals(hits: Sequence[Hit], policy: ContextPolicy) -> list[str]:
    """What strict mode adds: the originals of the texts that the items show in part."""
    return [
        harmless(hit.evidence, policy.original_chars)
        for hit in hits
        if hit.evidence is not None and len(hit.evidence) > policy.item_chars
    ]


def _message(node: Node, policy: ContextPolicy) -> str:
    said = harmless(node.text, policy.item_chars)
    return f"{harmless(node.speaker, 40)}: {said}" if node.speaker else said
