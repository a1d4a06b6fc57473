"""A memory's identity, its bounds, and its companions."""

import uuid
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.domain.node import (
    Draft,
    Hits,
    Receipt,
    StoreCount,
    new_id,
    parse_id,
    require_importance,
    require_time,
)
from biem.errors import InvalidInput
from tests.support.fakes import START


@pytest.mark.req("C36", partly="UUID version 7")
def test_ids_are_uuids_of_version_seven_and_never_repeat() -> None:
    # Given many ids
    ids = [new_id() for _ in range(2_000)]

    # When they are read as UUIDs / Then all are of the version and variant
    assert {(uuid.UUID(key).version, uuid.UUID(key).variant) for key in ids} == {(7, uuid.RFC_4122)}
    assert len(set(ids)) == 2_000
    assert all(len(key) == 36 for key in ids)


def test_ids_sort_by_the_millisecond_of_their_creation() -> None:
    # Given ids made one after the other
    stamps = [new_id()[:13] for _ in range(2_000)]

    # When their times are compared / Then none goes back
    assert stamps == sorted(stamps)


@given(value=st.uuids())
def test_an_id_in_any_spelling_becomes_its_canonical_one(value: uuid.UUID) -> None:
    # Given an id / When it is written otherwise / Then it is the same
    assert parse_id(str(value).upper()) == parse_id(value.hex) == parse_id(f"{{{value}}}") == str(value)


@pytest.mark.parametrize("text", ["", "x", "'; DROP TABLE memories", "123", None, 7, b"x", "0" * 31])
def test_what_is_no_id_is_refused_with_an_example(text: Any) -> None:
    # Given something else / When it is read as an id / Then the message shows one
    with pytest.raises(InvalidInput, match="ids look like"):
        parse_id(text)


@pytest.mark.parametrize("value", [1, 1.0, 3, 4.99, 5, 5.0])
def test_importance_from_one_to_five_is_accepted(value: float) -> None:
    # Given an importance in bounds / When it is checked / Then it is a float
    assert require_importance(value) == value
    assert isinstance(require_importance(value), float)


@pytest.mark.parametrize(
    "value",
    [0, 0.999, 5.001, -1, float("nan"), float("inf"), float("-inf"), True, "3", None, [3], 3j, 10**400],
    ids=lambda value: repr(value)[:12],
)
def test_any_other_importance_is_refused(value: Any) -> None:
    # Given anything else / When it is checked / Then the bounds are named
    with pytest.raises(InvalidInput, match="1 to 5"):
        require_importance(value)


def test_times_come_out_in_utc_and_naive_ones_are_utc() -> None:
    # Given one instant in three spellings
    east = datetime(2026, 5, 4, 17, 0, tzinfo=timezone(timedelta(hours=8)))
    naive = datetime(2026, 5, 4, 9, 0)  # noqa: DTZ001

    # When they are checked / Then they are one
    for value in (START, east, naive):
        checked = require_time(value, "at", START, 366)
        assert checked == START
        assert checked.tzinfo is UTC


class _Strange(tzinfo):
    def utcoffset(self, at: datetime | None) -> timedelta:
        return timedelta(hours=23)

    def dst(self, at: datetime | None) -> timedelta:
        return timedelta(0)

    def tzname(self, at: datetime | None) -> str:
        return "strange"


@pytest.mark.parametrize(
    "value",
    [
        datetime(1, 1, 1, tzinfo=UTC),
        datetime(1899, 12, 31, tzinfo=UTC),
        datetime(1, 1, 1, tzinfo=_Strange()),
        datetime.max.replace(tzinfo=timezone(-timedelta(hours=23))),
        datetime.max.replace(tzinfo=UTC),
        START + timedelta(days=367),
        START.date(),
        "2026-05-04",
        1_777_000_000,
        None,
    ],
    ids=str,
)
def test_times_outside_the_calendar_of_a_memory_are_refused_by_name(value: Any) -> None:
    # Given such a time / When it is checked / Then the message names the argument
    with pytest.raises(InvalidInput, match="since"):
        require_time(value, "since", START, 366)


def test_times_at_the_bounds_are_accepted() -> None:
    # Given the first and the last moment / When they are checked / Then they pass
    for value in (datetime(1900, 1, 1, tzinfo=UTC), START + timedelta(days=366)):
        assert require_time(value, "at", START, 366) == value


def test_a_message_is_indexed_with_its_speaker_and_a_fact_without() -> None:
    # Given a message and a fact / When they are indexed / Then the speaker is part of the words
    assert Draft(text="hello", speaker="Li", at=START).indexed_text == "Li: hello"
    assert Draft(text="hello", at=START).indexed_text == "hello"


@pytest.mark.req("D8", partly="when a receipt is complete")
@pytest.mark.parametrize(
    ("after", "complete"), [((0, 0), True), ((0, 1), False), ((0, None), False), ((None, None), False)]
)
def test_a_receipt_is_complete_only_if_every_store_was_reached_and_is_empty(
    after: tuple[int | None, int | None], complete: bool
) -> None:
    # Given what two stores hold afterwards / When the receipt is asked / Then doubt means no
    stores = tuple(StoreCount(name, 3, left) for name, left in zip("ab", after, strict=True))
    assert Receipt(id="r", target="t", erased_at=START, memories=1, stores=stores).complete is complete


def test_hits_are_a_list_that_knows_what_was_down() -> None:
    # Given no hits / When they are made / Then they compare as a list and are not degraded
    assert Hits() == []
    assert Hits().degraded == ()
    assert Hits(degraded=("milvus",), mode="strict").mode == "strict"
