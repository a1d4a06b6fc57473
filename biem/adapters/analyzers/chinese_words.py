"""Chinese word segmentation by rjieba, loaded at the first Chinese text because it takes a tenth of a second.

It is immutable, so that all threads share it. It holds the interpreter lock, so a long text is passed in parts.
"""

from functools import lru_cache
from importlib import import_module
from typing import Any, cast

from biem.adapters.analyzers.characters import parts

_MOST = 2_000
"""Characters of a part: some 10 ms."""


class Segmenter:
    """Segments texts of any length."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def cut(self, text: str, *, hmm: bool = True) -> list[str]:
        """The words, with all characters between them; `hmm` also finds words outside the dictionary."""
        if len(text) <= _MOST:
            return cast(list[str], self._inner.cut(text, hmm=hmm))
        return [word for part in parts(text, _MOST) for word in self._inner.cut(part, hmm=hmm)]

    def tag(self, text: str, *, hmm: bool = True) -> list[tuple[str, str]]:
        """As `cut`, each with its part of speech."""
        if len(text) <= _MOST:
            return cast(list[tuple[str, str]], self._inner.tag(text, hmm=hmm))
        return [pair for part in parts(text, _MOST) for pair in self._inner.tag(part, hmm=hmm)]


@lru_cache(maxsize=8)
def knowing(*words: str) -> Segmenter:
    """A segmenter with these additional words, added in this order; thread-safe."""
    rjieba: Any = import_module("rjieba")
    if not words:
        return Segmenter(rjieba)  # the module has the methods of its segmenter
    segmenter = rjieba.Jieba()
    for word in words:
        segmenter.add_word(word, None, None)
    return Segmenter(segmenter)
