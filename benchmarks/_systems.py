"""biem through its public API, and how turns and questions are put to it."""

import sys
import time
from typing import Any

from benchmarks._data import Conversation, Question, Turn
from benchmarks.metrics import DEPTH
from biem import Memory
from biem.bootstrap import Servers
from biem.errors import StoreUnavailable

_FLUSH_S = 60.0


def item_of(turn: Turn) -> dict[str, Any]:
    """A turn as `remember` takes it."""
    return {
        "text": turn.text,
        "speaker": turn.speaker,
        "conversation": turn.session,
        "at": turn.at,
        "ref": turn.id,
        "source": "benchmark",
    }


def spoken(conversation: Conversation) -> list[Turn]:
    """The turns that say something: biem refuses to remember nothing."""
    return [turn for turn in conversation.turns if turn.text.strip()]


def conditions(conversation: Conversation, question: Question) -> dict[str, Any]:
    """What `recall` is to respect: `before` becomes the time of that turn, for which nothing later exists yet."""
    if question.before is None or question.before >= len(conversation.turns):
        return {}
    return {"until": conversation.turns[question.before].at}


def settle(memory: Memory) -> None:
    """Wait for indexing as long as it makes progress."""
    left = -1
    while not memory.flush(_FLUSH_S):
        pending = int(memory.stats()["pending"])
        if pending == left:
            raise StoreUnavailable(f"biem's worker indexed nothing in {_FLUSH_S:.0f} s; see `biem stats`")
        left = pending


class Biem:
    """biem as its users call it: one scope a conversation, `remember` message by message, then `recall`."""

    name = "biem"

    def __init__(self, where: Servers, memory: Memory, tenant: str, chat: str = "") -> None:
        """`chat`: the one conversation to which all is said; else each session is one."""
        self._chat = {"conversation": chat} if chat else {}
        self.adds: list[float] = []
        self._embedded = where.embedded
        self._memory = memory
        self._tenant = tenant
        self._scopes: dict[str, Memory] = {}
        self._degraded = False

    def load(self, conversation: Conversation) -> None:
        """Remember every turn under its id; the worker indexes meanwhile."""
        scope = self._memory.scope(tenant=self._tenant, user=conversation.id)
        self._scopes[conversation.id] = scope
        for turn in spoken(conversation):
            began = time.perf_counter()
            scope.remember(**item_of(turn) | self._chat)
            self.adds.append((time.perf_counter() - began) * 1_000)

    def ready(self) -> None:
        """Everything is indexed."""
        for scope in self._scopes.values():
            settle(scope)

    def ask(self, conversation: Conversation, question: Question) -> list[str]:
        """One `recall`."""
        scope = self._scopes[conversation.id]
        hits = scope.recall(question.text, top_k=DEPTH, **conditions(conversation, question))
        if hits.degraded and not self._degraded:
            self._degraded = True
            print(f"biem answered degraded: {', '.join(hits.degraded)}", file=sys.stderr)
        return [hit.node.ref for hit in hits if hit.node.ref is not None]

    def close(self) -> None:
        """Leave nothing on servers that others use, too; the embedded ones go with their folder."""
        if not self._embedded:
            for scope in self._scopes.values():
                scope.erase(scope.bound_to)
