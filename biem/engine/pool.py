"""The candidates of one query as arrays: who stands beside whom, in which session, with which words and vectors."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from biem.domain.terms import stored
from biem.engine.bag import Bag, Indices, Numbers
from biem.ports import Vector, Vectors

OFFSETS = (-2, -1, 1, 2)
"""How far a neighbour may stand."""


class Candidate(NamedTuple):
    """One turn of the pool. Turns of one session with consecutive `seq` are neighbours."""

    id: str
    lexemes: Sequence[str]
    """Of the indexed text, which the speaker's name leads."""
    vector: Vector | None
    """Of length 1; None where it has none yet."""
    speaker: str
    conversation: str
    seq: int
    at: datetime
    """Aware."""
    asks: bool = False
    """The turn ends with a question mark."""
    opening: bool = False
    """No turn of its session comes before it."""


class Pool:
    """What all signals of one query share, computed once. Arrays have one entry for each candidate, in its order."""

    def __init__(
        self, candidates: Sequence[Candidate], names: Mapping[str, Sequence[str]], gap_s: float, dimension: int | None
    ) -> None:
        """`names`: terms of every speaker's name; `gap_s` as in `RankPolicy`; `dimension` of the query's vector.

        Vectors of another dimension (of the embedder before a change) count as missing.
        """
        self.candidates = candidates
        self.size = len(candidates)
        speakers = {name: stored(terms) for name, terms in names.items()}
        said, self.named = _without_names(candidates, speakers)
        """Whose words were led by the speaker's name, which `bag` leaves out."""
        self.bag = Bag(said)
        self.session, self.opening = _sessions(candidates, gap_s)
        """Where each session begins, as far as the pool knows."""
        self.sessions = int(self.session.max()) + 1 if self.size else 0
        self.beside = _beside(candidates, self.session)
        self.known: NDArray[np.bool_] = np.array([_fits(one.vector, dimension) for one in candidates], dtype=bool)
        self.vectors = self._matrix(dimension or 0)

    def _matrix(self, dimension: int) -> Vectors:
        """A row for each candidate, zero where the vector is not known."""
        if not self.known.any():
            return np.zeros((self.size, dimension), dtype=np.float32)
        zero = np.zeros(dimension, dtype=np.float32)
        rows = [
            one.vector if known and one.vector is not None else zero
            for one, known in zip(self.candidates, self.known.tolist(), strict=True)
        ]
        return np.concatenate(rows, dtype=np.float32).reshape(self.size, dimension)

    def moved(self, values: Numbers, offset: int) -> Numbers:
        """The values of the turns so many places on in the same session, 0 where the pool has none."""
        index = self.beside[offset]
        return np.where(index >= 0, values[..., index], 0.0)

    def moved_vectors(self, offset: int) -> Vectors:
        """The same for the rows of `vectors`."""
        index = self.beside[offset]
        out = self.vectors.take(index, axis=0, mode="clip")
        out[index < 0] = 0.0
        return out


def _fits(vector: Vector | None, dimension: int | None) -> bool:
    return vector is not None and len(vector) == dimension


def _without_names(candidates: Sequence[Candidate], names: Mapping[str, str]) -> tuple[list[str], NDArray[np.bool_]]:
    """What was said, without who said it: otherwise a name in the query finds all that this speaker ever said.

    And of which something was left out.
    """
    said: list[str] = []
    named = np.zeros(len(candidates), dtype=bool)
    for place, one in enumerate(candidates):
        text, name = stored(one.lexemes), names.get(one.speaker)
        if name and text.startswith(name) and text[len(name) : len(name) + 1] in ("", " "):
            text, named[place] = text[len(name) + 1 :], True
        said.append(text)
    return said, named


def _sessions(candidates: Sequence[Candidate], gap_s: float) -> tuple[Indices, NDArray[np.bool_]]:
    """A number for each session, which is a conversation, cut at long pauses if wanted; and who opens one."""
    opening = np.array([one.opening for one in candidates], dtype=bool)
    if gap_s <= 0:
        numbers = {name: number for number, name in enumerate(dict.fromkeys(one.conversation for one in candidates))}
        return np.array([numbers[one.conversation] for one in candidates], dtype=np.intp), opening
    out = np.zeros(len(candidates), dtype=np.intp)
    latest: dict[str, tuple[Candidate, int]] = {}
    count = 0
    for index in sorted(range(len(candidates)), key=lambda i: candidates[i].seq):
        one = candidates[index]
        before, number = latest.get(one.conversation, (None, count))
        if before is None or (one.at - before.at).total_seconds() > gap_s:
            number = count
            count += 1
            opening[index] |= before is not None and one.seq == before.seq + 1
        latest[one.conversation] = (one, number)
        out[index] = number
    return out, opening


def _beside(candidates: Sequence[Candidate], session: Indices) -> dict[int, Indices]:
    """For each offset the index of the turn that many places on in the same session, or -1."""
    if not candidates:
        return {offset: np.zeros(0, dtype=np.intp) for offset in OFFSETS}
    apart = 2 * max(OFFSETS) + 1
    seqs, position = np.unique(np.array([one.seq for one in candidates], dtype=np.int64), return_inverse=True)
    # Turns that far apart are not beside each other, however far it is: the places stay small numbers.
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
