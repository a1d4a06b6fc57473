"""The plugin when something below it fails in a way that no one foresaw: the turn goes on."""

import asyncio
import logging
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from biem import BIEMContextPlugin
from biem.domain.fields import Fields
from biem.domain.node import Hit, Node, new_id
from biem.domain.running_memory import Running
from biem.domain.scope import Scope
from biem.engine.context.block import Context
from biem.errors import InvalidInput, StoreUnavailable
from tests.support.fakes import START

BASE = "You are kind."
NODE = Node(
    id=new_id(), scope=Scope(), text="The ferry costs 42", kind="event", status="active", layer="short_term",
    at=START, created_at=START, fields=Fields(numbers=("42",)),
)  # fmt: skip


class Panic(BaseException):
    """As libraries in Rust raise it: no `Exception`."""


FOREIGN: tuple[BaseException, ...] = (
    Panic("called `Option::unwrap()` on a `None` value"),
    UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
    KeyError("x"),
    RuntimeError("closed"),
    ConnectionResetError("gone"),
    AssertionError(),
    RecursionError(),
)


class Broken:
    """A memory of which one method raises; it keeps what it was instructed to remember."""

    layout = "quoted"

    def __init__(self, method: str = "", error: BaseException | None = None) -> None:
        self.method, self.error = method, error
        self.kept: list[str] = []
        self.closed = 0

    def _may_fail(self, method: str) -> None:
        if method == self.method and self.error is not None:
            raise self.error.with_traceback(None)  # or it would grow from test to test

    def context(self, query: str, **_: Any) -> Context:
        self._may_fail("context")
        return Context(f"## {query}", (Hit(NODE, 1.0, {}),))

    def running(self, message: str, **_: Any) -> tuple[Running, ...]:
        self._may_fail("running")
        return (Running("Rex", message),)

    def remember(self, text: str, **_: Any) -> str:
        self._may_fail("remember")
        if "poison" in text:
            raise LookupError(text)
        if "invalid" in text:
            raise InvalidInput(text)
        self.kept.append(text)
        return text

    def feedback(self, *_: Any, **__: Any) -> None:
        self._may_fail("feedback")

    def now(self) -> datetime:
        self._may_fail("now")
        return datetime(2026, 5, 4, tzinfo=UTC)

    def close(self) -> None:
        self.closed += 1
        self._may_fail("close")


def plugin_of(memory: Broken) -> BIEMContextPlugin:
    return BIEMContextPlugin(lambda: memory, running=True, auto_feedback=True)  # type: ignore[arg-type, return-value]


METHODS = ("context", "running", "remember", "feedback", "now", "close")


def a_turn(plugin: BIEMContextPlugin) -> list[str]:
    """Every method of a plugin once; what the model got to read."""
    holder = {"system_prompt": BASE}
    prompts = [plugin.system_prompt(BASE, "ferry"), plugin.complete("ferry", lambda prompt: prompt)]
    with plugin.inject(holder, "ferry") as prompt:
        prompts.append(prompt)
    assert holder == {"system_prompt": BASE}
    prompts.append(plugin.messages(BASE, [], "ferry")[0]["content"])
    plugin.record_user_message("What does the ferry cost?")
    plugin.prepare_context("ferry")
    plugin.record_assistant_message("It costs 42.")
    plugin.feedback([NODE.id])
    plugin.close()
    return prompts


async def a_turn_of_an_asynchronous_agent(plugin: BIEMContextPlugin) -> list[str]:
    holder = {"system_prompt": BASE}
    prompts = [await plugin.aprepare_context("ferry")]
    async with plugin.ainject(holder, "ferry") as prompt:
        prompts.append(prompt)
    await plugin.arecord_user_message("What does the ferry cost?")
    await plugin.aprepare_context("ferry")
    await plugin.arecord_assistant_message("It costs 42.")
    plugin.close()
    assert holder == {"system_prompt": BASE}
    return prompts


TURNS: tuple[Callable[[BIEMContextPlugin], list[str]], ...] = (
    a_turn,
    lambda plugin: asyncio.run(a_turn_of_an_asynchronous_agent(plugin)),
)


@pytest.mark.parametrize("turn", TURNS, ids=["sync", "async"])
@pytest.mark.parametrize("error", FOREIGN, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("method", METHODS)
def test_no_failure_below_the_plugin_costs_a_turn(
    caplog: pytest.LogCaptureFixture, method: str, error: BaseException, turn: Callable[[BIEMContextPlugin], list[str]]
) -> None:
    # Given a memory of which one method raises something foreign
    memory = Broken(method, error)
    # When every method of the plugin is called
    with caplog.at_level(logging.WARNING):
        prompts = turn(plugin_of(memory))
    # Then none raises, the rest works, and the log has the traceback
    assert all(("ferry" in prompt) == (method != "context" or "用户" in prompt) for prompt in prompts)
    assert bool(memory.kept) == (method != "remember")
    assert memory.closed == 1
    assert any(record.exc_info and record.exc_info[1] is error for record in caplog.records)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3), asyncio.CancelledError(), GeneratorExit()])
@pytest.mark.parametrize("method", METHODS)
def test_what_ends_the_program_or_the_task_ends_it(method: str, error: BaseException) -> None:
    # Given a signal, or a cancelled task, while the memory is at work / When a turn is made / Then it is ended, too
    plugin = plugin_of(Broken(method, error))
    with pytest.raises(type(error)):
        a_turn(plugin)


@pytest.mark.parametrize("turn", TURNS, ids=["sync", "async"])
@pytest.mark.parametrize("error", FOREIGN, ids=lambda error: type(error).__name__)
def test_nor_does_a_memory_that_cannot_be_opened(
    error: BaseException, turn: Callable[[BIEMContextPlugin], list[str]]
) -> None:
    # Given a function that fails to make a memory, a few times
    memory, left = Broken(), [error] * 20

    def source() -> Any:
        if left:
            raise left.pop().with_traceback(None)
        return memory

    plugin = BIEMContextPlugin(source, running=True, auto_feedback=True)
    # When turns are made / Then none raises, and every message waits until the memory is there
    turn(plugin)
    waiting = plugin.unsaved
    assert waiting > 0
    left.clear()
    assert plugin.record_user_message("Here again") == "Here again"
    assert (plugin.unsaved, len(memory.kept)) == (0, waiting + 1)


def test_the_callers_own_failures_are_the_callers() -> None:
    # Given a model that fails / When a turn is made / Then that is raised
    def fails(_: str) -> str:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        plugin_of(Broken()).complete("ferry", fails)
    with pytest.raises(ZeroDivisionError), plugin_of(Broken()).inject({"system_prompt": BASE}, "ferry"):
        raise ZeroDivisionError


@pytest.mark.parametrize("content", [None, 5, b"bytes", [{"type": "image"}], {"type": "text"}])
def test_what_is_no_text_is_not_remembered_and_costs_no_turn(content: Any) -> None:
    memory = Broken()
    plugin = plugin_of(memory)
    assert plugin.prepare_context(content) == ""
    assert plugin.record_user_message(content) is None
    assert plugin.record_assistant_message(content) is None
    assert (plugin.unsaved, memory.kept) == (0, [])


def test_a_message_that_can_never_be_stored_blocks_the_others_for_a_bounded_time(
    caplog: pytest.LogCaptureFixture,
) -> None:
    # Given a message at which storing fails, each time in the same way
    memory = Broken()
    plugin = plugin_of(memory)
    assert plugin.record_user_message("poison") is None
    # When others follow / Then they wait for a few turns, are stored in order, and the log says what was dropped
    assert plugin.record_user_message("one") is None
    assert plugin.unsaved == 2
    assert plugin.record_user_message("two") == "two"
    assert (plugin.unsaved, memory.kept) == (0, ["one", "two"])
    assert "dropped" in caplog.text
    # And what is invalid is dropped at once
    assert plugin.record_user_message("invalid") is None
    assert plugin.unsaved == 0


@pytest.mark.parametrize("error", [StoreUnavailable("down"), ConnectionResetError("gone"), TimeoutError()])
def test_while_a_server_is_away_messages_wait_however_often_they_were_tried(error: BaseException) -> None:
    # Given a server that is away for many turns / When it comes back / Then every message is there, in order
    memory = Broken("remember", error)
    plugin = plugin_of(memory)
    for number in range(20):
        assert plugin.record_user_message(f"message {number}") is None
    assert plugin.unsaved == 20
    memory.method = ""
    plugin.close()
    assert memory.kept == [f"message {number}" for number in range(20)]
