"""The conditions that a caller may set, and what is said about those that make no sense."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from biem.domain.node import KINDS, Node, new_id
from biem.domain.policies.recall import RecallPolicy
from biem.domain.prompt.contents import Known
from biem.domain.scope import Scope
from biem.domain.trust import rank
from biem.engine.query.request import Request, admits, checked, conditions, excluding, require_sources, unexcluded
from biem.errors import InvalidInput
from biem.ports import Filter
from tests.support.fakes import START

ID = new_id()
HOUR = timedelta(hours=1)


def memory(**details: Any) -> Node:
    """A memory of which these are set otherwise."""
    node = Node(
        id=ID, scope=Scope(), text="x", kind="knowledge", status="active", layer="short_term", at=START,
        created_at=START, write_seq=1, speaker="Li", conversation="c", tags=("a", "b"), energy=0.5, sentiment=0.2,
        trust="normal",
    )  # fmt: skip
    return replace(node, **details)


def of(**asked: Any) -> Filter:
    """Conditions of which only these are set."""
    return conditions(START, (), None, None, (), (), (), None, **asked)


def of_kinds(*kinds: str) -> Filter:
    return conditions(START, kinds)


def test_nothing_asked_for_is_no_condition() -> None:
    assert of() == of(min_energy=0, sentiment=(-1, 1)) == Filter()
    assert not of().late


def test_a_name_that_is_given_often_is_one_condition() -> None:
    often = conditions(START, ["task"] * 2, None, None, ["Li"] * 5_000, ["c"] * 5_000, ["b", "a"] * 5_000)
    assert often == conditions(START, ["task"], None, None, ["Li"], ["c"], ["b", "a"])


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


def test_a_period_that_ends_before_it_begins_is_refused_and_not_searched_in_vain() -> None:
    with pytest.raises(InvalidInput, match="since must not be after until: "):
        conditions(START, since=START + HOUR, until=START)
    assert conditions(START, since=START, until=START).until == START


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


def test_kinds_are_taken_by_name_and_an_unknown_one_is_named() -> None:
    # Given kinds that there are / When they are asked for / Then they are the condition; another is refused
    assert of_kinds(*KINDS).kinds == KINDS
    with pytest.raises(InvalidInput, match="'rumour' is unknown; choose one of knowledge"):
        of_kinds("event", "rumour")


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


def test_the_same_question_may_be_asked_for_another_number_of_results() -> None:
    request = asked(session="s", top_k=3)
    assert request.of(7) == replace(request, top_k=7) != request


@pytest.mark.parametrize(
    ("mode", "text", "given"),
    [
        ("strict", "what?", "strict"),
        ("fast", "a quote?", "fast"),
        ("auto", "what?", "fast"),
        ("auto", "A QUOTE of hers?", "strict"),
        ("auto", "她的原文", "strict"),
    ],
)
def test_originals_are_handed_out_where_the_mode_says_so_or_with_auto_the_words(
    mode: str, text: str, given: str
) -> None:
    # Given a question / When it is asked in a mode / Then the mode of the answer follows from both
    assert asked(text, mode=mode).mode == given


def test_a_session_gets_only_its_own_memories_and_without_one_all() -> None:
    assert asked(session="s").where.session == "s"
    assert asked().where.session is None


@pytest.mark.parametrize(
    ("text", "details", "said"),
    [
        (" ", {}, "the query is empty"),
        (None, {}, "the query must be a string"),
        ("a\0b", {}, "the query has a NUL"),
        ("what?", {"session": "a\0b"}, "session has a NUL"),
        ("what?", {"session": 7}, "session must be a string"),
        ("what?", {"mode": "slow"}, "choose one of"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused_with_the_reason(
    text: Any, details: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidInput, match=said):
        asked(text, **details)


@pytest.mark.parametrize("sources", [["memories"], ["notes"], ["notes", "memories"]])
def test_what_a_recall_may_search_is_named(sources: list[str]) -> None:
    assert require_sources(sources) == set(sources)


@pytest.mark.parametrize(
    ("sources", "said"),
    [([], "some of memories, notes"), (["memories", "web"], "some of memories, notes"), ("notes", "a list of strings")],
)
def test_no_source_or_an_unknown_one_is_refused(sources: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        require_sources(sources)


def test_what_a_session_has_prefetched_answers_only_what_has_no_other_conditions() -> None:
    known = excluding(Filter(), Known(conversations=frozenset({"monday"})))
    assert asked(session="s").follows is True
    assert asked(session="s", where=known).follows is True
    assert asked().follows is False
    assert asked(session="s", mode="strict").follows is False
    assert asked(session="s", where=Filter(kinds=("event",))).follows is False


def test_what_a_prompt_holds_is_left_out_by_conversation_and_by_five_hundred_ids_and_taken_back() -> None:
    # Given more ids than a search takes, one that is no id, and a conversation
    ids = sorted(f"{number:08x}-0000-0000-0000-000000000000" for number in range(600))
    where = Filter(kinds=("event",))

    # When they are left out / Then in order, the first of them; and without them it is the filter from before
    narrow = excluding(where, Known(ids=frozenset([*ids, "a ref"]), conversations=frozenset({"b", "a"})))
    assert (list(narrow.not_ids), narrow.not_conversations) == (ids[:500], ("a", "b"))
    assert unexcluded(narrow) == unexcluded(replace(narrow, not_conversations=())) == where


def test_a_prompts_own_names_of_memories_are_no_ids_that_a_search_leaves_out() -> None:
    memory_id = new_id()
    assert excluding(Filter(), Known(ids=frozenset([memory_id, "a ref"]))).not_ids == (memory_id,)


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
        ({"only_ids": (ID, "another")}, True),
        ({"only_ids": ("another",)}, False),
        ({"min_trust": rank("normal")}, True),
        ({"min_trust": rank("trusted")}, False),
    ],
)
def test_a_memory_in_hand_is_admitted_as_the_records_would(where: dict[str, Any], expected: bool) -> None:
    assert admits(Filter(**where), memory()) is expected


@pytest.mark.parametrize(
    ("details", "valid"),
    [
        ({}, [False, True, True, True]),
        ({"valid_from": START + HOUR}, [False, False, True, True]),
        ({"revised_at": START + HOUR}, [False, False, True, True]),
        ({"valid_to": START + HOUR}, [False, True, False, False]),
        ({"valid_to": START + HOUR, "kind": "event"}, [False, True, True, True]),
    ],
)
def test_a_fact_answers_for_the_time_it_held_and_a_message_for_all_time_since(
    details: dict[str, Any], valid: list[bool]
) -> None:
    # Given a memory / When it is asked for as of a second before it was said, then, an hour and nine hours later
    moments = [START - timedelta(seconds=1), START, START + HOUR, START + 9 * HOUR]
    # Then it is an answer while it held
    assert [admits(Filter(as_of=moment), memory(**details)) for moment in moments] == valid
