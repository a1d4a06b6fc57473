"""Keyword arguments of an agent's loop, and the memories behind the messages that its prompt holds."""

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypedDict, cast

from biem.domain.prompt.contents import ChatMessage, Excluded, as_message, normalised, role_of, texts_of
from biem.domain.text import storable
from biem.engine.query.request import Conditions

_MOST = 2_000


class Details(TypedDict, total=False):
    """Keyword arguments of a recorded message; see `Memory.remember`, and `Sessions.append` for `tokens` and `data`."""

    speaker: str
    at: datetime | None
    ref: str | None
    importance: float
    layer: str
    tags: Sequence[str]
    metadata: Mapping[str, Any] | None
    kind: str | None
    origin: str | None
    trust: str | None
    expires_at: datetime | None
    ttl: timedelta | None
    on_expiry: str
    tokens: int | None
    data: Mapping[str, Any] | None


SESSION_DETAILS = ("tokens", "data")
"""Those that only a message of a session has."""


class BlockConditions(Conditions, total=False):
    """The conditions of `Memory.recall`, and conversations that the prompt holds as a whole."""

    exclude_conversation: str | Sequence[str]


class Asking(BlockConditions, total=False):
    """Keyword arguments of a block: as above, and the chat messages that the prompt holds."""

    history: Sequence[Mapping[str, Any] | ChatMessage]


class Recorded:
    """The ids of the last 2,000 recorded messages, by role and normalised text. Thread-safe."""

    def __init__(self) -> None:
        self._ids: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._lock = threading.Lock()

    def add(self, role: str, text: str, memory_id: str) -> None:
        """Record a stored message."""
        with self._lock:
            self._ids[role, normalised(text)] = memory_id
            while len(self._ids) > _MOST:
                self._ids.popitem(last=False)

    def held(self, history: Sequence[Any], user_input: str) -> list[Excluded]:
        """The content of a prompt with this history and input, in the form of `recall`'s `exclude`; other items are
        ignored.
        """
        messages = filter(None, map(as_message, history))
        held: list[Excluded] = []
        for message in [*messages, {"role": "user", "content": user_input}]:
            role = role_of(str(message.get("role", "user")))
            texts = [storable(text) for text in texts_of(message)]
            with self._lock:
                ids = [self._ids[key] for key in ((role, normalised(text)) for text in texts) if key in self._ids]
            known = {"id": ids[0]} if ids else {name: message[name] for name in ("id", "ref") if name in message}
            held.append({"role": role, "content": texts, **known})
        return held


def conditions_of(asked: Asking) -> BlockConditions:
    """The arguments without the chat messages, as `Memory.context` takes them."""
    return cast(BlockConditions, {name: value for name, value in asked.items() if name != "history"})


@contextmanager
def put(holder: Any, name: str, value: str) -> Iterator[None]:
    """Set `holder.name` (or `holder[name]`) to `value` within the block; always restored."""
    keyed = isinstance(holder, MutableMapping)
    original = holder[name] if keyed else getattr(holder, name)
    setting = holder.__setitem__ if keyed else partial(setattr, holder)
    setting(name, value)
    try:
        yield
    finally:
        setting(name, original)
