"""Aspects of life that questions and statements phrase differently: "Who is my employer?", "I joined Otto".

A closed list for both languages, from general vocabulary. It expands the terms of a question and decides nothing alone.
"""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from importlib.resources import files

_LONGEST_ASKED = 300
"""Maximum characters of a question that are read; longer ones contain the terms themselves."""
_KEPT = 512


class Aspects:
    """The list, loaded once. `lexemes` makes index terms of a text."""

    def __init__(self, lexemes: Callable[[str], Iterable[str]]) -> None:
        text = files("biem.adapters.analyzers.words").joinpath("aspects.txt").read_text(encoding="utf-8")
        rows = [line.split(" | ") for line in text.splitlines() if line and not line.startswith("#")]
        self._known = [
            (
                re.compile("|".join(asks.split(";"))),
                frozenset(term for word in told.split() for term in _whole(word, lexemes)),
            )
            for _, asks, told in rows
        ]
        self._found = lru_cache(_KEPT)(self._find)

    def related(self, question: str) -> frozenset[str]:
        """Index terms that may express a question's subject; empty for a subject that is not listed."""
        return self._found(question[:_LONGEST_ASKED].lower().rstrip("?？ .。"))

    def _find(self, question: str) -> frozenset[str]:
        return frozenset().union(*(told for asks, told in self._known if asks.search(question)))


def _whole(word: str, lexemes: Callable[[str], Iterable[str]]) -> list[str]:
    """The index terms of a word; for a Chinese one of several characters only pairs, which are specific enough."""
    terms = list(lexemes(word))
    pairs = [term for term in terms if len(term) > 1]
    return pairs if pairs and not word.isascii() else terms
