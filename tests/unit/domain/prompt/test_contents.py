"""What a prompt holds already, and which memories that is."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from biem.domain.node import Node, new_id
from biem.domain.prompt.contents import NOTHING, Excluded, Known, Revised, known, messages_in
from biem.domain.scope import Scope
from biem.errors import InvalidInput
from tests.support.fakes import START


def node(text: str, **values: Any) -> Node:
    return Node(
        **{"id": new_id(), "scope": Scope(), "text": text, "kind": "event", "status": "active", "layer": "short_term",
           "at": START, "created_at": START, **values}
    )  # fmt: skip


def test_a_message_is_known_by_its_role_and_its_text_whatever_its_blanks_and_widths() -> None:
    held = known((), [{"role": "user", "content": " I live in\tBonn "}, {"role": "assistant", "content": "ＯＫ，好的"}])
    assert held.has(node("I live in Bonn", source="user"))
    assert held.has(node("OK,好的", source="assistant"))
    assert not held.has(node("I live in Bonn", source="assistant"))  # the assistant's guess is another statement
    assert not held.has(node("I live in Bonn.", source="user"))
    assert held.has(node("I live in Bonn", speaker="Ann"))  # imported, without a role
    assert not held.has(node("I live in Bonn", speaker="assistant"))


def test_a_message_in_parts_is_known_and_one_without_text_is_none() -> None:
    parts = [{"type": "text", "text": "Look at this"}, {"type": "image_url", "image_url": {}}, "and this"]
    held = known((), [{"role": "user", "content": parts}, {"role": "assistant", "content": None}, {"role": "tool"}])
    assert held.has(node("Look at this", source="user"))
    assert held.has(node("Look at this\nand this", source="user"))
    assert held.unresolved == 1


def test_the_dialogue_of_a_prompt_ends_before_the_query_and_has_what_people_and_the_assistant_said() -> None:
    # Given a prompt with instructions, a tool's result, an image, an id and the query itself
    held: list[Excluded] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "When is it?"}, {"type": "text", "text": "(a file)"}]},
        {"role": "tool", "content": "{}"},
        "an-id",
        {"role": "Assistant", "content": "On Monday."},
        {"role": "user", "content": [{"type": "image_url"}]},
        {"role": "user", "content": "And  hers?"},
    ]
    # When the dialogue is read / Then it has the rest, in order
    assert messages_in(held, "And hers?") == [("user", "When is it?"), ("assistant", "On Monday.")]
    # And a message of the user that is not the query stays
    assert messages_in(held, "And his?")[-1] == ("user", "And  hers?")


def test_ids_refs_texts_and_conversations_are_known() -> None:
    one, two, three = node("a", ref="r1"), node("b", conversation="monday"), node("c d")
    held = known("monday", [one.id, "c  d", "r9"])
    assert held.has(one)
    assert held.has(two)
    assert held.has(three)
    assert held.has(node("x", ref="r9"))
    assert not held.has(node("x", conversation="tuesday"))
    assert not held.has(node("x"))
    assert known(["monday", ""]) == Known(conversations=frozenset({"monday"}))
    assert known("") == NOTHING


def test_a_message_with_an_id_needs_no_spare_candidate_and_no_more_than_a_hundred_are_spared() -> None:
    assert known((), [{"role": "user", "content": "hi there", "id": new_id()}]).spare == 0
    assert known((), [{"role": "user", "content": f"text {n}"} for n in range(7)]).spare == 7
    assert known((), [f"text {n}" for n in range(300)]).spare == 100


def test_an_id_excludes_no_memory_that_says_something_else_since_it_was_revised() -> None:
    key, said = new_id(), "I live in Bonn"
    held = known((), [{"content": f" {said}", "id": key}, {"content": "Hi", "ref": "r1"}, key[:8]])
    # Given a revision with another text, one with the same, and one of another memory
    assert (
        held.updated([Revised(key, None, said), Revised(new_id(), "r1", "Hi"), Revised(new_id(), "r2", "Ho")]) is held
    )
    now = held.updated([Revised(key, None, "I live in Oslo"), Revised(new_id(), "r1", "Ho")])
    assert not now.has(node("I live in Oslo", id=key))
    assert not now.has(node("Ho", ref="r1"))
    assert now.has(node(said, id=key, source="user"))
    assert now.unresolved == held.unresolved + 2
    # And an id without a text excludes it regardless of its text
    bare = known((), [key])
    assert bare.updated([Revised(key, None, "I live in Oslo")]).has(node("I live in Oslo", id=key))


def test_what_stands_with_its_speaker_is_said_too() -> None:
    held = known((), [{"role": "user", "content": "I live in Bonn"}])
    assert held.says("I live in Bonn")
    assert held.says("Ann: I live in Bonn")
    assert not held.says("Ann: I live in Cologne")


def test_messages_of_a_framework_are_read_as_those_in_json() -> None:
    # Given the state of a graph, and one message with the parts and keys of a request
    state = [
        SystemMessage("Be brief."),
        HumanMessage("I live in Bonn", id="x"),
        AIMessage([{"type": "text", "text": "Nice"}]),
        ToolMessage("12 C", tool_call_id="c"),
    ]
    request = [{"role": "user", "content": "Where?"}]
    # When they are what a prompt holds / Then roles and texts are known, and an id that is no memory's is not
    held = known((), [*state, *request])
    assert {("user", "I live in Bonn"), ("assistant", "Nice")} < held.said
    assert held.ids == frozenset()
    assert messages_in([*state, *request], "Where?") == [("user", "I live in Bonn"), ("assistant", "Nice")]


@pytest.mark.parametrize("wrong", ["a text", b"x", {"role": "user"}, 7, [7], [None]])
def test_what_is_no_list_of_texts_or_messages_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidInput, match="exclude"):
        known((), wrong)


@pytest.mark.parametrize("wrong", [7, b"x", {"a": 1}, [7], ["\0"]])
def test_what_is_no_conversation_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidInput, match="exclude_conversation"):
        known(wrong)
