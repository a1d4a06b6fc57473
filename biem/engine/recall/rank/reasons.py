"""Reasons for a hit, for display: at most three short phrases in the question's language, derived from the signals.

Each phrase represents signals whose contribution to the score is above the pool's mean; the largest come first.
Without them the hit would rank lower. Pure functions, thread-safe.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from biem.engine.recall.rank.score import NAMES, Ranked
from biem.ports.readers import Turn

_MOST = 3
_LEAST = 0.2
"""Minimum log-odds above the pool's mean for a phrase."""
_FEW = 4
"""Minimum candidates for a meaningful mean."""
_WORDS_SHOWN = 3
_SAME = 0.6
"""Minimum similarity of a text that says the same as the question."""

_SIGNALS = {
    "meaning": ("sentence_dense",),
    "words": ("sentence_words", "words_around"),
    "beside": ("dense_around", "session_words", "session_dense", "session_dense3"),
    "reply": ("reply",),
    "bridge": ("bridge",),
    "speaker": ("speaker",),
    "time": ("when",),
    "day": ("day",),
    "used": ("frequency", "energetic"),
    "important": ("importance",),
    "recent": ("recent", "mirror"),
}
_ORDERING = {"activation": "linked", "inherited": "newer", "revises": "newer", "anchor": "value"}
_PHRASES = {
    "en": {
        "same": "says the same as you ask",
        "meaning": "close in meaning to what you ask",
        "words": "has your words: {}",
        "names": "names {}",
        "beside": "stands beside a hit",
        "reply": "answers a question with your words",
        "bridge": "completes another hit",
        "speaker": "said by {}, whom you name",
        "time": "said near the time you ask about",
        "day": "said on the day you ask about",
        "used": "hot: used often",
        "important": "called important",
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
        "beside": "与相关内容出自同一处",
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


def reasons(
    ranked: Ranked,
    place: int,
    turn: Turn,
    *,
    noted: Mapping[str, float | str],
    likeness: float | None,
    words: Mapping[str, str],
    names: Sequence[tuple[str, Sequence[str]]],
    chinese: bool,
) -> tuple[str, ...]:
    """Phrases for one candidate.

    `noted`: other changes of its score; `words`: the question's words by index term; `names`: the names in the
    question with their index terms.
    """
    phrases = _PHRASES["zh" if chinese else "en"]
    held = set(turn.lexemes)
    found = sorted(_parts(ranked, place, noted).items(), key=lambda item: -item[1])
    told: list[str] = []
    for cause, part in found:
        if part < _LEAST and told:
            break
        phrase = _phrase(cause, phrases, turn, held, likeness, words, names, chinese=chinese)
        if phrase and phrase not in told:
            told.append(phrase)
    return tuple(told[:_MOST])


def _parts(ranked: Ranked, place: int, noted: Mapping[str, float | str]) -> dict[str, float]:
    """Contribution of each cause to a score, relative to the mean of the pool."""
    added = ranked.signals * ranked.weights
    mean = added.mean(axis=0) if len(added) >= _FEW else np.zeros(added.shape[1])
    own = dict(zip(NAMES, (added[place] - mean).tolist(), strict=True))
    parts = {cause: sum(own[name] for name in names) for cause, names in _SIGNALS.items()}
    for name, cause in _ORDERING.items():
        value = noted.get(name)
        if isinstance(value, float):
            parts[cause] = parts.get(cause, 0.0) + value
    return {cause: part for cause, part in parts.items() if part > 0}


def _phrase(
    cause: str,
    phrases: Mapping[str, str],
    turn: Turn,
    held: set[str],
    likeness: float | None,
    words: Mapping[str, str],
    names: Sequence[tuple[str, Sequence[str]]],
    *,
    chinese: bool,
) -> str:
    if cause == "meaning":
        return phrases["same" if likeness is not None and likeness >= _SAME else "meaning"]
    if cause == "speaker":
        return phrases[cause].format(turn.speaker)
    if cause != "words":
        return phrases[cause]
    between = "、" if chinese else ", "
    named = [name for name, terms in names if terms and held.issuperset(terms)]
    if named:
        return phrases["names"].format(between.join(named[:_WORDS_SHOWN]))
    shared = list(dict.fromkeys(word for term, word in words.items() if term in held))
    return phrases["words"].format(between.join(shared[:_WORDS_SHOWN])) if shared else phrases["beside"]
