"""Conditions on metadata, and durations, as the command line takes them."""

from datetime import timedelta
from typing import Any

import pytest

from biem.cli.filters import metadata_conditions, metadata_values, parse_duration
from biem.errors import InvalidInput


@pytest.mark.parametrize(
    ("given", "where"),
    [
        (["score>=3"], {"score": {"$gte": 3}}),
        (["score >= 3", "score<5.5"], {"score": {"$gte": 3, "$lt": 5.5}}),
        (["project=x"], {"project": {"$eq": "x"}}),
        (["project==x y"], {"project": {"$eq": "x y"}}),
        (["project!=项目"], {"project": {"$ne": "项目"}}),
        (['version="1"'], {"version": {"$eq": "1"}}),
        (["done=true", "owner=null"], {"done": {"$eq": True}, "owner": {"$eq": None}}),
        (["name=NaN"], {"name": {"$eq": "NaN"}}),
        (["formula=a=b"], {"formula": {"$eq": "a=b"}}),
        (["note="], {"note": {"$eq": ""}}),
        (['arrow="=>"'], {"arrow": {"$eq": "=>"}}),
        (['{"a": {"$in": [1, 2]}, "b": "x"}'], {"a": {"$in": [1, 2]}, "b": {"$eq": "x"}}),
        (["a>1", '{"a": {"$lt": 9}}'], {"a": {"$gt": 1, "$lt": 9}}),
        ([], None),
        (None, None),
    ],
)
def test_a_condition_is_read_as_it_looks(given: list[str] | None, where: dict[str, Any] | None) -> None:
    assert metadata_conditions(given) == where


@pytest.mark.parametrize(
    "given",
    [["x"], ["=1"], [">=3"], ["{"], ["{}x"], ["a=1", "a=2"], ["a>null"], ["a>>3"], ["a=>3"], ["a<>3"], ['{"a": {}}']],
)
def test_what_is_no_condition_is_refused(given: list[str]) -> None:
    with pytest.raises(InvalidInput):
        metadata_conditions(given)


@pytest.mark.parametrize(
    ("given", "metadata"),
    [
        (["project=项目", "score=3", "done=true", 'version="1"'],
         {"project": "项目", "score": 3, "done": True, "version": "1"}),
        (["formula=a=b", "note=", "x= y "], {"formula": "a=b", "note": "", "x": " y "}),
        (['{"a": {"b": [1]}}', "c=[1, 2]", "d=NaN"], {"a": {"b": [1]}, "c": [1, 2], "d": "NaN"}),
        (["{}"], {}),
        (None, None),
    ],
)  # fmt: skip
def test_metadata_are_read_as_they_look(given: list[str] | None, metadata: dict[str, Any] | None) -> None:
    assert metadata_values(given) == metadata


@pytest.mark.parametrize("given", [["x"], ["=1"], ["{"], ["a=1", "a=2"], ["a=1", '{"a": 1}'], [""]])
def test_what_is_no_metadata_is_refused(given: list[str]) -> None:
    with pytest.raises(InvalidInput, match="--metadata"):
        metadata_values(given)


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("15m", 900), (" 12 h ", 43_200), ("30d", 2_592_000), ("2w", 1_209_600)]
)
def test_a_duration_is_a_number_of_one_unit(text: str, seconds: int) -> None:
    assert parse_duration(text, "--ttl") == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "d", "1", "-1d", "1.5h", "1y", "1d2h", "999999999999w"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="--ttl"):
        parse_duration(text, "--ttl")
