"""Doors in front of the session's servers, for the tests of outages, and one packaged model for all tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from biem.adapters.embedders.shared_model import MODELS
from biem.bootstrap import Servers
from tests.support.workloads import Doors


@pytest.fixture
def doors(stack: Servers, tmp_path: Path) -> Iterator[Doors]:
    """The same servers, each of which can be cut off or made to hang."""
    opened = Doors(tmp_path, stack)
    yield opened
    opened.shut()


@pytest.fixture(scope="session", autouse=True)
def _models_stay_loaded() -> None:
    """Loading the packaged model takes a second of each test that opens a memory with it; closing has its own tests."""
    MODELS.keep()
