"""The sentiment of a text in [-1, 1]: VADER for English, a lexicon on the same scale for Chinese, one for emoji.

Chinese is matched by whole words of the segmenter, never by substrings: 别 in 特别 is no prohibition. A negation
inverts and weakens the next words, degree words scale them, and the part after 但是 counts more than the part before
it.
"""

import math
import re
from functools import cache
from typing import Any

from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

from biem.adapters.analyzers import words
from biem.adapters.analyzers.characters import EMOJI
from biem.adapters.analyzers.chinese_words import knowing
from biem.lazy import lazy

_EDGE = 2000
"""Of longer texts this many characters of each end are scored."""
_FLATTEN = 15.0
_TURN = -0.7
_BEFORE_BUT, _AFTER_BUT = 0.5, 1.5
_REACH = 4
_ASKED = 0.5
_EXCLAIMED = 1.2

_HAN_RUN = re.compile("[\u3400-\u9fff\uf900-\ufaff]+")
_EMOJI = re.compile(EMOJI)
_LATIN = re.compile("[A-Za-z]{2}|[:;]-?[()DP]")
_NUMBER = re.compile(r"\d[\d:]*")
_STOPS = frozenset("，,。.！!？?；;、\n：:…")
_SENTENCE = re.compile(r"[^。！？!?\n]*[。！？!?\n]*")


@cache
def _english() -> Any:
    """The lexicon of VADER, loaded at the first English text; without numbers (143 for "I love you"), which are codes
    and addresses here.
    """
    analyzer = SentimentIntensityAnalyzer()
    analyzer.lexicon = {word: value for word, value in analyzer.lexicon.items() if not _NUMBER.fullmatch(word)}
    return analyzer


class Sentiment:
    """The lexicons, loaded once."""

    def __init__(self) -> None:
        self._valence = {word: float(line[0]) for line in words.load("sentiment_zh") for word in line[1:]}
        self._emoji = {picture: float(line[0]) for line in words.load("emoji") for picture in line[1:]}
        shifts = words.load("shifts_zh")
        self._factor = {word: float(line[0]) for line in shifts if line[0][0].isdigit() for word in line[1:]}
        self._not = frozenset(word for line in shifts if line[0] == "not" for word in line[1:])
        self._but = frozenset(word for line in shifts if line[0] == "but" for word in line[1:])
        self._words = tuple(word for word in (*self._valence, *self._factor, *self._not) if len(word) > 1)

    @lazy
    def _segmenter(self) -> Any:
        return knowing(*self._words)

    def score(self, text: str) -> float:
        """Of a normalised text; 0 is neutral."""
        if len(text) > 2 * _EDGE:
            text = f"{text[:_EDGE]}\n{text[-_EDGE:]}"
        pictures = sum(self._emoji.get(picture, 0.0) for picture in _EMOJI.findall(text))
        plain = _EMOJI.sub(" ", text)
        han = _HAN_RUN.search(plain) is not None
        total = pictures + (sum(self._sentence(s) for s in _SENTENCE.findall(plain) if s) if han else 0.0)
        rest = _HAN_RUN.sub(" ", plain) if han else plain
        if _LATIN.search(rest):
            # From VADER's compound back to the underlying sum, so that both languages add on one scale.
            compound = float(_english().polarity_scores(rest)["compound"])
            total += compound * math.sqrt(_FLATTEN / max(1e-6, 1 - min(compound * compound, 0.99)))
        return round(max(-1.0, min(1.0, total / math.sqrt(total * total + _FLATTEN))), 4)

    def _sentence(self, sentence: str) -> float:
        total, weight = 0.0, 1.0
        factor, turn, distance = 1.0, 1.0, 0
        tokens: list[str] = list(self._segmenter.cut(sentence, hmm=False))
        for i, word in enumerate(tokens):
            if word in _STOPS or word in self._but:
                factor, turn, distance = 1.0, 1.0, 0
                if word in self._but:
                    total, weight = total * _BEFORE_BUT, _AFTER_BUT
                    total += self._valence.get(word, 0.0)
                continue
            shifts = self._shifts(word, tokens[i + 1] if i + 1 < len(tokens) else "")
            if shifts:
                turn, factor, distance = (
                    turn * (_TURN if word in self._not else 1.0),
                    factor * self._factor.get(word, 1.0),
                    0,
                )
            elif word in self._valence:
                total += weight * turn * factor * self._valence[word]
                factor, distance = 1.0, distance + 1
                turn = 1.0 if distance > 1 else turn
            else:
                distance += 1
            if distance >= _REACH:
                factor, turn, distance = 1.0, 1.0, 0
        asked = sentence.rstrip().endswith(("?", "？")) or sentence.endswith("吗")
        return total * (_ASKED if asked else _EXCLAIMED if sentence.endswith(("!", "！")) else 1.0)

    def _shifts(self, word: str, following: str) -> bool:
        """好 is a degree word before a word with a sentiment (好难受) and means good alone; 死 and 可以 likewise."""
        if word in self._not:
            return True
        return word in self._factor and (word not in self._valence or following in self._valence)
