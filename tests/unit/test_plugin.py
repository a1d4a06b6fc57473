"""What the plugin asks of a memory, turn by turn."""

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, cast

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from biem.domain.fields import Fields
from biem.domain.node import Hit, Node, new_id
from biem.domain.scope import Scope
from biem.engine.context.block import Context
from biem.errors import InvalidInput, StoreUnavailable
from biem.memory import Memory
from biem.plugin import BIEMContextPlugin
from tests.support.fakes import START

TOLD = "The spare key hangs on hook 4711"


class Told:
    """The part of `Memory` that the plugin uses; every call is noted."""

    def __init__(self) -> None:
        self.asked: list[Mapping[str, Any]] = []
        self.kept: list[Mapping[str, Any]] = []
        self.lessons: list[tuple[Any, ...]] = []
        self.closed = 0
        self.failure: Exception | None = None
        node = Node(
            id=new_id(), scope=Scope(), text=TOLD, kind="event", status="active", layer="short_term", at=START,
            created_at=START, fields=Fields(numbers=("4711",)),
        )  # fmt: skip
        self.hit = Hit(node, 0.9, {})

    def context(self, query: str, **details: Any) -> Context:
        self._answer()
        self.asked.append({"query": query, **details})
        return Context("## Relevant Memories\n\n1. " + TOLD, (self.hit,))

    def remember(self, **details: Any) -> str:
        self._answer()
        self.kept.append(details)
        return f"id{len(self.kept)}"

    def feedback(self, useful: Any, useless: Any, *, turn: str | None) -> None:
        self._answer()
        self.lessons.append((list(useful), list(useless), turn))

    def now(self) -> Any:
        return START

    def close(self) -> None:
        self.closed += 1

    def _answer(self) -> None:
        if self.failure is not None:
            raise self.failure


@pytest.fixture
def told() -> Told:
    return Told()


def plugin(told: Told, **options: Any) -> BIEMContextPlugin:
    return BIEMContextPlugin(lambda: cast(Memory, told), **options)


def test_each_conversation_asks_in_its_own_session(told: Told) -> None:
    # Given plugins with a conversation, with the same, and two with none
    plugins = [plugin(told, conversation="monday"), plugin(told, conversation="monday"), plugin(told), plugin(told)]

    # When each asks twice / Then follow-ups meet what is prepared in their own conversation, and in no other
    for one in plugins:
        one.prepare_context("Where is the key?")
        one.system_prompt("Be kind.", "And the other one?")
    sessions = [call["session"] for call in told.asked]
    assert sessions[:4] == ["monday"] * 4
    assert sessions[4] == sessions[5] != sessions[6] == sessions[7]
    assert all(sessions)


def test_how_much_is_shown_is_what_was_asked_for(told: Told) -> None:
    plugin(told, conversation="c", top_k=3, budget_tokens=99).prepare_context("Where is the key?")
    assert told.asked == [
        {"query": "Where is the key?", "top_k": 3, "budget_tokens": 99, "session": "c",
         "exclude": [{"role": "user", "content": ["Where is the key?"]}]}
    ]  # fmt: skip


def test_both_sides_are_kept_in_their_conversation_with_time_and_ref(told: Told) -> None:
    # Given a plugin / When both sides speak
    one, later = plugin(told, conversation="c"), START + timedelta(hours=1)
    assert one.record_user_message("Where is the key?", speaker="Ann", at=later, ref="r1") == "id1"
    assert one.record_assistant_message("On its hook") == "id2"

    # Then each message has its side, its conversation, a time and a ref
    first, second = told.kept
    assert first == {"text": "Where is the key?", "conversation": "c", "source": "user", "speaker": "Ann", "at": later,
                     "ref": "r1"}  # fmt: skip
    assert (second["source"], second["conversation"], second["at"]) == ("assistant", "c", START)
    assert second["ref"]


def test_a_message_waits_while_the_memory_is_out_of_reach_and_one_that_is_refused_does_not(told: Told) -> None:
    # Given a memory that is out of reach / When messages come, and it comes back
    one, told.failure = plugin(told), StoreUnavailable("down")
    assert one.record_user_message("first") is None
    assert one.prepare_context("anything?") == ""
    assert not one.feedback(["x"])
    assert one.unsaved == 1
    told.failure = None
    assert one.record_user_message("second") == "id2"

    # Then both are kept in their order
    assert [message["text"] for message in told.kept] == ["first", "second"]
    assert one.unsaved == 0
    # And what can never be kept does not stop what follows
    told.failure = InvalidInput("no")
    assert one.record_user_message("third") is None
    assert one.unsaved == 0


def test_a_reply_that_uses_what_was_shown_praises_it_once(told: Told) -> None:
    one = plugin(told, auto_feedback=True)
    one.prepare_context("Where is the key?")
    assert one.injected == (told.hit.node.id,)
    one.record_assistant_message("On hook 4711")
    one.record_assistant_message("On hook 4711")
    assert [(useful, useless) for useful, useless, _ in told.lessons] == [([told.hit.node.id], [])]
    assert told.lessons[0][2]
    assert not one.injected


def test_without_auto_feedback_nothing_is_learnt_unasked(told: Told) -> None:
    one = plugin(told)
    one.prepare_context("Where is the key?")
    one.record_assistant_message("On hook 4711")
    assert told.lessons == []
    assert one.feedback(["a"], ["b"], turn="t")
    assert told.lessons == [(["a"], ["b"], "t")]


def test_memory_that_is_off_is_never_opened(told: Told) -> None:
    one = plugin(told, enabled=False)
    assert one.system_prompt("Be kind.", "Where is the key?") == "Be kind."
    assert one.record_user_message("x") is None
    assert not one.feedback(["a"])
    one.close()
    assert (told.asked, told.kept, told.lessons, told.closed) == ([], [], [], 0)


def test_a_prompt_has_the_block_for_one_call_and_the_memory_is_closed_with_the_plugin(told: Told) -> None:
    holder = {"system_prompt": "Be kind."}
    with plugin(told) as one:
        with one.inject(holder, "Where is the key?") as prompt:
            assert holder["system_prompt"] == prompt
            assert prompt.startswith("Be kind.\n\n## Relevant Memories")
        assert holder["system_prompt"] == "Be kind."
        messages = one.messages("Be kind.", [{"role": "user", "content": "Hello"}], "Where is the key?")
        assert [(message["role"], message["content"][:8]) for message in messages] == [
            ("system", "Be kind."), ("user", "Hello"), ("user", "Where is"),
        ]  # fmt: skip
        assert one.prepare_context("   ") == ""
    assert told.closed == 1
    one.close()
    assert told.closed == 1


def test_a_recorded_message_keeps_what_its_caller_says_of_it(told: Told) -> None:
    # Given / When both sides are recorded with everything that `remember` takes, also asynchronously
    one = plugin(told)
    details: Any = {
        "importance": 5.0, "layer": "core", "tags": ["health"], "metadata": {"form": 7}, "kind": "knowledge",
    }  # fmt: skip
    one.record_user_message("I am allergic to peanuts", **details)
    one.record_assistant_message("Noted", **details)
    asyncio.run(one.arecord_user_message("And to nuts", **details))

    # Then each is passed on
    for message in told.kept:
        assert {name: message[name] for name in details} == details


def test_a_conversation_that_is_no_name_is_refused_at_once(told: Told) -> None:
    with pytest.raises(InvalidInput, match="conversation must be a string, not int"):
        BIEMContextPlugin(cast(Memory, told), conversation=5)  # type: ignore[arg-type]


def test_a_misspelt_detail_or_condition_is_the_callers_mistake(told: Told) -> None:
    one: Any = plugin(told)
    with pytest.raises(TypeError, match="importanse"):
        one.record_user_message("x", importanse=5)
    with pytest.raises(TypeError, match="speeker"):
        one.prepare_context("x", speeker=["Ann"])
    with pytest.raises(TypeError, match="tag"):
        plugin(told, tag=["a"])
    with pytest.raises(InvalidInput, match="tags must be a list"):
        plugin(told, tags="a")
    with pytest.raises(InvalidInput, match="min_energy must be a number from 0 to 1"):
        plugin(told, min_energy=3)


def test_a_wrong_description_costs_the_description_and_not_the_message(
    told: Told, caplog: pytest.LogCaptureFixture
) -> None:
    # Given a memory that refuses a number as a tag / When a message has one / Then it is stored without
    one: Any = plugin(told)
    remember = told.remember

    def strict(**message: Any) -> str:
        if "tags" in message:
            raise InvalidInput("a tag must be a string, not int")
        return remember(**message)

    told.remember = strict  # type: ignore[method-assign]
    assert one.record_user_message("The key is on its hook", tags=[7], importance=0, ttl=timedelta(days=1)) == "id1"
    [kept] = told.kept
    assert (kept["text"], kept["ttl"]) == ("The key is on its hook", timedelta(days=1))
    assert "without its importance, tags: a tag must be a string" in caplog.text


@pytest.mark.parametrize("said", [b"bytes", None, 7, {"text": "no content"}])
def test_what_is_no_text_is_refused_with_a_reason(told: Told, said: Any, caplog: pytest.LogCaptureFixture) -> None:
    assert plugin(told).record_user_message(said) is None
    assert plugin(told).prepare_context(said) == ""
    assert caplog.text.count(f"a text must be a string, not {type(said).__name__}") == 2
    assert "Traceback" not in caplog.text


def test_what_the_history_holds_is_not_asked_for(told: Told) -> None:
    # Given a plugin that recorded one message itself
    one = plugin(told)
    memory_id = one.record_user_message("I live in  Bonn")
    history = [{"role": "user", "content": "I live in Bonn"}, {"role": "assistant", "content": "Nice", "id": "r2"}]
    of_a_graph = [HumanMessage("I live in Bonn"), AIMessage("Nice")]

    # When each way to a prompt is taken with this history
    one.messages("base", history, "Where?")
    one.system_prompt("base", "Where?", history=history)
    with one.inject({"system_prompt": "base"}, "Where?", history=history):
        pass
    one.complete("Where?", str.upper, history=history)
    asyncio.run(one.aprepare_context("Where?", history=history))
    one.prepare_context("Where?", history=of_a_graph)

    # Then the history and the input are excluded, the message by its id
    held = [
        {"role": "user", "content": ["I live in Bonn"], "id": memory_id},
        {"role": "assistant", "content": ["Nice"], "id": "r2"},
        {"role": "user", "content": ["Where?"]},
    ]
    assert [call["exclude"] for call in told.asked[:4]] == [held] * 4
    assert told.asked[4]["exclude"][:2] == held[:2]
    assert told.asked[5]["exclude"][0] == held[0]
    assert told.asked[5]["exclude"][1] == {"role": "assistant", "content": ["Nice"]}


def test_whole_conversations_are_left_out_of_each_way_to_a_prompt(told: Told) -> None:
    one = plugin(told)
    one.messages("base", [], "Where?", exclude_conversation="monday")
    one.prepare_context("Where?", exclude_conversation=["monday", "tuesday"], history=[])
    assert [call["exclude_conversation"] for call in told.asked] == ["monday", ["monday", "tuesday"]]


def test_conditions_of_a_call_go_before_those_of_the_plugin(told: Told) -> None:
    one = plugin(told, tags=["work"], speakers=["Ann"])
    one.prepare_context("Where?", speakers=["Bob"])
    assert told.asked[0]["tags"] == ["work"]
    assert told.asked[0]["speakers"] == ["Bob"]
