"""Chinese words, by rjieba: a segmenter takes a tenth of a second to build, so it is loaded at the first Chinese text.

It is never changed afterwards, so that all of a process share it. It holds the interpreter while it works, so a long
text is given to it in parts.
"""

from functools import lru_cache
from importlib import import_module
from typing import Any

from biem.adapters.analyzers.characters import parts

_MOST = 2_000
"""Characters of a part: some 10 ms."""


class Segmenter:
    """Cuts texts of any length into words."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def cut(self, text: str, *, hmm: bool = True) -> list[str]:
        """The words, with all between them; `hmm` also finds words that the dictionary does not have."""
        return [word for part in parts(text, _MOST) for word in self._inner.cut(part, hmm=hmm)]

    def tag(self, text: str, *, hmm: bool = True) -> list[tuple[str, str]]:
        """As `cut`, each with its part of speech."""
        return [pair for part in parts(text, _MOST) for pair in self._inner.tag(part, hmm=hmm)]


@lru_cache(maxsize=8)
def knowing(*words: str) -> Segmenter:
    """A segmenter that knows these words, too, added in this order; thread-safe."""
    rjieba: Any = import_module("rjieba")
    if not words:
        return Segmenter(rjieba)  # whose functions are the methods of one that it has built
    segmenter = rjieba.Jieba()
    for word in words:
        segmenter.add_word(word, None, None)
    return Segmenter(segmenter)
