"""Waiting until memories are indexed, on a fake of the records that answers as told."""

import re
import threading
from collections.abc import Iterator, Sequence
from typing import cast

import pytest

from biem.engine.remember.await_indexed import await_indexed
from biem.errors import NotIndexed
from biem.ports import Records, Waiting

NEVER = threading.Event()


class Queue:
    """Answers what still waits: each question, the next of `answers`, the last one for ever."""

    def __init__(self, answers: Sequence[Sequence[Waiting]]) -> None:
        self.answers: Iterator[Sequence[Waiting]] = iter(answers)
        self.last: Sequence[Waiting] = ()
        self.asked: list[int] = []

    def waiting(self, ids: Sequence[str]) -> list[Waiting]:
        self.asked.append(len(ids))
        self.last = next(self.answers, self.last)
        return [waiting for waiting in self.last if waiting.memory_id in ids]


def pending(memory_id: str, *, claimed: bool = True, dead: bool = False, reason: str = "") -> Waiting:
    return Waiting(memory_id, claimed, dead, reason)


def wait(queue: Queue, ids: Sequence[str], patience_s: float = 0.0) -> str:
    """What the error says."""
    with pytest.raises(NotIndexed) as caught:
        await_indexed(cast(Records, queue), ids, NEVER, patience_s=patience_s)
    assert caught.value.ids == tuple(ids)
    return str(caught.value)


def test_it_returns_when_the_last_one_is_indexed() -> None:
    queue = Queue([[pending("a"), pending("b")], [pending("b")], []])
    await_indexed(cast(Records, queue), ["a", "b"], NEVER)
    assert queue.asked == [2, 2, 2]


@pytest.mark.parametrize(
    ("left", "said"),
    [
        (pending("a", reason="Milvus did not answer"), "memory a is stored .* Milvus did not answer"),
        (pending("a"), "a worker holds it, or died while it did"),
        (pending("a", claimed=False), "no worker took it"),
    ],
)
def test_in_vain_it_says_how_much_is_left_and_why(left: Waiting, said: str) -> None:
    assert re.search(said, wait(Queue([[left]]), ["a"]))
    assert wait(Queue([[left, pending("b")]]), ["a", "b"]).startswith("2 memories, first a, are stored")


def test_a_dead_letter_is_reported_at_once_and_after_the_others() -> None:
    # Given one that no one will try again, next to one that is indexed meanwhile
    dead = pending("a", dead=True, reason="ValueError: odd")
    queue = Queue([[dead, pending("b")], [dead]])

    # When both are waited for / Then its reason is shown without waiting for it
    said = wait(queue, ["a", "b"], 600.0)
    assert said.startswith("memory a is stored")
    assert "ValueError: odd" in said
    assert "biem retry" in said


def test_many_are_asked_for_in_parts_and_every_progress_renews_the_patience() -> None:
    # Given more than one statement's worth, of which some are indexed at each look
    ids = [str(number) for number in range(250)]
    queue = Queue([[pending(key) for key in ids[done:]] for done in range(0, 251, 10)])

    # When they are waited for with hardly any patience / Then it lasts as long as there is progress
    await_indexed(cast(Records, queue), ids, NEVER, patience_s=5.0)
    assert max(queue.asked) == 100


def test_closing_ends_it() -> None:
    closed = threading.Event()
    closed.set()
    with pytest.raises(NotIndexed, match="closed"):
        await_indexed(cast(Records, Queue([[pending("a")]])), ["a"], closed, patience_s=600.0)
