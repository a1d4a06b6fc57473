"""How the benchmarks put a conversation to biem."""

from types import SimpleNamespace
from typing import Any, cast

from benchmarks._data import Conversation, Turn
from benchmarks._systems import Biem
from biem import Memory
from tests.support.fakes import START


def test_sessions_are_conversations_or_all_one_chat() -> None:
    # Given turns of two sessions
    turns = [Turn(str(n), session, "Ann", f"text {n}", START) for n, session in enumerate("aab")]
    conversation = cast(Conversation, SimpleNamespace(id="c", turns=turns))

    # When they are loaded as they are, and as one chat / Then they are of two conversations, and of one
    for chat, conversations in (("", ["a", "a", "b"]), ("chat", ["chat"] * 3)):
        said: list[dict[str, Any]] = []
        scope = SimpleNamespace(remember=lambda said=said, **item: said.append(item))
        memory = cast(Memory, SimpleNamespace(scope=lambda scope=scope, **_: scope))
        Biem(cast(Any, SimpleNamespace(embedded=True)), memory, "t", chat=chat).load(conversation)
        assert [item["conversation"] for item in said] == conversations
        assert [item["ref"] for item in said] == ["0", "1", "2"]
