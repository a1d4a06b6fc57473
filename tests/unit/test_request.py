"""The conditions that a caller may set, and what is said about those that make no sense."""

from typing import Any

import pytest

from biem.engine.request import conditions
from biem.errors import InvalidInput
from biem.ports import Filter
from tests.fakes import START


def of(**asked: Any) -> Filter:
    """Conditions of which only these are set."""
    return conditions(START, (), None, None, (), (), (), None, **asked)


def test_nothing_asked_for_is_no_condition() -> None:
    assert of() == of(min_energy=0, sentiment=(-1, 1)) == Filter()
    assert not of().late


@pytest.mark.parametrize("asked", [{"min_energy": 0.3}, {"sentiment": (-1, 0.5)}, {"sentiment": (0.5, 1)}])
def test_what_the_index_does_not_know_makes_the_searches_look_further(asked: dict[str, Any]) -> None:
    assert of(**asked).late


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"min_energy": 1.01}, "from 0 to 1"),
        ({"min_energy": -0.1}, "from 0 to 1"),
        ({"min_energy": float("nan")}, "from 0 to 1"),
        ({"min_energy": True}, "from 0 to 1"),
        ({"min_energy": "1"}, "from 0 to 1"),
        ({"sentiment": 0.5}, "a pair"),
        ({"sentiment": (0.5,)}, "a pair"),
        ({"sentiment": ("a", "b")}, "a pair"),
        ({"sentiment": (0.5, 0.1)}, "least before greatest"),
        ({"sentiment": (-1.1, 0.0)}, "in -1 to 1"),
        ({"sentiment": (0.0, float("nan"))}, "in -1 to 1"),
    ],
)
def test_a_number_out_of_range_is_refused_with_the_range(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        of(**asked)


@pytest.mark.parametrize("place", [0, 3, 4, 5])
@pytest.mark.parametrize(
    ("names", "said"),
    [("event", "a list of strings"), (None, "not NoneType"), ([None], "is NoneType"), (["\0"], "NUL")],
)
def test_names_are_a_list_of_strings_that_can_be_stored(place: int, names: Any, said: str) -> None:
    # Given a condition of names / When it is a lone string, nothing, or holds what no name can be
    asked: list[Any] = [(), None, None, (), (), (), None]
    asked[place] = names
    # Then that is said, instead of finding nothing or failing in a store
    with pytest.raises(InvalidInput, match=said):
        conditions(START, *asked)


@pytest.mark.parametrize("mood", [(-1.0, 1.01), (-1.01, 1.0), (0.5, 0.4)])
def test_a_mood_just_out_of_range_is_refused_and_the_whole_range_is_not(mood: tuple[float, float]) -> None:
    with pytest.raises(InvalidInput, match="least before greatest"):
        conditions(START, (), None, None, (), (), (), None, sentiment=mood)
    assert conditions(START, (), None, None, (), (), (), None, sentiment=(-1.0, 1.0)).sentiment == (-1.0, 1.0)
