"""Ranks candidates for a question and measures confidence."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import islice, pairwise

import numpy as np

from biem.domain.conflict import Dispute
from biem.domain.policies.ranking import RankPolicy
from biem.domain.policies.recall import RecallPolicy
from biem.domain.prompt.contents import NOTHING, Known
from biem.domain.speech.acts import asks_for_facts, is_statement
from biem.domain.times.spans import Window
from biem.domain.times.windows import windows
from biem.engine.query.question import (
    Query,
    Sentence,
    asks_what_was,
    is_asked,
    named_in,
    sentences_of,
    without_names,
)
from biem.engine.recall.rank.adjustments import Adjustments, candidates_of
from biem.engine.recall.rank.anchors import NO_ANCHORS, Anchoring
from biem.engine.recall.rank.change_reports import reported_changes
from biem.engine.recall.rank.confidence import Similarity, grounds
from biem.engine.recall.rank.disputes import about
from biem.engine.recall.rank.pool import Candidate, Found, Pool, of_several_people
from biem.engine.recall.rank.prepared_pool import PreparedPool
from biem.engine.recall.rank.reasons import Reasons
from biem.engine.recall.rank.score import Order, Ranked
from biem.engine.recall.rank.term_matrix import Numbers
from biem.ports import Analyzer, Vector
from biem.ports.embedding import DirectionOdds, Fitted
from biem.ports.readers import Turn, Turns

_NAMED_CHARS = 1_000
"""Names are searched in this many characters of a query, and only shorter queries are read without their names: a
pasted document contains too many names."""
_LEAST_ASKED = 2
"""Minimum query terms that remain without its names: one word alone is too general."""
_CHINESE = re.compile("[\u3400-\u9fff]")
_WORD = re.compile(r"[^\W\d_\u3400-\u9fff]+")
_SPARE = 10
"""Memories read in addition to those requested: some may have just been erased."""
_SHORT = 8
"""Maximum terms of a turn that is read as the answer to the question before it."""
_MORE = 3
"""Terms that a report must have beyond those of the request."""
_BEFORE = 6
"""Turns among which the one is looked for to which a pronoun refers."""
_ALIKE = 0.15
"""Similarity from which two passages are called alike."""


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A query, parsed for the searches."""

    text: str
    lexemes: Sequence[str]
    """Distinct index terms, in order."""
    parts: Sequence[str]
    """The sentences of the query."""
    mentioned: Sequence[Sequence[str]] = ()
    """The terms of each name in it."""
    names: Sequence[str] = ()
    """These names as written."""
    words: Mapping[str, str] = field(default_factory=dict)
    """The words of the query as written, by index term."""
    matter: str = ""
    """A query of one sentence without its names; empty if little else remains."""

    related: frozenset[str] = frozenset()
    """Terms that paraphrase `matter`, see `Analyzer.related`."""

    @property
    def texts(self) -> list[str]:
        """Texts to embed: the whole query, and each sentence if there are several, else the matter."""
        if len(self.parts) > 1:
            return [self.text, *self.parts]
        return [self.text, self.matter] if self.matter else [self.text]


def _unlike(_: Mapping[str, Vector]) -> Mapping[str, float]:
    return {}


def _alone(_: Mapping[str, Vector]) -> Mapping[str, Mapping[str, float]]:
    return {}


@dataclass(frozen=True, slots=True)
class Answer:
    """Ranked candidates and the features of confidence; see `biem.engine.recall.rank.confidence`."""

    ordering: Adjustments
    ranked: Ranked
    turns: Mapping[str, Turn]
    found: Found
    grounds: Mapping[str, float]
    phrases: Reasons
    """For display; the terms of the speakers that the query names count as the speaker's there, not as words."""
    likeness: Callable[[Mapping[str, Vector]], Mapping[str, float]] = _unlike
    """Similarity of these passages to the query, or to its asking sentence, in [0, 1]."""
    alike: Callable[[Mapping[str, Vector]], Mapping[str, Mapping[str, float]]] = _alone
    """Pairs of these passages that tell of much the same, with their similarity; see `Hit.alike`."""
    asked: ParsedQuery = field(default_factory=lambda: ParsedQuery("", (), ()))
    changed: Callable[[Mapping[str, Vector]], Mapping[str, float]] = _unlike
    """Log-odds that these passages tell of a change; empty for most embedders."""
    answering: Callable[[Mapping[str, Vector]], Mapping[str, float]] = _unlike
    """Log-odds that these passages answer the query; empty where several people speak, for a query that states
    something, and for most embedders."""
    stretches: Sequence[tuple[str, ...]] = ()
    """Candidates in the order they were said, without gaps."""

    def vectors(self, keys: Iterable[str]) -> dict[str, Vector]:
        """The vectors of those of these candidates that have one."""
        return {key: vector for key in keys if (vector := self.turns[key].vector) is not None}

    def reasons(self, place: int, likeness: float | None) -> tuple[str, ...]:
        """Reasons for a candidate's rank, for display."""
        key = self.ordering.candidates[place].id
        return self.phrases.of(place, self.turns[key], self.ordering.why(key), likeness)

    def answered(self, keys: Sequence[str]) -> dict[str, str]:
        """The turn that each of these follows in its conversation, by their ids; only of turns that ask nothing."""
        before = {key: earlier for talk in self.stretches for earlier, key in pairwise(talk)}
        return {key: before[key] for key in keys if key in before and not self.turns[key].asks}

    def answers_question(self, key: str, before: str) -> bool:
        """Whether a turn is short and follows a question."""
        return self.turns[before].asks and len(self.turns[key].lexemes) <= _SHORT

    def adds(self, key: str, before: str) -> bool:
        """Whether a turn has a number or some words that the one before it has not."""
        new = set(self.turns[key].lexemes).difference(self.turns[before].lexemes)
        return len(new) >= _MORE or any(any(map(str.isdigit, term)) for term in new)

    def before(self, key: str) -> tuple[str, ...]:
        """The turns that were said just before this one, the nearest first."""
        talks = (talk[: talk.index(key)][-_BEFORE:] for talk in self.stretches if key in talk)
        return max(talks, key=len, default=())[::-1]

    def places(self, top_k: int, known: Known = NOTHING) -> list[int]:
        """Candidates to return, best first, with spares; none that is `known` by id or conversation."""
        return list(islice(filter(partial(self._answers, known), self.ranked.order), top_k + _SPARE))

    def _answers(self, known: Known, place: int) -> bool:
        turn = self.turns[self.ordering.candidates[place].id]
        return self.ordering.is_answer(place) and not known.has_place(turn.id, turn.conversation)


class Ranker:
    """Ranks candidates. Pure except for the analyzer; thread-safe."""

    def __init__(
        self,
        analyzer: Analyzer,
        similarity: Similarity,
        policy: RecallPolicy,
        ranking: RankPolicy,
        fitted: Fitted | None = None,
    ) -> None:
        self._analyzer = analyzer
        self._fitted = fitted or Fitted()
        self._similarity = similarity
        self._policy = policy
        self._ranking = ranking

    def asked(self, text: str) -> ParsedQuery:
        """Parse a query."""
        lexemes = list(dict.fromkeys(self._analyzer.lexemes(text)))
        parts = sentences_of(text, lambda part: len(set(self._analyzer.lexemes(part))))
        names = self._analyzer.analyze(text[:_NAMED_CHARS]).entities
        mentioned = [self._analyzer.lexemes(name) for name in names]
        matter = self._matter(text, lexemes, names) if len(parts) < 2 else ""
        related = self._analyzer.related(text) if self._ranking.aspect else frozenset[str]()
        return ParsedQuery(text, lexemes, parts, mentioned, names, self._words(text, lexemes), matter, related)

    def _words(self, text: str, lexemes: Sequence[str]) -> dict[str, str]:
        """Words whose index terms differ from them, by term, for display."""
        written = {term: word for word in _WORD.findall(text[:_NAMED_CHARS]) for term in self._analyzer.lexemes(word)}
        return {term: written.get(term, term) for term in lexemes}

    def _matter(self, text: str, lexemes: Sequence[str], names: Sequence[str]) -> str:
        if not names or self._ranking.nameless == 0 or len(text) > _NAMED_CHARS:
            return ""
        left = without_names(text, names)
        asks = left != text and len(set(lexemes).intersection(self._analyzer.lexemes(left))) >= _LEAST_ASKED
        return left if asks else ""

    def at_hand(self, turns: Turns, dimension: int) -> PreparedPool:
        """Precompute a pool of these turns, with vectors of this dimension, that can answer many questions."""
        names = self._names(turns)
        return PreparedPool(turns, names, Pool(candidates_of(turns), names, self._ranking.session_gap_s, dimension))

    def _names(self, turns: Turns) -> dict[str, list[str]]:
        """The terms of each speaker's name."""
        return {name: self._analyzer.lexemes(name) for name in {turn.speaker for turn in turns.by_id.values()}}

    def answer(
        self,
        asked: ParsedQuery,
        turns: Turns,
        found: Found,
        conflicts: Mapping[str, Sequence[Dispute]],
        *,
        now: datetime,
        top_k: int,
        order: Order,
        anchors: Anchoring = NO_ANCHORS,
        ready: PreparedPool | None = None,
    ) -> Answer:
        """Rank turns. `now`: time at which a memory must be valid; `ready`: the result of `at_hand` for them."""
        disputes = about(asked.lexemes, turns.by_id, conflicts, self._analyzer.lexemes)
        times = _times(asked.text, turns) if disputes or any(one.valid_to for one in turns.by_id.values()) else ()
        if ready is not None and ready.turns is not turns:
            ready = None
        pool = None if ready is None else ready.pool
        candidates = None if pool is None else pool.candidates
        former = asks_what_was(asked.text)
        ordering = Adjustments(turns, found, disputes, self._policy, now, anchors, times, candidates, former=former)
        names = self._names(turns) if ready is None else ready.names
        several, vector, parts = len(asked.parts) > 1, found.vector, found.parts
        several_people = of_several_people(names)
        if found.plain and several_people:
            vector, parts = found.plain[0], found.plain[1:]
        vectors: Sequence[Vector | None] = (parts if several else ()) or [None] * len(asked.parts)
        sentences = [
            Sentence(self._analyzer.lexemes(part), vector, is_asked(part))
            for part, vector in zip(asked.parts, vectors, strict=True)
        ]
        matter = parts[0] if parts and not several else None
        query = Query(asked.text, asked.lexemes, vector, sentences, matter)

        def adjusted(scores: Numbers) -> Numbers:
            known = ordering.adjusted(scores + self._aspect(asked, ordering.candidates))
            if several or not self._ranking.reported_change:  # part of a dialogue; a plain question has one sentence
                return known
            people, reach = (*names.values(), *asked.mentioned), self._ranking.reported_change
            found = reported_changes(
                asked.text, asked.lexemes, ordering.candidates, known, people, self._similarity, reach
            )
            return ordering.with_changes(known, found)

        ranked = order(query, ordering.candidates, names, self._ranking, top_k + _SPARE, adjust=adjusted, pool=pool)
        measured = grounds(query, asked.mentioned, ordering.candidates, names, ranked, self._similarity)
        if measured:
            measured["personal"] = _query_odds(self._fitted.personal_odds, found)
            measured["agenda"] = _query_odds(self._fitted.agenda_odds, found)
            measured["lists"] = _query_odds(self._fitted.list_odds, found)
        likeness = partial(self._likeness, query)
        seeks = asks_for_facts(asked.text) or not is_statement(asked.text)
        answering = partial(self._answering, asked, found) if seeks and not several_people else _unlike
        of_speakers = frozenset(term for name in named_in(asked.lexemes, names) for term in names[name])
        phrases = Reasons(
            ranked,
            asked.text,
            {term: word for term, word in asked.words.items() if term not in of_speakers},
            [one for one in zip(asked.names, asked.mentioned, strict=True) if not of_speakers.issuperset(one[1])],
            chinese=_CHINESE.search(asked.text) is not None,
        )
        return Answer(
            ordering,
            ranked,
            turns.by_id,
            found,
            measured,
            phrases,
            likeness,
            self._alike,
            asked,
            self._changed,
            answering,
            turns.stretches,
        )

    def _likeness(self, query: Query, known: Mapping[str, Vector]) -> Mapping[str, float]:
        asked = [one for one in (query.vector, *(sentence.vector for sentence in query.asked)) if one is not None]
        if not asked or not known or any(len(vector) != len(asked[0]) for vector in known.values()):
            return {}
        rows = np.stack(list(known.values()))
        best = np.max([np.asarray(self._similarity(one, rows), dtype=np.float64) for one in asked], axis=0)
        return dict(zip(known, best.tolist(), strict=True))

    def _changed(self, known: Mapping[str, Vector]) -> Mapping[str, float]:
        if self._fitted.change_odds is None or not known:
            return {}
        return dict(zip(known, self._fitted.change_odds(np.stack(list(known.values()))).tolist(), strict=True))

    def _answering(self, asked: ParsedQuery, found: Found, known: Mapping[str, Vector]) -> Mapping[str, float]:
        """By the query and, of several sentences, those that ask: the highest counts, as with the likeness."""
        if self._fitted.answer_odds is None or not known or not found.plain:
            return {}
        whole, *parts = zip(found.plain, (found.vector, *found.parts), strict=True)
        several = parts if len(asked.parts) > 1 else []  # of one sentence the part is its matter
        asking = [pair for text, pair in zip(asked.parts, several, strict=False) if is_asked(text)]
        rows = np.stack(list(known.values()))
        odds = [
            self._fitted.answer_odds(plain, mapped, rows) for plain, mapped in (whole, *asking) if mapped is not None
        ]
        return dict(zip(known, np.max(odds, axis=0).tolist(), strict=True))

    def _alike(self, known: Mapping[str, Vector]) -> Mapping[str, Mapping[str, float]]:
        if len(known) < 2 or len({len(vector) for vector in known.values()}) > 1:
            return {}
        rows = np.stack(list(known.values()))
        ids, found = list(known), defaultdict[str, dict[str, float]](dict)
        for one, key in enumerate(ids[:-1]):
            likenesses = np.asarray(self._similarity(rows[one], rows[one + 1 :]), dtype=np.float64)
            for other in np.flatnonzero(likenesses >= _ALIKE).tolist():
                found[key][ids[one + 1 + other]] = found[ids[one + 1 + other]][key] = float(likenesses[other])
        return found

    def _aspect(self, asked: ParsedQuery, candidates: Sequence[Candidate]) -> Numbers:
        """Score gain of candidates that paraphrase the matter; smaller if many do."""
        if not asked.related or not candidates:
            return np.zeros(len(candidates))
        tells = np.array([not asked.related.isdisjoint(one.lexemes) for one in candidates], dtype=np.float64)
        return np.asarray(self._ranking.aspect * tells * (1.0 - tells.mean()), dtype=np.float64)


def _times(text: str, turns: Turns) -> Sequence[Window]:
    """Times that a query names, relative to the newest candidate, as in the ranking."""
    return windows(text, max(turn.at for turn in turns.by_id.values()))


def _query_odds(odds: DirectionOdds | None, found: Found) -> float:
    """These log-odds of the query; 0, which says nothing, where they are not known."""
    vector = found.plain[0] if found.plain else found.vector
    return 0.0 if odds is None or vector is None else float(odds(vector[np.newaxis])[0])
