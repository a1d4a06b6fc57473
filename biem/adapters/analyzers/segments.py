"""Chinese words, by rjieba: a segmenter takes a tenth of a second to build, so it is loaded at the first Chinese text.

It is never changed afterwards, so that all of a process share it.
"""

from functools import lru_cache
from importlib import import_module
from typing import Any


@lru_cache(maxsize=8)
def knowing(*words: str) -> Any:
    """A segmenter that knows these words, too, added in this order; thread-safe."""
    rjieba: Any = import_module("rjieba")
    if not words:
        return rjieba  # whose functions are the methods of one that it has built
    segmenter = rjieba.Jieba()
    for word in words:
        segmenter.add_word(word, None, None)
    return segmenter
