"""How long the demo waits for its index before it asks."""

from collections.abc import Callable, Iterator, Sequence
from typing import cast

import pytest

import biem
from biem.cli.demo import index_all


class Flushes:
    """The method of a memory; each call ends at its time limit, after the numbers of pending memories given for it."""

    def __init__(self, *calls: Sequence[int]) -> None:
        self._calls: Iterator[Sequence[int]] = iter(calls)

    def flush(self, timeout_s: float, on_progress: Callable[[int], None]) -> bool:
        assert timeout_s > 0
        left = next(self._calls)
        for pending in left:
            on_progress(pending)
        return left[-1] == 0


@pytest.mark.parametrize(
    ("calls", "pending"),
    [
        ([(391, 64, 0)], 0),
        # A busy machine takes several times the limit, and goes on
        ([(391, 327), (327, 199), (199, 71), (71, 0)], 0),
        # Nothing was indexed within the limit
        ([(391, 327), (327, 327)], 327),
        ([(391, 391)], 391),
    ],
)
def test_the_demo_waits_while_memories_are_indexed_and_says_how_many_are_left(
    calls: list[tuple[int, ...]], pending: int
) -> None:
    shown: list[int] = []
    assert index_all(cast(biem.Memory, Flushes(*calls)), shown.append) == pending
    assert shown == [left for call in calls for left in call]
