"""Reasons for a hit, for display: at most three short phrases in the question's language, derived from the signals.

Each phrase represents signals whose contribution to the score is above the pool's mean; without them the hit would rank
lower. What the hit itself has of the question (words, a speaker, a day) comes first, then the words around it, then, up
to two phrases, likeness of meaning, which holds of nearly every hit; among these the largest contribution comes first.
Pure functions, thread-safe.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from biem.engine.recall.rank.pool import OFFSETS, Pool
from biem.engine.recall.rank.score import NAMES, Ranked
from biem.lazy import lazy
from biem.ports.readers import Turn

_MOST, _ENOUGH = 3, 2
"""Phrases in all, and those to which general ones fill up."""
_LEAST = 0.2
"""Minimum log-odds above the pool's mean for a phrase."""
_FEW = 4
"""Minimum candidates for a meaningful mean."""
_WORDS_SHOWN = 3
_READ = 2_000
"""Characters of a question in which places of its words are looked for."""
_SAME = 0.6
"""Minimum similarity of a text that says the same as the question."""

_ASKS = re.compile(
    "什么(?:时候|地方|样)?|为什么|怎么样?|哪(?:一?[个家天年月里儿些位种次])?|多少钱?|多[大久长远高]|几[号点个次年月天位岁时]?"
    "|是不是|有没有|谁|[吗呢]"
)
"""Chinese words of a question that name nothing in it, so that they are no reason."""

_WORDS, _AROUND = (
    ("sentence_words", "words_around"),
    ("dense_around", "session_words", "session_dense", "session_dense3"),
)
_SIGNALS = {
    "meaning": ("sentence_dense",),
    "words": _WORDS,
    "beside": _AROUND,
    "reply": ("reply",),
    "bridge": ("bridge",),
    "speaker": ("speaker",),
    "time": ("when",),
    "day": ("day",),
    "used": ("frequency", "energetic"),
    "important": ("importance",),
    "recent": ("recent", "mirror"),
}
_WORDLESS = {cause: names for cause, names in _SIGNALS.items() if cause != "words"} | {"beside": (*_AROUND, *_WORDS)}
"""Those of a turn without a word of the question."""
_ALONE = {cause: names for cause, names in _SIGNALS.items() if cause != "beside"} | {
    "meaning": ("sentence_dense", "dense_around", "session_dense", "session_dense3"),
    "words": (*_WORDS, "session_words"),
}
"""Those of a turn without surroundings: its own words and meaning stand for them …"""
_ALONE_WORDLESS = {cause: names for cause, names in _ALONE.items() if cause != "words"}
"""… and where it has no word of the question either."""
_COLUMN = {name: column for column, name in enumerate(NAMES)}
_ORDERING = {"activation": "linked", "inherited": "newer", "revises": "newer", "anchor": "value"}
_LATER = {"around": 1, "meaning": 2, "beside": 2}
"""Phrases behind those of the hit itself, and (2) those that tell nothing of the question."""
_PHRASES = {
    "en": {
        "same": "says the same as you ask",
        "meaning": "close in meaning to what you ask",
        "words": "has your words: {}",
        "names": "names {}",
        "around": "said around your words: {}",
        "beside": "from a conversation about it",
        "reply": "answers a question with your words",
        "bridge": "completes another hit",
        "speaker": "said by {}, whom you name",
        "time": "said near the time you ask about",
        "day": "said on the day you ask about",
        "used": "used often lately",
        "important": "marked as important",
        "recent": "said lately",
        "linked": "linked with another hit",
        "newer": "newer than what it replaces",
        "value": "has the value you ask for",
    },
    "zh": {
        "same": "说的正是所问的内容",
        "meaning": "与所问意思相近",
        "words": "含有你的词：{}",
        "names": "提到{}",
        "around": "前后提到：{}",
        "beside": "出自谈及此事的对话",
        "reply": "回答了含有你的词的问题",
        "bridge": "补充了另一条记忆",
        "speaker": "出自你提到的{}",
        "time": "说于你所问的时间前后",
        "day": "说于你所问的那天",
        "used": "近来常用",
        "important": "被标为重要",
        "recent": "新近所说",
        "linked": "与另一条记忆有关联",
        "newer": "比它取代的说法更新",
        "value": "含有你所问的值",
    },
}


class Reasons:
    """Phrases for the candidates of one answer. What these have in common is read once, at the first of them."""

    def __init__(
        self,
        ranked: Ranked,
        question: str,
        words: Mapping[str, str],
        names: Sequence[tuple[str, Sequence[str]]],
        *,
        chinese: bool,
    ) -> None:
        """`words`: the question's words by index term, `names`: its names with their index terms, both without those
        that no score counts.
        """
        self._ranked = ranked
        self._question = question[:_READ]
        self._words = words
        self._asked = frozenset(words)
        self._names = names
        self._phrases = _PHRASES["zh" if chinese else "en"]
        self._between = "、" if chinese else ", "
        self._terms_of: dict[int, frozenset[str]] = {}

    def of(self, place: int, turn: Turn, noted: Mapping[str, float | str], likeness: float | None) -> tuple[str, ...]:
        """Phrases for one candidate. `noted`: other changes of its score."""
        told: list[tuple[int, float, str]] = []
        held, words = set(turn.lexemes), self._words
        own = [term for term in words if term in held]
        parts = self._contributions(place, noted, worded=bool(own))
        strong = [one for one in parts.items() if one[1] >= _LEAST] or sorted(parts.items(), key=lambda one: -one[1])[
            :1
        ]
        for cause, part in strong:
            name, shown = cause, [turn.speaker]
            if cause == "words":
                shown = [name for name, terms in self._names if terms and held.issuperset(terms)]
                name = "names" if shown else "words"
                shown = shown or self._written(own) or [words[term] for term in own]
            elif cause == "beside":
                shown = self._written(self._around(place, [term for term in words if term not in held]))
                name = "around" if shown else "beside"
            elif cause == "meaning" and likeness is not None and likeness >= _SAME:
                name = "same"
            phrase = self._phrases[name].format(self._between.join(shown[:_WORDS_SHOWN]))
            told.append((_LATER.get(name, 0), part, phrase))
        told.sort(key=lambda one: (one[0], -one[1]))
        telling = sum(later < 2 for later, _, _ in told)
        return tuple(phrase for _, _, phrase in told[: min(_MOST, max(telling, _ENOUGH))])

    def _contributions(self, place: int, noted: Mapping[str, float | str], *, worded: bool) -> dict[str, float]:
        """Contribution of each cause to a score, relative to the mean of the pool; those above it.

        `worded`: the candidate has words of the question; the score for words is that of its surroundings otherwise.
        """
        causes = signals_of(self._ranked.pool, place, worded=worded)
        own = self._above[place]
        parts = {cause: sum([own[_COLUMN[name]] for name in names]) for cause, names in causes.items()}
        for name, cause in _ORDERING.items():
            value = noted.get(name)
            if isinstance(value, float):
                parts[cause] = parts.get(cause, 0.0) + value
        return {cause: part for cause, part in parts.items() if part > 0}

    @lazy
    def _above(self) -> list[list[float]]:
        """What each signal adds to each score, above the mean of the pool."""
        added = self._ranked.signals * self._ranked.weights
        above: list[list[float]] = (added - added.mean(axis=0) if len(added) >= _FEW else added).tolist()
        return above

    def _terms(self, place: int) -> frozenset[str]:
        """The words of the question that a candidate has: those around a hit are around the hits beside it, too."""
        if place not in self._terms_of:
            assert self._ranked.pool is not None
            held = self._ranked.pool.candidates[place].lexemes
            self._terms_of[place] = self._asked.intersection(held)
        return self._terms_of[place]

    def _around(self, place: int, terms: Sequence[str]) -> list[str]:
        """Those of the terms that turns up to two away have, else those that others of the session have."""
        pool = self._ranked.pool
        if pool is None:
            return []
        near = [index for index in (int(pool.beside[offset][place]) for offset in OFFSETS) if index >= 0]
        session = [index for index in np.flatnonzero(pool.session == pool.session[place]).tolist() if index != place]
        for places in (near, session):
            held = frozenset[str]().union(*map(self._terms, places))
            if found := [term for term in terms if term in held]:
                return found
        return []

    def _written(self, terms: Iterable[str]) -> list[str]:
        """Terms as the question writes them: none that is a part of another, and those that overlap (葡萄, 萄牙) as
        one.

        Those that only ask (么时, and 号出 of 几号出发) are left out.
        """
        found: list[str] = []
        for word in dict.fromkeys(self._words[term] for term in terms):
            if word in self._asking:
                continue
            both = found[-1] + word[1:] if found and found[-1][-1:] == word[:1] else ""
            if both and both in self._question:
                found[-1] = both
            else:
                found.append(word)
        return [word for word in found if not any(word != other and word in other for other in found)]

    @lazy
    def _asking(self) -> frozenset[str]:
        """The words of which each place in the question overlaps a word that asks."""
        spans = [found.span() for found in _ASKS.finditer(self._question)]
        return frozenset(word for word in self._words.values() if spans and self._only_asks(word, spans))

    def _only_asks(self, word: str, asking: Sequence[tuple[int, int]]) -> bool:
        start, places = self._question.find(word), 0
        while start >= 0:
            behind = start + len(word)
            if not any(start < end and first < behind for first, end in asking):
                return False
            places += 1
            start = self._question.find(word, behind)
        return places > 0


def signals_of(pool: Pool | None, place: int, *, worded: bool) -> dict[str, tuple[str, ...]]:
    """The signals of each cause, for this candidate."""
    if pool is None or np.count_nonzero(pool.session == pool.session[place]) == 1:
        return _ALONE if worded else _ALONE_WORDLESS
    return _SIGNALS if worded else _WORDLESS
