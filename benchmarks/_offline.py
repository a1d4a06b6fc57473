"""biem's ranking and a plain hybrid search without servers: many shapes in minutes, some 30 ms of CPU a question.

Exact cosines and BM25 over index terms stand for the vector index, lists of turns for the records; parsing, signals,
ranking and the choice of the best are the engine's own. Links, conflicts, memories in use and the canvas take no part,
so numbers lie near those of the servers and not on them: use it to compare rankings, and the servers to report one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

import bm25s
import numpy as np
from numpy.typing import NDArray

from benchmarks._baselines import Bm25, Dense
from benchmarks._data import Conversation, Question, Turn
from benchmarks._systems import conditions, spoken
from benchmarks.metrics import DEPTH
from biem.adapters.analyzers import RuleAnalyzer
from biem.adapters.embedders.fitted import fitted_to
from biem.config import Settings
from biem.domain.speech.parts import parts_of
from biem.engine.recall.rank.pool import Found, of_several_people
from biem.engine.recall.rank.ranker import Answer, Ranker
from biem.engine.recall.rank.score import rank
from biem.ports import Embedder, Vectors, readers
from biem.ports.embedding import Fitted

_RRF_K = 60
_REACH = 2
"""Turns before and after a hit that are candidates, too."""


@dataclass(frozen=True, slots=True)
class _Held:
    """One conversation, as `InMemory` keeps it."""

    turns: Sequence[Turn]
    rows: Sequence[readers.Turn]
    vectors: Vectors
    words: bm25s.BM25
    talks: dict[str, list[int]]
    """The turns of each session, in the order they were said."""

    def around(self, place: int) -> list[int]:
        """A turn with those around it."""
        talk = self.talks.get(self.turns[place].session, [place])
        at = talk.index(place)
        return talk[max(0, at - _REACH) : at + _REACH + 1]


class InMemory:
    """biem's candidates and ranking over lists."""

    name = "biem"

    def __init__(self, embedder: Embedder, settings: Settings, fitted: Fitted | None = None) -> None:
        """`fitted`: in place of what is packaged for the embedder."""
        self.adds: list[float] = []
        self._embedder = embedder
        fitted = fitted or fitted_to(embedder.info.id)
        self._query_map = fitted.query_map
        self._analyzer = RuleAnalyzer()
        self._limit = max(settings.recall.min_candidates, settings.recall.candidates_per_result * DEPTH)
        self._ranker = Ranker(self._analyzer, embedder.similarity, settings.recall, settings.ranking, fitted)
        self._held: dict[str, _Held] = {}

    def load(self, conversation: Conversation) -> None:
        """Index all turns."""
        turns = spoken(conversation)
        vectors = self._embedder.embed([turn.indexed_text for turn in turns], "passage")
        terms = [self._analyzer.lexemes(turn.indexed_text) for turn in turns]
        words = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
        words.index([one or [""] for one in terms], show_progress=False)
        several = of_several_people({turn.speaker for turn in turns})  # there none looks at the statements
        parts = [[] if several else parts_of(turn.indexed_text) for turn in turns]
        rows = [
            readers.Turn(
                turn.id, "offline", terms[place], vectors[place], "event", turn.speaker, turn.session, turn.at, place,
                turn.text.rstrip()[-1:] in ("?", "？"), True, None, None,
                parts=self._embedder.embed(parts[place], "passage") if parts[place] else None,
            )
            for place, turn in enumerate(turns)
        ]  # fmt: skip
        talks: dict[str, list[int]] = {}
        for place in sorted(range(len(turns)), key=lambda place: (turns[place].at, place)):
            if turns[place].session:
                talks.setdefault(turns[place].session, []).append(place)
        self._held[conversation.id] = _Held(turns, rows, vectors, words, talks)

    def ready(self) -> None:
        """Nothing to wait for."""

    def ask(self, conversation: Conversation, question: Question) -> list[str]:
        """Turn ids, best first."""
        answer = self.answer(conversation, question)
        if answer is None:
            return []
        return [answer.ordering.candidates[place].id for place in answer.places(DEPTH)][:DEPTH]

    def answer(self, conversation: Conversation, question: Question) -> Answer | None:
        """The ranked turns; None if there are none."""
        held, asked = self._held[conversation.id], self._ranker.asked(question.text)
        vectors = self._embedder.embed(asked.texts, "query")
        until = conditions(conversation, question).get("until")
        there = np.array([until is None or turn.at < until for turn in held.turns], dtype=bool)
        terms = [term for term in asked.lexemes if term in held.words.vocab_dict]
        scores = held.words.get_scores(terms) if terms else np.zeros(len(held.turns), np.float32)
        found = Found()
        asked_vector = found.embedded(vectors, self._query_map)
        cosines = np.where(there, held.vectors @ asked_vector, -np.inf)
        by_meaning, by_words = (
            self._best(values) for values in (cosines, np.where(there & (scores > 0), scores, -np.inf))
        )
        windows = [[one for one in held.around(place) if there[one]] for place in dict.fromkeys(by_meaning + by_words)]
        ids = partial(self._ids, held)
        openings = frozenset(held.turns[talk[0]].id for talk in held.talks.values())
        stretches = [tuple(ids(window)) for window in windows if held.turns[window[0]].session]
        pool = {row.id: row for window in windows for row in (held.rows[place] for place in window)}
        if not pool:
            return None
        found.dense = {held.turns[place].id: float(cosines[place]) for place in by_meaning}
        found.words = {held.turns[place].id: float(scores[place]) for place in by_words}
        return self._ranker.answer(
            asked,
            readers.Turns(pool, stretches, openings & pool.keys()),
            found,
            {},
            now=max(turn.at for turn in held.turns) + timedelta(days=1),
            top_k=DEPTH,
            order=rank,
        )

    def _best(self, values: NDArray[np.floating]) -> list[int]:
        order = np.argsort(-values, kind="stable")[: self._limit].tolist()
        return [place for place in order if np.isfinite(values[place])]

    @staticmethod
    def _ids(held: _Held, places: Sequence[int]) -> list[str]:
        return [held.turns[place].id for place in places]


class Fused:
    """Reciprocal rank fusion of the two plain searches, as `MilvusHybrid` does with another analyzer."""

    name = "hybrid"

    def __init__(self, embedder: Embedder) -> None:
        self.adds: list[float] = []
        self._parts = (Dense(embedder), Bm25())

    def load(self, conversation: Conversation) -> None:
        """Index all turns twice."""
        for part in self._parts:
            part.load(conversation)

    def ready(self) -> None:
        """Nothing to wait for."""

    def ask(self, conversation: Conversation, question: Question) -> list[str]:
        """Turn ids, best first."""
        fused: dict[str, float] = {}
        for part in self._parts:
            for place, key in enumerate(part.ask(conversation, question), 1):
                fused[key] = fused.get(key, 0.0) + 1 / (_RRF_K + place)
        return sorted(fused, key=lambda key: -fused[key])[:DEPTH]
