"""Waiting until memories are indexed, and the reason when they are not."""

import threading
import time
from collections.abc import Sequence

from biem.errors import NotIndexed
from biem.ports import Records, Waiting

PATIENCE_S = 60.0
_POLL_S = 0.01
_AT_ONCE = 100
"""Memories queried in one statement. Workers take the oldest first, so later ones are seldom done before."""


def await_indexed(
    records: Records, ids: Sequence[str], closed: threading.Event, *, patience_s: float = PATIENCE_S
) -> None:
    """Return when all these memories are indexed; raises `NotIndexed` when none was for `patience_s`.

    Does not wait for dead letters. The error gives the number of memories left and the last error of the first of them.
    """
    todo, dead, fewest = list(ids), list[Waiting](), len(ids) + 1
    deadline = time.monotonic() + patience_s
    while todo:
        found = records.waiting(todo[:_AT_ONCE])
        alive = [waiting for waiting in found if not waiting.dead]
        if not alive:
            dead += found
            del todo[:_AT_ONCE]
            continue
        left = len(alive) + max(0, len(todo) - _AT_ONCE)
        now = time.monotonic()
        if left < fewest:
            fewest, deadline = left, now + patience_s
        if now >= deadline:
            raise NotIndexed(_message(alive[0], left + len(dead), f"nothing more for {patience_s:.0f} s"), ids)
        if closed.wait(_POLL_S):
            raise NotIndexed(_message(alive[0], left + len(dead), "this memory was closed while waiting"), ids)
    if dead:
        raise NotIndexed(_message(dead[0], len(dead), "not retried before `biem retry`"), ids)


def _message(first: Waiting, count: int, since: str) -> str:
    who = f"memory {first.memory_id} is" if count == 1 else f"{count} memories, first {first.memory_id}, are"
    if first.reason:
        why = first.reason
    elif first.claimed:
        why = "a worker holds it, or died while it did"
    else:
        why = "no worker took it; check that one runs and how long its queue is"
    return f"{who} stored and found by words, but not indexed ({since}): {why}"
