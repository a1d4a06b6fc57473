"""Running memory of a conversation, and the activator that updates it.

A message evokes new keywords, those of the last turns stay, and memories they activate are prepared for a few turns.
The state is stored by conversation, so that it outlives a message and is shared by all workers.
"""

import logging
from collections.abc import Sequence
from typing import Protocol

from biem.domain.concept import Recollection
from biem.domain.policies.concepts import ConceptPolicy
from biem.domain.prompt.lines import harmless, quoted
from biem.domain.running_memory import Running, RunningMemory, next_turn, with_keywords
from biem.domain.scope import Scope
from biem.domain.text import require_string
from biem.errors import StoreUnavailable
from biem.ports import Analyzer
from biem.ports.hot import RunningMemoryStore
from biem.ports.reasoner import Reasoner

logger = logging.getLogger("biem.concepts")

_TRIES = 5
"""Two workers may process a turn of one conversation at once; the slower one repeats it on the other's result."""
_HEADINGS = {"zh": "相关记忆：", "en": "Related memories:"}


class Reminds(Protocol):
    """The part of `engine.concepts.recollect.Reminder` that an activator needs."""

    def from_topics(self, scope: Scope, keywords: Sequence[str]) -> list[Recollection]:
        """Recollections for keywords."""

    def living(self, scope: Scope, running: Sequence[Running]) -> tuple[Running, ...]:
        """The items that may still be shown."""


class Activator:
    """Keywords → concepts → running memory, a turn at a time. `reasoner` may be None."""

    def __init__(
        self,
        *,
        running_memory: RunningMemoryStore,
        reminder: Reminds,
        analyzer: Analyzer,
        policy: ConceptPolicy,
        reasoner: Reasoner | None = None,
    ) -> None:
        self._running_memory = running_memory
        self._reminder = reminder
        self._analyzer = analyzer
        self._policy = policy
        self._reasoner = reasoner

    def activate(self, scope: Scope, conversation: str, message: str, history: str = "") -> tuple[Running, ...]:
        """Process one turn of a conversation; returns the items for the reply to `message`, oldest first.

        `history` is the chat so far, for the language model. Without Redis each turn starts empty.
        """
        for text, what in ((message, "message"), (conversation, "conversation"), (history, "history")):
            require_string(text, what)
        if not self._policy.enabled:
            return ()
        state = self._load(scope, conversation)
        new = self._keywords(scope, message, history, state.keywords)
        found: list[Recollection] | None = None
        for _ in range(_TRIES):
            keywords = self._cached(state, new)
            if found is None:
                found = self._reminder.from_topics(scope, keywords)
            policy = self._policy
            running = next_turn(
                self._reminder.living(scope, state.running),
                found,
                turns=policy.running_turns,
                most=policy.running_items,
                similarity=policy.running_similarity,
            )
            if self._save(scope, conversation, RunningMemory(keywords, running, state.version)):
                break
            state = self._load(scope, conversation)
        return running

    def _cached(self, state: RunningMemory, new: Sequence[str]) -> tuple[str, ...]:
        return with_keywords(state.keywords, new, most=self._policy.cached_keywords, kept=self._policy.kept_keywords)

    def _keywords(self, scope: Scope, message: str, history: str, cached: Sequence[str]) -> list[str]:
        """The keywords of a message: from the small model, else by segmentation."""
        limit = self._policy.cached_keywords
        if self._reasoner is not None and self._policy.keywords == "precise":
            found = self._reasoner.for_reply().keywords(scope, message, history=history, known=cached, limit=limit)
            if found is not None:
                return found
        return self._analyzer.keywords(message, limit)[::-1]  # the cache drops its oldest: the best come last

    def _load(self, scope: Scope, conversation: str) -> RunningMemory:
        try:
            return self._running_memory.load(scope, conversation)
        except StoreUnavailable as error:
            logger.info("running memory starts empty: %s", error)
            return RunningMemory()

    def _save(self, scope: Scope, conversation: str, state: RunningMemory) -> bool:
        policy = self._policy
        try:
            return self._running_memory.save(
                scope, conversation, state, most=policy.conversations, ttl_s=policy.state_ttl_s
            )
        except StoreUnavailable as error:
            logger.info("running memory was not saved: %s", error)
            return True


def render(running: Sequence[Running], language: str, item_chars: int, *, bare: bool = False) -> str:
    """Running memory as text for the prompt: a numbered list; empty for no items.

    `language` `zh` gives a Chinese heading, any other an English one. Topic and text are in quotation marks; `bare`:
    without, as in Hippocampus. A stored text cannot leave its line.
    """
    if not running:
        return ""
    items = [
        f"{harmless(one.topic, 64)}: {harmless(one.content, item_chars)}"
        if bare
        else f"topic {quoted(one.topic, 64)}: {quoted(one.content, item_chars)}"
        for one in running
    ]
    numbered = (f"{number}. {line}" for number, line in enumerate(items, start=1))
    return "\n".join([_HEADINGS.get(language, _HEADINGS["en"]), *numbered])
