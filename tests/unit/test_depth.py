"""How far recall looks, and what it reads ahead."""

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from biem.engine.depth import suffices
from biem.engine.early import Early
from biem.engine.search import Found
from biem.ports.turns import Turn, Turns
from tests.fakes import START


def turns(*ids: str, matches: bool = True) -> Turns:
    """Facts of these ids."""
    found = {key: Turn(key, "n", (), None, "knowledge", "", "", START, 1, False, matches, None, None) for key in ids}
    return Turns(found, [], frozenset())


def both(one: Turns, other: Turns) -> Turns:
    return Turns({**one.by_id, **other.by_id}, [], frozenset())


@pytest.mark.parametrize(
    ("met", "enough"), [(("a", "b", "c", "d"), True), (("a", "b"), True), (("a",), False), ((), False)]
)
@pytest.mark.parametrize("way", ["dense", "words", "text"])
def test_a_search_looks_further_only_where_most_of_what_it_found_misses_a_condition(
    way: str, met: tuple[str, ...], enough: bool
) -> None:
    # Given a search that found as many as it was asked for, of which some meet the conditions
    found = Found()
    setattr(found, way, dict.fromkeys("abcd", 1.0))

    # When it is judged / Then at least half must; what was erased meanwhile meets none
    missed = turns(*[key for key in "abc" if key not in met], matches=False)
    assert suffices(found, both(turns(*met), missed), 4) is enough


def test_a_search_that_found_all_there_is_finds_no_more_by_looking_further() -> None:
    # Given fewer memories than a search was asked for / When none meets the conditions / Then that is the answer
    assert suffices(Found(dense={"a": 1.0}, words={"a": 2.0}), turns("a", matches=False), 4)


def test_what_is_read_ahead_is_not_read_again() -> None:
    # Given a reading that was begun by another thread
    with ThreadPoolExecutor(1) as threads:
        early = Early(threads.submit, lambda ids: turns(*ids))
        early.begin(["a", "b"])

        # When the rest is known / Then only the others are left, and all are told
        assert early.left(["b", "c", "a", "d"]) == ["c", "d"]
        assert early.with_others(turns("c", "d")).by_id.keys() == {"a", "b", "c", "d"}


def test_a_reading_that_failed_fails_the_recall_as_any_other() -> None:
    # Given a reading ahead that met an outage
    failed: Future[Any] = Future()
    failed.set_exception(ConnectionError("gone"))
    early = Early(lambda *_: failed, lambda ids: turns(*ids))
    early.begin(["a"])

    # When its outcome is asked for / Then the caller is told
    with pytest.raises(ConnectionError):
        early.with_others(turns("b"))
