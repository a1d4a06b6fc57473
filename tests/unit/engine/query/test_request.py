"""The conditions that a caller may set, and what is said about those that make no sense."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from biem.domain.node import Node, new_id
from biem.domain.policies.recall import RecallPolicy
from biem.domain.prompt.contents import Known
from biem.domain.scope import Scope
from biem.engine.query.request import Request, admits, checked, conditions, excluding, unexcluded
from biem.errors import InvalidInput
from biem.ports import Filter
from tests.support.fakes import START


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


def asked(text: str = "what?", **more: Any) -> Request:
    """A request of which only these are set."""
    usual: dict[str, Any] = {"top_k": 3, "mode": "fast", "where": Filter(), "session": "", "min_confidence": 0.0}
    return checked(Scope(), text, **(usual | more), policy=RecallPolicy())


def test_numbers_at_the_ends_of_their_range_are_taken_and_those_beyond_refused() -> None:
    most = RecallPolicy().max_top_k
    assert [asked(top_k=count).top_k for count in (1, most)] == [1, most]
    assert [asked(min_confidence=least).least for least in (0, 1)] == [0.0, 1.0]
    for wrong in ({"top_k": 0}, {"top_k": most + 1}, {"min_confidence": 1.01}, {"min_confidence": -0.01}):
        with pytest.raises(InvalidInput, match=next(iter(wrong))):
            asked(**wrong)


def test_what_a_session_has_at_hand_answers_only_what_has_no_other_conditions() -> None:
    known = excluding(Filter(), Known(conversations=frozenset({"monday"})))
    assert asked(session="s").follows is True
    assert asked(session="s", where=known).follows is True
    assert asked().follows is False
    assert asked(session="s", mode="strict").follows is False
    assert asked(session="s", where=Filter(kinds=("event",))).follows is False


def test_what_a_prompt_holds_is_left_out_by_conversation_and_by_five_hundred_ids_and_taken_back() -> None:
    # Given more ids than a search is told, one that is no id, and a conversation
    ids = sorted(f"{number:08x}-0000-0000-0000-000000000000" for number in range(600))
    where = Filter(kinds=("event",))

    # When they are left out / Then in order, the first of them; and without them it is the filter from before
    narrow = excluding(where, Known(ids=frozenset([*ids, "a ref"]), conversations=frozenset({"b", "a"})))
    assert (list(narrow.not_ids), narrow.not_conversations) == (ids[:500], ("a", "b"))
    assert unexcluded(narrow) == unexcluded(replace(narrow, not_conversations=())) == where


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({}, True),
        ({"until": START}, False),
        ({"until": START + timedelta(seconds=1)}, True),
        ({"since": START}, True),
        ({"since": START + timedelta(seconds=1)}, False),
        ({"as_of": START}, True),
        ({"as_of": START - timedelta(seconds=1)}, False),
        ({"min_energy": 0.5}, True),
        ({"min_energy": 0.51}, False),
        ({"sentiment": (0.2, 0.2)}, True),
        ({"sentiment": (0.21, 1.0)}, False),
        ({"sentiment": (-1.0, 0.19)}, False),
        ({"kinds": ("event",)}, False),
        ({"speakers": ("Li",)}, True),
        ({"speakers": ("Wu",)}, False),
        ({"conversations": ("c",)}, True),
        ({"conversations": ("d",)}, False),
        ({"tags": ("a",)}, True),
        ({"tags": ("a", "z")}, False),
    ],
)
def test_a_memory_in_hand_is_admitted_as_the_records_would(where: dict[str, Any], expected: bool) -> None:
    node = Node(
        id=new_id(), scope=Scope(), text="x", kind="knowledge", status="active", layer="short_term", at=START,
        created_at=START, write_seq=1, speaker="Li", conversation="c", tags=("a", "b"), energy=0.5, sentiment=0.2,
    )  # fmt: skip
    assert admits(Filter(**where), node) is expected
