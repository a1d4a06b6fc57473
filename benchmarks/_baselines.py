"""The two opponents that need no server: BM25 over words and exact search over vectors, each per conversation."""

import re
from typing import Protocol

import bm25s
import numpy as np
import Stemmer
from bm25s.stopwords import STOPWORDS_EN_PLUS
from numpy.typing import NDArray

from benchmarks._data import Conversation, Question
from benchmarks.metrics import DEPTH
from biem.ports import Embedder, Vectors

_CHUNKS = re.compile(r"[㐀-䶿一-鿿豈-﫿]+|[^\W_㐀-䶿一-鿿豈-﫿]+")
_STOP = frozenset(STOPWORDS_EN_PLUS)


class System(Protocol):
    """One of the compared systems. Loads everything first, then answers."""

    adds: list[float]
    """Milliseconds of each turn that was added on its own; empty where `load` takes a conversation at once."""

    @property
    def name(self) -> str:
        """How reports call it."""

    def load(self, conversation: Conversation) -> None:
        """Index all turns of a conversation."""

    def ready(self) -> None:
        """Called once when everything is loaded; returns when all of it can be found."""

    def ask(self, conversation: Conversation, question: Question) -> list[str]:
        """Turn ids of that conversation, best first. This call is timed."""


class Bm25:
    """BM25 with Lucene's scoring, k1 1.5, b 0.75, over stemmed English words and Chinese bigrams.

    English words lose the 179 stop words that `bm25s` lists (NLTK's) and their endings (Snowball); a run of Chinese
    characters becomes its bigrams, a lone one stays. A turn without any word of the question is not a result.
    """

    name = "bm25"

    def __init__(self) -> None:
        self.adds: list[float] = []
        self._stem = Stemmer.Stemmer("english").stemWord
        self._indexes: dict[str, bm25s.BM25] = {}

    def load(self, conversation: Conversation) -> None:
        """One index a conversation."""
        index = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
        index.index([self.tokens(turn.indexed_text) or [""] for turn in conversation.turns], show_progress=False)
        self._indexes[conversation.id] = index

    def ready(self) -> None:
        """Nothing to wait for."""

    def ask(self, conversation: Conversation, question: Question) -> list[str]:
        """Ties keep the order of the turns."""
        index = self._indexes[conversation.id]
        words = [word for word in self.tokens(question.text) if word in index.vocab_dict]
        if not words:
            return []
        return _best(index.get_scores(words), conversation, question, floor=0.0)

    def tokens(self, text: str) -> list[str]:
        """The index terms of a text, in order."""
        terms: list[str] = []
        for chunk in _CHUNKS.findall(text.lower()):
            if chunk[0] >= "\u3400":
                terms += [chunk[i : i + 2] for i in range(max(1, len(chunk) - 1))]
            elif chunk not in _STOP:
                terms.append(self._stem(chunk))
        return terms


class Dense:
    """The bare embedder with exact cosine."""

    name = "dense"

    def __init__(self, embedder: Embedder) -> None:
        self.adds: list[float] = []
        self._embedder = embedder
        self._vectors: dict[str, Vectors] = {}

    def load(self, conversation: Conversation) -> None:
        """All vectors in one call; later calls with the same texts find them in the cache."""
        texts = [turn.indexed_text for turn in conversation.turns]
        self._vectors[conversation.id] = self._embedder.embed(texts, "passage")

    def ready(self) -> None:
        """Nothing to wait for."""

    def ask(self, conversation: Conversation, question: Question) -> list[str]:
        """Ties keep the order of the turns."""
        query = self._embedder.embed([question.text], "query")[0]
        return _best(self._vectors[conversation.id] @ query, conversation, question, floor=-np.inf)


def _best(scores: NDArray[np.float32], conversation: Conversation, question: Question, floor: float) -> list[str]:
    allowed = scores[: question.before]
    order = np.argsort(-allowed, kind="stable")[:DEPTH]
    return [conversation.turns[position].id for position in order if allowed[position] > floor]
