"""Does a memory hold anything that a stranger's question asks? Told from the question's own evidence, without a model.

A question and its evidence meet in some words. Where no turn of another memory has three fifths of them, weighed by
how rare they are in the file, nothing there is about the question: it holds *nothing relevant*. Of a question of
several sentences, any one that asks is enough; where it names a day, only turns of that day count; and who asks only
for people of whom the other memory has never heard asks for nothing that it holds. Where question and evidence share no
word this cannot tell, and the memory counts as one that may hold something.

The evidence is known to the benchmark and not to biem, so this is no measure that confidence could use.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property

from benchmarks._data import Conversation, Question, Turn
from biem.adapters.analyzers import RuleAnalyzer
from biem.domain.times.windows import windows
from biem.engine.query.question import is_asked, named_in, sentences_of

_ENOUGH = 0.6


class Foreign:
    """The words of all turns of some conversations, and how rare they are."""

    def __init__(self, conversations: Sequence[Conversation]) -> None:
        self._conversations = conversations
        self._analyzer = RuleAnalyzer()
        self._known: dict[str, frozenset[str]] = {}

    def nothing(self, question: Question, own: Conversation, turns: Sequence[Turn]) -> bool:
        """Whether these turns of another person hold nothing relevant to a question about `own`."""
        if not turns:
            return True
        names = {turn.speaker: sorted(self._words(turn.speaker)) for turn in own.turns}
        named = [set(names[name]) for name in named_in(sorted(self._words(question.text)), names)]
        heard = [self._words(turn.indexed_text) for turn in turns]
        if named and not any(words.issuperset(name) for name in named for words in heard):
            return True
        asked = windows(question.text, turns[-1].at)
        texts = [
            self._words(turn.text) for turn in turns if not asked or any(begin <= turn.at < end for begin, end in asked)
        ]
        met = [words for words in self._met(question, own) if words]
        return not texts or (bool(met) and not any(self._holds(words, texts) for words in met))

    def _met(self, question: Question, own: Conversation) -> list[frozenset[str]]:
        """For each sentence that asks, the words in which it meets the evidence that has most of it."""
        evidence = frozenset[str]().union(*question.groups)
        gold = [self._words(turn.text) for turn in own.turns if turn.id in evidence]
        parts = sentences_of(question.text, lambda part: len(self._words(part)))
        asking = [part for part in parts if is_asked(part)] or [question.text]
        return [
            max((self._words(part) & words for words in gold), key=self._weight, default=frozenset()) for part in asking
        ]

    def _holds(self, met: frozenset[str], texts: Sequence[frozenset[str]]) -> bool:
        enough = _ENOUGH * self._weight(met)
        return any(self._weight(met & words) >= enough for words in texts)

    def _weight(self, words: Iterable[str]) -> float:
        """The sum of Lucene's idf."""
        holders, size = self._rarity
        return sum(math.log1p((size - holders[word] + 0.5) / (holders[word] + 0.5)) for word in words)

    @cached_property
    def _rarity(self) -> tuple[Counter[str], int]:
        texts = [self._words(turn.text) for one in self._conversations for turn in one.turns]
        return Counter(word for words in texts for word in words), len(texts)

    def _words(self, text: str) -> frozenset[str]:
        if text not in self._known:
            self._known[text] = frozenset(self._analyzer.lexemes(text))
        return self._known[text]
