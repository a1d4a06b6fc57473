"""Candidates of one recall: what is read while the searches run, and what they missed."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from itertools import islice

from biem.domain.conflict import Dispute
from biem.engine.recall.rank.pool import Found
from biem.ports.readers import Turns


class Prefetch:
    """What one recall reads ahead. Begun by a thread of the searches, ended by the caller's."""

    def __init__(self, submit: Callable[..., Future[Turns]], read: Callable[[Sequence[str]], Turns]) -> None:
        """`submit` runs something on another thread; `read` reads memories by id, with their surroundings."""
        self._submit = submit
        self._read = read
        self._begun: dict[str, None] = {}
        self._reading: list[Future[Turns]] = []

    def begin(self, ids: Sequence[str]) -> None:
        """Read these."""
        self._reading.append(self._submit(self._read, ids))
        self._begun |= dict.fromkeys(ids)

    def left(self, ids: Sequence[str]) -> list[str]:
        """Those that are not being read."""
        return [key for key in ids if key not in self._begun]

    def with_others(self, turns: Turns) -> Turns:
        """What was read ahead, and `turns`."""
        for reading in self._reading:
            turns = joined(turns, reading.result())
        return turns


LOOKED_AT = 10
"""Of what each search found, the best: what disputes one of them must be among the candidates, too."""


def missing(found: Found, turns: Turns, disputes: Mapping[str, Sequence[Dispute]]) -> Sequence[str]:
    """What disputes the best that was found, and was not found itself."""
    best = [key for way in (found.dense, found.words, found.text) for key in islice(way, LOOKED_AT)]
    newer = [one.newer_id for key in best for one in disputes.get(key, ())]
    return [key for key in dict.fromkeys(newer) if key and key not in turns.by_id]


def joined(turns: Turns, more: Turns) -> Turns:
    """Candidates of two readings."""
    return Turns({**more.by_id, **turns.by_id}, [*turns.stretches, *more.stretches], turns.openings | more.openings)
