"""From a snippet to topics and statements about them: by the language model where there is one, else by counting.

Without a model a topic is a keyword by frequency × rarity, and its item the most informative message that contains it,
verbatim (extractive): nothing is invented, and every item lists its source memories.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from biem.domain.concept import Message, Snippet, concept_id, salient
from biem.domain.merging import information
from biem.domain.policies.concepts import ConceptPolicy
from biem.domain.scope import Scope
from biem.domain.speech.acts import is_courtesy
from biem.domain.text import one_line
from biem.ports import Analyzer
from biem.ports.concepts import Named
from biem.ports.reasoner import Reasoner

_SENTENCES = re.compile(r"(?<=[.!?。！？;；\n])\s*")
_LINE_CHARS = 2_000
"""Maximum characters of a message that the language model reads."""
_MOST_MENTIONS = 8
"""Memories of a passage that are linked with a topic of it."""
_FEWEST_PAIRS = 2
"""Two adjacent words are a topic only when this many messages of a passage contain them."""


@dataclass(frozen=True, slots=True)
class SnippetText:
    """A topic of one passage, one statement about it, and its source memories."""

    topic: Named
    text: str
    sources: tuple[str, ...]
    """All sources of the text: when one of them is erased, the text is, too."""
    mentions: tuple[str, ...]
    """The memories most relevant to the topic."""


class Topics:
    """Finds the topics of passages. `reasoner` may be None."""

    def __init__(self, *, analyzer: Analyzer, policy: ConceptPolicy, reasoner: Reasoner | None = None) -> None:
        self._analyzer = analyzer
        self._policy = policy
        self._reasoner = reasoner
        self._banned = frozenset(self.key(word) for word in policy.banned)

    def named(self, scope: Scope, name: str) -> Named:
        """The concept of a name in a scope."""
        terms = tuple(dict.fromkeys(self._analyzer.lexemes(name)))
        return Named(concept_id(scope.ns, terms), one_line(name, 64), terms)

    def key(self, name: str) -> str:
        """Equal for spellings of one name."""
        return " ".join(dict.fromkeys(self._analyzer.lexemes(name)))

    def allowed(self, name: str) -> bool:
        """Whether it may be a topic: it has terms and is not banned."""
        key = self.key(name)
        return key != "" and key not in self._banned

    def of(
        self, scope: Scope, snippet: Snippet, messages: Sequence[Message], known: Mapping[str, int], snippets: int
    ) -> list[list[SnippetText]]:
        """The topics of each passage: a conversation is one, each fact is one. `known` counts items by concept id."""
        if not snippet.spoken:  # a fact is short and its own passage
            return [self._counted(scope, [message], known, snippets) for message in messages]
        told = self._reasoned(scope, messages)
        return [self._counted(scope, messages, known, snippets) if told is None else told]

    def candidates(self, scope: Scope, messages: Sequence[Message]) -> set[str]:
        """The ids of all concepts that these messages may mention."""
        limit = self._policy.fast_keywords
        words = {word for message in messages for word in self._analyzer.keywords(message.text, limit)}
        return {self.named(scope, word).id for word in words if self.allowed(word)}

    def _reasoned(self, scope: Scope, messages: Sequence[Message]) -> list[SnippetText] | None:
        if self._reasoner is None:
            return None
        found = self._reasoner.topics(scope, [one_line(message.line, _LINE_CHARS) for message in messages])
        if found is None:
            return None
        everything = tuple(message.id for message in messages)
        terms = {message.id: frozenset(self._analyzer.lexemes(message.line)) for message in messages}
        return [
            SnippetText(self.named(scope, topic.topic), text, everything, _closest(self._analyzer.lexemes(text), terms))
            for topic in found
            if self.allowed(topic.topic) and (text := one_line(topic.summary, self._policy.item_chars))
        ]

    def _counted(
        self, scope: Scope, messages: Sequence[Message], known: Mapping[str, int], snippets: int
    ) -> list[SnippetText]:
        mentions: dict[str, list[float]] = defaultdict(list)
        by_key: dict[str, list[Message]] = defaultdict(list)
        words: dict[str, str] = {}
        pairs: set[str] = set()
        for message in messages:
            if is_courtesy(message.text):
                continue
            found = self._analyzer.keywords(message.text, self._policy.fast_keywords)
            heard: set[str] = set()
            joined = {f"{a}{gap}{b}".casefold() for a in found for b in found for gap in ("", " ")}
            for place, word in enumerate(found):
                topic = self.named(scope, word)
                if topic.id in heard or not self.allowed(word):
                    continue
                heard.add(topic.id)
                if words.setdefault(topic.id, word).islower() and not word.islower():  # a name keeps its capital
                    words[topic.id] = word
                if word.casefold() in joined:
                    pairs.add(topic.id)
                mentions[topic.id].append(1.0 / (1.0 + 0.1 * place))
                by_key[topic.id].append(message)
        alone = {key for key in pairs if len(mentions[key]) < _FEWEST_PAIRS}
        topics: list[SnippetText] = []
        for key in salient(mentions, known, snippets, alone, self._policy.topics_per_snippet):
            topic, saying = self.named(scope, words[key]), by_key[key]
            spoken = tuple(message.id for message in saying[:_MOST_MENTIONS])
            texts = {message.id: self._excerpt(message, words[key]) for message in saying}
            richest = sorted(saying, key=lambda message: (-information(texts[message.id]), message.seq))
            topics += [
                SnippetText(topic, texts[message.id], (message.id,), spoken)
                for message in richest[: self._policy.items_per_topic]
            ]
        return topics

    def _excerpt(self, message: Message, word: str) -> str:
        """The message, or of a long one the sentences from the first one with the word."""
        limit = self._policy.item_chars
        line = one_line(message.line, len(message.line))
        if len(line) <= limit:
            return line
        sentences = _SENTENCES.split(message.text)
        saying = (at for at, sentence in enumerate(sentences) if word.casefold() in sentence.casefold())
        head = f"{message.speaker}: " if message.speaker else ""
        return one_line(head + " ".join(sentences[next(saying, 0) :]), limit)


def _closest(summary: Sequence[str], messages: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
    """The messages that share most terms with a summary."""
    shared = {key: len(terms.intersection(summary)) for key, terms in messages.items()}
    best = max(shared.values(), default=0)
    close = [key for key, count in shared.items() if count * 2 >= best > 0]
    return tuple(sorted(close, key=lambda key: -shared[key])[:_MOST_MENTIONS])
