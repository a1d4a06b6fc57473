"""Doors in front of the session's servers, for the tests of outages."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from biem.bootstrap import Servers
from tests.support.workloads import Doors


@pytest.fixture
def doors(stack: Servers, tmp_path: Path) -> Iterator[Doors]:
    """The same servers, each of which can be cut off or made to hang."""
    opened = Doors(tmp_path, stack)
    yield opened
    opened.shut()
