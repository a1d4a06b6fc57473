"""The candidates of one query as arrays: neighbours, sessions, words and vectors."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biem.domain.text import stored
from biem.engine.query.question import MACHINES, ROLES
from biem.engine.recall.rank.coherence import Coherence, coherence
from biem.engine.recall.rank.term_matrix import Indices, Numbers, TermMatrix
from biem.lazy import lazy
from biem.ports import HotEntry, Vector, Vectors
from biem.ports.embedding import QueryMap, row_products

OFFSETS = (-2, -1, 1, 2)
"""Positions of neighbouring turns."""
_A_MONTH, _A_WRITE = 0.95, 0.8
"""Recency decay per 30 days (AIMate's time factor) and per memory written since (AIM's mirror)."""


class Candidate(NamedTuple):
    """One turn of the pool. Turns of one session with consecutive `seq` are neighbours."""

    id: str
    lexemes: Sequence[str]
    """Index terms of the text, which begins with the speaker's name."""
    vector: Vector | None
    """Unit vector; None before indexing."""
    speaker: str
    conversation: str
    seq: int
    at: datetime
    """Time-zone aware."""
    asks: bool = False
    """The turn ends with a question mark."""
    opening: bool = False
    """No turn of its session comes before it."""
    importance: float = 3.0
    """1 to 5."""
    accesses: int = 0
    """How often it was returned."""
    energy: float = 0.0
    """In [0, 1]."""
    later: int = 0
    """Number of memories of its scope written after it, up to the newest of the pool."""
    parts: Vectors | None = None
    """Unit vectors of its statements, one a row, if it has several."""


class Pool:
    """Data shared by all signals of one query, computed once. Arrays have one entry per candidate, in pool order."""

    def __init__(
        self, candidates: Sequence[Candidate], names: Mapping[str, Sequence[str]], gap_s: float, dimension: int | None
    ) -> None:
        """`names`: terms of every speaker's name; `gap_s` as in `RankPolicy`; `dimension` of the query's vector.

        Vectors of another dimension (from a previous embedder) count as missing.
        """
        self.candidates = candidates
        self.size = len(candidates)
        self.dimension = dimension
        speakers = {name: stored(terms) for name, terms in names.items()}
        said, self.named = _without_names(candidates, speakers)
        """Which texts began with the speaker's name, which `bag` omits."""
        self.bag = TermMatrix(said)
        self.at: Numbers = np.array([one.at.timestamp() for one in candidates])
        """Seconds since 1970."""
        self.session, self.opening = _sessions(candidates, self.at, gap_s)
        """Which turns are the first of their session in the pool."""
        self.sessions = int(self.session.max()) + 1 if self.size else 0
        self.beside = _beside(candidates, self.session)
        vectors = [one.vector for one in candidates]
        self.known: NDArray[np.bool_] = np.array(
            [vector is not None and len(vector) == dimension for vector in vectors], dtype=bool
        )
        self.vectors = self._matrix(vectors, dimension or 0)
        self._parts, self._part_of = self._statements(several=of_several_people(names))

    def _matrix(self, vectors: Sequence[Vector | None], dimension: int) -> Vectors:
        """A row for each candidate, zero without a vector."""
        if not self.known.any():
            return np.zeros((self.size, dimension), dtype=np.float32)
        zero = np.zeros(dimension, dtype=np.float32)
        rows = [
            vector if known and vector is not None else zero
            for vector, known in zip(vectors, self.known.tolist(), strict=True)
        ]
        return np.concatenate(rows, dtype=np.float32).reshape(self.size, dimension)

    def _statements(self, *, several: bool) -> tuple[Vectors, Indices]:
        """The vectors of all statements of candidates with several, and the place of the candidate of each.

        None in a talk of several people, where the ranking finds no more with them.
        """
        held = [
            (place, one.parts)
            for place, one in enumerate(self.candidates)
            if one.parts is not None and self.known[place] and one.parts.shape[1] == self.dimension
        ]
        if several or not held:
            return np.zeros((0, self.dimension or 0), dtype=np.float32), np.zeros(0, dtype=np.intp)
        places = np.repeat([place for place, _ in held], [len(parts) for _, parts in held])
        return np.concatenate([parts for _, parts in held]), places.astype(np.intp)

    def nearest(self, measure: Callable[[Vectors], ArrayLike]) -> Numbers:
        """What `measure` gives for the vector of each candidate, or for the one of its statements if that is more."""
        found = np.asarray(measure(self.vectors), dtype=np.float64)
        if len(self._parts):
            np.maximum.at(found, self._part_of, np.asarray(measure(self._parts), dtype=np.float64))
        return found

    def cosines(self, vector: Vector) -> Numbers:
        """The cosine of each candidate, or of the nearest of its statements, to a query."""
        return self.nearest(lambda rows: row_products(rows, vector))

    def prepare(self) -> None:
        """Compute the lazy attributes now."""
        _ = self.longer_than_own, self.asks, self.machine, self.grouped, self.standing, self.coherence
        if self.known.any():
            _ = self.wide, self.hub

    @lazy
    def wide(self) -> Vectors:
        """Unit vector of each turn plus half of each neighbour; zero without vectors."""
        wide = self.vectors + np.float32(0.5) * (self.moved_vectors(-1) + self.moved_vectors(1))
        length = np.sqrt(np.einsum("ij,ij->i", wide, wide))
        wide /= np.where(length > 0, length, np.float32(1))[:, None]
        return wide

    @lazy
    def hub(self) -> Numbers:
        """Hubness: mean similarity of each turn to all others; at least one vector must be known."""
        mean = self.vectors[self.known].mean(axis=0)
        hub: Numbers = row_products(self.vectors, mean).astype(np.float64) - self.known / int(self.known.sum())
        return hub

    @lazy
    def coherence(self) -> Coherence:
        """Coherence of neighbouring turns and of sessions."""
        return coherence(self.vectors, self.known, self.session, self.beside[1])

    @lazy
    def log_length(self) -> Numbers:
        """ln(1 + number of words)."""
        return np.log1p(self.bag.lengths)

    @lazy
    def longer_than_own(self) -> Numbers:
        """Difference in `log_length` to the mean of this speaker's turns, clipped at two.

        Without a speaker, to the mean of its conversation: 0 for a single fact.
        """
        numbers: dict[str, int] = {}
        whose = [one.speaker or one.conversation for one in self.candidates]
        who = np.array([numbers.setdefault(one, len(numbers)) for one in whose], dtype=np.intp)
        mean = np.bincount(who, self.log_length) / np.bincount(who)
        return np.clip(self.log_length - mean[who], -2, 2)

    @lazy
    def asks(self) -> NDArray[np.bool_]:
        """Which turns end with a question mark."""
        return np.array([one.asks for one in self.candidates], dtype=bool)

    @lazy
    def machine(self) -> Numbers:
        """1 if the speaker is a program."""
        return np.array([float(one.speaker.lower() in MACHINES) for one in self.candidates])

    @lazy
    def standing(self) -> Mapping[str, Numbers]:
        """Signals that do not depend on the query, see `SignalWeights`."""
        accesses = np.array([one.accesses for one in self.candidates])
        return {
            "importance": np.array([(one.importance - 3) / 2 for one in self.candidates]),
            "frequency": np.minimum(np.log10(1 + accesses) / 2, 1.0),
            "energetic": np.array([one.energy for one in self.candidates]),
            "recent": _A_MONTH ** ((self.at.max() - self.at) / (30 * 86_400.0)),
            "mirror": _A_WRITE ** np.array([one.later for one in self.candidates]),
        }

    @lazy
    def grouped(self) -> tuple[Indices, Indices]:
        """The candidates grouped by session, and the index of each session's first."""
        order = np.argsort(self.session, kind="stable")
        return order, np.searchsorted(self.session[order], np.arange(self.sessions))

    def of_sessions(self, values: Numbers) -> Numbers:
        """The sum of each session's values.

        Avoids a product with a membership matrix: NumPy would use a second core, which then spins for longer than a
        recall takes.
        """
        order, first = self.grouped
        return np.add.reduceat(values[..., order], first, axis=-1)

    def moved(self, values: Numbers, offset: int) -> Numbers:
        """Values of the turns `offset` positions later in the same session, 0 if the pool has none."""
        index = self.beside[offset]
        return np.where(index >= 0, values[..., index], 0.0)

    def moved_vectors(self, offset: int) -> Vectors:
        """The same for the rows of `vectors`."""
        index = self.beside[offset]
        out = self.vectors.take(index, axis=0, mode="clip")
        out[index < 0] = 0.0
        return out


def _without_names(candidates: Sequence[Candidate], names: Mapping[str, str]) -> tuple[list[str], NDArray[np.bool_]]:
    """Words of each turn without the speaker's name: otherwise a name in the query matches all turns of that speaker.

    Also returns which turns were shortened.
    """
    said: list[str] = []
    named = np.zeros(len(candidates), dtype=bool)
    for place, one in enumerate(candidates):
        text, name = stored(one.lexemes), names.get(one.speaker)
        if name and text.startswith(name) and text[len(name) : len(name) + 1] in ("", " "):
            text, named[place] = text[len(name) + 1 :], True
        said.append(text)
    return said, named


def _sessions(candidates: Sequence[Candidate], at: Numbers, gap_s: float) -> tuple[Indices, NDArray[np.bool_]]:
    """Number of each turn's session (a conversation, optionally split at long pauses), and which turns open one."""
    opening = np.array([one.opening for one in candidates], dtype=bool)
    numbers: dict[str, int] = {}
    talk = np.array([numbers.setdefault(one.conversation, len(numbers)) for one in candidates], dtype=np.intp)
    if gap_s <= 0 or not candidates:
        return talk, opening
    seq = np.array([one.seq for one in candidates], dtype=np.int64)
    order = np.lexsort((seq, talk))
    first = np.ones(len(order), dtype=bool)
    np.not_equal(talk[order][1:], talk[order][:-1], out=first[1:])
    paused = np.zeros(len(order), dtype=bool)
    paused[1:] = ~first[1:] & (np.diff(at[order]) > gap_s)
    out = np.empty(len(order), dtype=np.intp)
    out[order] = np.cumsum(first | paused) - 1
    follows = paused.copy()
    follows[1:] &= seq[order][1:] == seq[order][:-1] + 1
    opening[order] |= follows
    return out, opening


def _beside(candidates: Sequence[Candidate], session: Indices) -> dict[int, Indices]:
    """For each offset the index of the turn at that distance in the same session, or -1."""
    if not candidates:
        return {offset: np.zeros(0, dtype=np.intp) for offset in OFFSETS}
    apart = 2 * max(OFFSETS) + 1
    seqs, position = np.unique(np.array([one.seq for one in candidates], dtype=np.int64), return_inverse=True)
    # Larger gaps are cut to this one: such turns are no neighbours anyway, and the positions stay small numbers.
    gaps = np.minimum(np.diff(seqs.view(np.uint64)), np.uint64(apart)).astype(np.int64)
    seq = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(gaps)])[position]
    places = session * (int(seq.max()) + apart) + seq + max(OFFSETS)  # sessions never touch
    order = np.argsort(places, kind="stable")
    ranked = places[order]
    out: dict[int, Indices] = {}
    for offset in OFFSETS:
        near = np.searchsorted(ranked, places + offset)
        near[near == len(ranked)] = 0
        out[offset] = np.where(ranked[near] == places + offset, order[near], -1)
    return out


@dataclass(slots=True)
class Found:
    """Search results of one query."""

    vector: Vector | None = None
    """Query vector; None while the embedder is down."""
    parts: Sequence[Vector] = ()
    """Vectors of the texts embedded with the query."""
    plain: Sequence[Vector] = ()
    """These vectors, the query's first, before they were mapped; empty without a map."""
    dense: Mapping[str, float] = field(default_factory=dict)
    """Cosines, from the index and the canvas."""
    words: Mapping[str, float] = field(default_factory=dict)
    """BM25 of the index."""
    text: Mapping[str, float] = field(default_factory=dict)
    """BM25 of the fallback text search, used while the index is unavailable."""
    activation: Mapping[str, float] = field(default_factory=dict)
    """Activation in [0, 1] of the seeds and the memories linked with them."""
    hot: Sequence[HotEntry] = ()
    degraded: list[str] = field(default_factory=list)

    def embedded(self, vectors: Vectors, query_map: QueryMap | None) -> Vector:
        """Set the vectors of the query and its parts, with a map the mapped ones; returns the query's."""
        mapped = vectors if query_map is None else query_map(vectors)
        vector: Vector = mapped[0]
        self.vector, self.parts = vector, list(mapped[1:])
        self.plain = () if query_map is None else list(vectors)
        return vector


def of_several_people(speakers: Collection[str]) -> bool:
    """Whether several people are named as speakers: maps of queries are fitted to one user's talks."""
    return sum(name != "" and name.lower() not in ROLES for name in speakers) > 1
