"""How soon the embedded servers answer, on a machine on which others compute, too."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support import stacks
from tests.support.fakes import PATIENCE_S, eventually
from tests.support.stacks import down, joined

base = stacks.base
BESIDE = """
import select, sys, time
sys.stdout.write("computing\\n"), sys.stdout.flush()
began, used = time.monotonic(), time.process_time()
while not select.select([sys.stdin], [], [], 0)[0]:
    sum(range(10_000))
print((time.monotonic() - began) / (time.process_time() - used))
"""
"""Computes until it is instructed to stop, and says how many times longer that took than it would have alone."""


@contextmanager
def slowness() -> Iterator[list[float]]:
    """How many times slower others make this machine during the block; the number is there when it is over."""
    words = [sys.executable, "-c", BESIDE]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as beside:
        assert beside.stdout is not None
        assert beside.stdout.readline() == "computing\n"
        found: list[float] = []
        yield found
        told, _ = beside.communicate("stop\n")
        found.append(max(1.0, float(told)))


@pytest.mark.req("D1")
def test_it_is_ready_within_three_seconds_of_a_machine_that_does_nothing_else(base: Path) -> None:
    took = []
    for attempt in range(5):  # what others do comes in bursts
        home = base / f"home {attempt}"
        with slowness() as slower:
            began = time.monotonic()
            with joined(home):
                ready_s = time.monotonic() - began
        took.append(ready_s / slower[0])
        eventually(lambda home=home: down(home), PATIENCE_S, "the servers end")  # type: ignore[misc]
        if took[-1] <= 3:
            break
    assert min(took) <= 3, took
