"""Candidates of one recall: those read while the searches run, and those the searches missed."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from itertools import islice

from biem.domain.conflict import Dispute
from biem.engine.recall.rank.pool import Found
from biem.ports.readers import Turns


class Prefetch:
    """Candidates that one recall reads ahead. Started by a search thread, finished by the caller's thread."""

    def __init__(self, submit: Callable[..., Future[Turns]], read: Callable[[Sequence[str]], Turns]) -> None:
        """`submit` runs a function on another thread; `read` reads memories by id, with their neighbouring turns."""
        self._submit = submit
        self._read = read
        self._begun: dict[str, None] = {}
        self._reading: list[Future[Turns]] = []

    def begin(self, ids: Sequence[str]) -> None:
        """Start reading these memories."""
        self._reading.append(self._submit(self._read, ids))
        self._begun |= dict.fromkeys(ids)

    def left(self, ids: Sequence[str]) -> list[str]:
        """The ids that are not being read."""
        return [key for key in ids if key not in self._begun]

    def with_others(self, turns: Turns) -> Turns:
        """The prefetched turns and `turns`."""
        for reading in self._reading:
            turns = joined(turns, reading.result())
        return turns


LOOKED_AT = 10
"""Best results of each search whose disputing memories must be candidates, too."""


def missing(found: Found, turns: Turns, disputes: Mapping[str, Sequence[Dispute]]) -> Sequence[str]:
    """Ids of memories that dispute the best results but were not found themselves."""
    best = [key for way in (found.dense, found.words, found.text) for key in islice(way, LOOKED_AT)]
    newer = [one.newer_id for key in best for one in disputes.get(key, ())]
    return [key for key in dict.fromkeys(newer) if key and key not in turns.by_id]


def joined(turns: Turns, more: Turns) -> Turns:
    """Merge the candidates of two reads."""
    return Turns({**more.by_id, **turns.by_id}, [*turns.stretches, *more.stretches], turns.openings | more.openings)
