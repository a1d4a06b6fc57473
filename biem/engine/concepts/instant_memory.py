"""Instant memory: a short note of a noteworthy message, available in its conversation's next turn.

The language model judges and writes it; without one a rule does: a message with anchors, verbatim. Building turns notes
into concepts when they are half a day old.
"""

import logging
from collections import defaultdict
from collections.abc import Sequence

from biem.domain.node import Node, new_id
from biem.domain.paging import MOST_ON_A_PAGE
from biem.domain.policies.concepts import ConceptPolicy
from biem.domain.prompt.lines import quoted
from biem.domain.scope import Scope
from biem.domain.speech.acts import is_courtesy
from biem.domain.text import one_line, require_count, require_string
from biem.errors import BiemError
from biem.ports import Analyzer, Clock
from biem.ports.concepts import InstantMemory, Instants
from biem.ports.reasoner import Reasoner

logger = logging.getLogger("biem.concepts")

_QUESTIONS = ("?", "？", "吗", "呢")
_HEADINGS = {"zh": "本次对话的记录：", "en": "Noted in this conversation:"}
_FEWEST_TERMS = 4
"""A name alone ("Hello Grace!") is not noteworthy."""


class InstantMaker:
    """Creates notes, in a worker and after the message is stored. `reasoner` may be None."""

    def __init__(
        self,
        *,
        instants: Instants,
        analyzer: Analyzer,
        clock: Clock,
        policy: ConceptPolicy,
        reasoner: Reasoner | None = None,
    ) -> None:
        self._instants = instants
        self._analyzer = analyzer
        self._clock = clock
        self._policy = policy
        self._reasoner = reasoner

    def create_and_store_memory(self, node: Node) -> bool:
        """Create a note if the message is noteworthy; returns whether it did. Never raises for a server or model
        that is down.
        """
        return self.create_and_store_memories([node]) > 0

    def create_and_store_memories(self, nodes: Sequence[Node]) -> int:
        """The same for many; returns how many were noted. One transaction a scope, unless a model writes them."""
        if self._reasoner is not None and len(nodes) > 1:  # each note is stored before the next call of the model
            return sum(map(self.create_and_store_memories, ([node] for node in nodes)))
        notes: dict[Scope, list[InstantMemory]] = defaultdict(list)
        kept = 0
        for node in nodes:
            try:
                if self._is_message(node) and self.if_need_build(node):
                    text, keywords = self.build_memory(node)
                    note = InstantMemory(
                        new_id(), node.id, node.conversation, text, keywords, self._clock.now(), revision=node.revision
                    )
                    notes[node.scope].append(note)
            except BiemError as error:
                logger.warning("no instant memory of message %s: %s", node.id, error)
        for scope, part in notes.items():
            try:
                kept += self._instants.add_all(scope, part)
            except BiemError as error:
                logger.warning("no instant memories of %d messages: %s", len(part), error)
        return kept

    def _is_message(self, node: Node) -> bool:
        return self._policy.enabled and self._policy.instant and node.kind == "event" and bool(node.conversation)

    def if_need_build(self, node: Node) -> bool:
        """Whether a message is noteworthy: the model's exact "1" or, where it does not answer, the rule."""
        if self._reasoner is not None:
            worth = self._reasoner.is_worth(node.scope, node.spoken_text)
            if worth is not None:
                return worth
        if node.importance >= self._policy.instant_importance:
            return True
        if is_courtesy(node.text):
            return False
        if node.text.rstrip().endswith(_QUESTIONS) or len(self._analyzer.lexemes(node.text)) < _FEWEST_TERMS:
            return False
        known = self._analyzer.analyze(node.text)
        fields = known.fields
        return bool(known.entities or fields.numbers or fields.names or fields.definitions or fields.symbols)

    def build_memory(self, node: Node) -> tuple[str, tuple[str, ...]]:
        """Text and keywords of the note: the model's or, where it returns nothing usable, the message's own."""
        policy = self._policy
        if self._reasoner is not None:
            found = self._reasoner.instant(node.scope, node.spoken_text)
            if found is not None and found.memory_text.strip():
                return one_line(found.memory_text, policy.item_chars), found.keywords[: policy.topics_per_snippet]
        words = self._analyzer.keywords(node.text, policy.topics_per_snippet)
        return one_line(node.spoken_text, policy.item_chars), tuple(words)

    def recent(self, scope: Scope, conversation: str, limit: int = 5) -> list[InstantMemory]:
        """Notes on the current conversation: at most `limit`, newest first; `[]` if switched off.

        Counts as a view of each. Raises `InvalidInput` for a conversation that is no storable text, and for a limit
        that is no integer from 1 to 500.
        """
        require_string(conversation, "conversation")
        require_count(limit, "limit", MOST_ON_A_PAGE)
        if not (self._policy.enabled and self._policy.instant):
            return []
        return self._instants.recent(scope, conversation, limit, self._clock.now())


def render(notes: Sequence[InstantMemory], language: str, item_chars: int) -> str:
    """Notes as a section of the prompt, oldest first: numbered, each in quotes that its text cannot close.

    `language` `zh` gives a Chinese heading, any other an English one. Empty for no notes.
    """
    if not notes:
        return ""
    oldest_first = sorted(notes, key=lambda note: (note.created_at, note.id))
    items = [f"{number}. {quoted(note.text, item_chars)}" for number, note in enumerate(oldest_first, start=1)]
    return "\n".join([_HEADINGS.get(language, _HEADINGS["en"]), *items])
