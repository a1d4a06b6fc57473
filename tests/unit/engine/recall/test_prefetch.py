"""What recall reads ahead."""

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from biem.engine.recall.candidates import Prefetch
from biem.ports.readers import Turn, Turns
from tests.support.fakes import START


def turns(*ids: str, matches: bool = True) -> Turns:
    """Facts of these ids."""
    found = {key: Turn(key, "n", (), None, "knowledge", "", "", START, 1, False, matches, None, None) for key in ids}
    return Turns(found, [], frozenset())


def test_what_is_read_ahead_is_not_read_again() -> None:
    # Given a reading that was begun by another thread
    with ThreadPoolExecutor(1) as threads:
        early = Prefetch(threads.submit, lambda ids: turns(*ids))
        early.begin(["a", "b"])

        # When the rest is known / Then only the others are left, and all are shown
        assert early.left(["b", "c", "a", "d"]) == ["c", "d"]
        assert early.with_others(turns("c", "d")).by_id.keys() == {"a", "b", "c", "d"}


def test_a_reading_that_failed_fails_the_recall_as_any_other() -> None:
    # Given a reading ahead that met an outage
    failed: Future[Any] = Future()
    failed.set_exception(ConnectionError("gone"))
    early = Prefetch(lambda *_: failed, lambda ids: turns(*ids))
    early.begin(["a"])

    # When its outcome is asked for / Then the caller learns it
    with pytest.raises(ConnectionError):
        early.with_others(turns("b"))
