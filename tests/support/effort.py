"""How thorough a run is: `make test` tries a sample of what `make test-long` tries in full (`BIEM_TEST_THOROUGH=1`).

A test that does more in a thorough run has the marker `sized`; a test or a case that only `make test-long` runs has the
marker `long`.
"""

import os
from collections.abc import Iterator
from itertools import count
from typing import TypeVar

T = TypeVar("T")

THOROUGH = os.environ.get("BIEM_TEST_THOROUGH") == "1"


def sized(sample: T, full: T) -> T:
    """The size of a test: `full` in a thorough run, else `sample`."""
    return full if THOROUGH else sample


def places(stride: int) -> Iterator[int]:
    """1, 2, 3, … in a thorough run, else every `stride`-th of them from 1 on: places at which a process dies."""
    return count(1, sized(stride, 1))
