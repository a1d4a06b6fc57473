"""What a closed memory leaves open: the next one takes it, or it is closed within seconds."""

import os
from collections.abc import Callable, Iterator

import pytest

from biem.adapters import kept_open
from biem.adapters.kept_open import KeptOpen, close_kept
from tests.support.fakes import eventually

Build = Callable[[float], KeptOpen[str]]
LONG_S = 600.0


@pytest.fixture
def closed() -> list[str]:
    """What was closed."""
    return []


@pytest.fixture
def kept(closed: list[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Build]:
    """Builds one that closes what is not taken after a number of seconds."""
    monkeypatch.setattr(kept_open, "_ALL", [])
    yield lambda keep_s: KeptOpen(closed.append, keep_s)
    close_kept()


def test_what_is_kept_is_taken_once_under_its_key(kept: Build, closed: list[str]) -> None:
    things = kept(LONG_S)
    things.keep("a", "old")
    things.keep("a", "new")
    assert things.take("b") is None
    assert [things.take("a") for _ in range(3)] == ["new", "old", None]
    close_kept()
    assert closed == []


def test_what_no_one_takes_is_closed(kept: Build, closed: list[str]) -> None:
    things = kept(0.01)
    things.keep("a", "one")
    things.keep("a", "other")
    eventually(lambda: sorted(closed) == ["one", "other"])
    assert things.take("a") is None


def test_at_the_end_of_the_process_all_of_it_is_closed_once(kept: Build, closed: list[str]) -> None:
    first, second = kept(LONG_S), kept(LONG_S)
    first.keep("a", "one")
    second.keep("b", "other")
    close_kept()
    close_kept()
    assert closed == ["one", "other"]
    assert first.take("a") is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks there")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_child_neither_takes_nor_closes_what_its_parent_kept(kept: Build, closed: list[str]) -> None:
    things = kept(LONG_S)
    things.keep("a", "one")
    child = os.fork()
    if child == 0:
        close_kept()
        os._exit(0 if (things.take("a"), closed) == (None, []) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert things.take("a") == "one"
