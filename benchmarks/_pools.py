"""The pools of candidates that biem ranks, recorded once on real servers, so that rankings can do without them.

Every question is asked through the public API of a memory that holds the conversation; a recorder stands where the
engine orders the pool and keeps each signal of each candidate, computed by the engine's own modules. Re-ranking a pool
afterwards is the engine's own arithmetic, too: the same weights give the same answers as the live memory.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import biem
from benchmarks._data import Conversation, Question
from benchmarks.metrics import DEPTH, Score, score
from biem.domain.policies.ranking import RankPolicy
from biem.engine.query.question import Query
from biem.engine.recall.rank.pool import Candidate, Pool
from biem.engine.recall.rank.score import NAMES, Order, Ranked, distinct, with_plain
from biem.engine.recall.rank.signals import signals
from biem.engine.recall.rank.term_matrix import Numbers, TermMatrix

_SOURCES = (
    "engine/recall/rank/signals.py",
    "engine/recall/rank/pool.py",
    "engine/recall/rank/term_matrix.py",
    "engine/recall/rank/coherence.py",
    "engine/query/question.py",
    "domain/times/windows.py",
)
"""What decides the signals: pools recorded by other versions of these are not used."""


@dataclass(frozen=True)
class Case:
    """One question with its pool. Rows of `table` and entries of the arrays are candidates."""

    conversation: Conversation
    question: Question
    number: int
    """Of its conversation within the file: folds keep conversations together."""
    turns: NDArray[np.int32]
    """Positions in the conversation."""
    table: NDArray[np.float32]
    """A column for each of `biem.engine.recall.rank.score.NAMES`."""
    added: NDArray[np.float32]
    """What links, conflicts and validity changed in the score."""
    served: NDArray[np.float32]
    plain: NDArray[np.float32]
    """See `biem.engine.recall.rank.signals.Signals`."""
    texts: Sequence[str]
    """The words of each candidate."""

    @cached_property
    def bag(self) -> TermMatrix:
        """The words as the choice without repetitions needs them."""
        return TermMatrix(self.texts)

    @cached_property
    def gold(self) -> list[NDArray[np.intp]]:
        """For each group of evidence the candidates that belong to it."""
        ids = [self.conversation.turns[turn].id for turn in self.turns.tolist()]
        return [np.array([i for i, one in enumerate(ids) if one in group], np.intp) for group in self.question.groups]

    def ranked(self, weights: Numbers, policy: RankPolicy) -> list[str]:
        """The ids of the first turns under these weights, as recall would answer."""
        scores = self.table.astype(np.float64) @ weights + self.added
        order = distinct(scores, self.bag, self.served.astype(np.float64), policy, DEPTH + 10)
        order = with_plain(order, self.plain.astype(np.float64), policy)
        end = len(self.conversation.turns) if self.question.before is None else self.question.before
        return [self.conversation.turns[turn].id for turn in self.turns[order].tolist() if turn < end][:DEPTH]

    def judged(self, weights: Numbers, policy: RankPolicy) -> Score:
        """How good that is."""
        session_of = {turn.id: turn.session for turn in self.conversation.turns}
        return score(self.ranked(weights, policy), self.question.groups, session_of, self.question.sessions)


class Recorder:
    """Orders pools as the engine does, and keeps the last one."""

    def __init__(self, inner: Order) -> None:
        self._inner = inner
        self._last: tuple[Query, Sequence[Candidate], Mapping[str, Sequence[str]], RankPolicy, Ranked] | None = None

    def __call__(
        self,
        query: Query,
        candidates: Sequence[Candidate],
        names: Mapping[str, Sequence[str]],
        policy: RankPolicy,
        count: int = DEPTH,
        *,
        adjust: Callable[[Numbers], Numbers] | None = None,
        pool: Pool | None = None,
    ) -> Ranked:
        """As `biem.engine.recall.rank.score.rank`."""
        ranked = self._inner(query, candidates, names, policy, count, adjust=adjust, pool=pool)
        self._last = query, candidates, names, policy, ranked
        return ranked

    def case(
        self, conversation: Conversation, question: Question, number: int, position: Mapping[str, int]
    ) -> Case | None:
        """The pool of the question asked last; `position` of each memory in its conversation. None if it was empty."""
        held, self._last = self._last, None
        if held is None or not held[1]:
            return None
        query, candidates, names, policy, ranked = held
        pool = Pool(candidates, names, policy.session_gap_s, None if query.vector is None else len(query.vector))
        found = signals(query, pool, names, policy)
        table = np.stack([found.table[name] for name in NAMES], axis=1)
        return Case(
            conversation,
            question,
            number,
            np.array([position[one.id] for one in candidates], np.int32),
            table.astype(np.float32),
            (ranked.scores - table @ ranked.weights).astype(np.float32),
            found.served.astype(np.float32),
            found.plain.astype(np.float32),
            [" ".join(pool.bag.words[word] for word in pool.bag.opening(i, 1 << 30)) for i in range(pool.size)],
        )


def key_of(file: Path, model: str, limits: Sequence[int | None], policy: RankPolicy) -> str:
    """Names the pools of one file: they depend on its content, the embedder and how signals are computed.

    Not on the weights: another order of the same pool needs no other recording.
    """
    constants = [getattr(policy, field.name) for field in fields(policy) if field.name != "weights"]
    digest = sha256(f"{model} {limits} {NAMES} {constants}".encode())
    digest.update(file.read_bytes())
    root = Path(biem.__file__).parent
    for source in _SOURCES:
        digest.update((root / source).read_bytes())
    return digest.hexdigest()[:16]


def save(file: Path, cases: Sequence[Case], more: Mapping[str, Any]) -> None:
    """Write pools; `more` is what else was measured, as JSON."""
    texts = {text: number for number, text in enumerate(dict.fromkeys(text for case in cases for text in case.texts))}
    places = [(case.number, case.conversation.questions.index(case.question), len(case.turns)) for case in cases]
    part = file.with_name(f"{file.name}.part.npz")
    file.parent.mkdir(parents=True, exist_ok=True)
    np.savez(
        part,
        meta=np.frombuffer(json.dumps({"texts": list(texts), "more": more}).encode(), np.uint8),
        places=np.array(places, np.int32).reshape(-1, 3),
        rows=np.array([len(case.served) for case in cases], np.int32),
        served=np.concatenate([case.served.ravel() for case in cases]),
        turns=np.concatenate([case.turns for case in cases]),
        table=np.concatenate([case.table for case in cases]),
        added=np.concatenate([case.added for case in cases]),
        plain=np.concatenate([case.plain for case in cases]),
        words=np.concatenate([np.array([texts[text] for text in case.texts], np.int32) for case in cases]),
    )
    part.replace(file)


def load(file: Path, conversations: Sequence[Conversation]) -> tuple[list[Case], dict[str, Any]]:
    """What `save` wrote, for the same conversations."""
    with np.load(file) as stored:
        held = {name: stored[name] for name in stored.files}
    meta = json.loads(held["meta"].tobytes())
    texts: list[str] = meta["texts"]
    cases, start, from_served = [], 0, 0
    for (number, question, size), rows in zip(held["places"].tolist(), held["rows"].tolist(), strict=True):
        own = slice(start, start + size)
        served = held["served"][from_served : from_served + rows * size].reshape(rows, size)
        start, from_served = own.stop, from_served + rows * size
        cases.append(
            Case(
                conversations[number],
                conversations[number].questions[question],
                number,
                held["turns"][own],
                held["table"][own],
                held["added"][own],
                served,
                held["plain"][own],
                [texts[word] for word in held["words"][own].tolist()],
            )
        )
    return cases, meta["more"]
