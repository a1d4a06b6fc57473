"""Values of a session and its messages."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, get_args

from biem.domain.scope import Scope

Role = Literal["system", "user", "assistant", "tool"]
"""Who said a message. One of the user begins a new round; the answer and its tool calls belong to the same one."""
SessionStatus = Literal["open", "closed", "archived"]

ROLES: tuple[str, ...] = get_args(Role)
SESSION_STATES: tuple[str, ...] = get_args(SessionStatus)
REMEMBERED_ROLES = ("user", "assistant")
"""Roles whose messages become memories, unless the caller says otherwise."""


@dataclass(frozen=True, slots=True)
class ChatSession:
    """One conversation. Messages before `head_seq` were trimmed, but for system messages; all can be read."""

    id: str
    scope: Scope
    name: str
    status: SessionStatus
    opened_at: datetime
    closed_at: datetime | None
    archived_at: datetime | None
    messages: int
    tokens: int
    """Of the messages that were not trimmed."""
    all_tokens: int
    head_seq: int
    next_seq: int
    round: int
    """Number of the last round, 0 before the first message of the user."""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SessionMessage:
    """One message. `seq` numbers the messages of a session from 1; erased ones leave a gap."""

    seq: int
    role: Role
    content: str
    tokens: int
    round: int
    at: datetime
    ref: str | None = None
    memory_id: str | None = None
    """The memory that was made of it; None for those that are not remembered."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """Further keys of the chat message, such as `tool_calls` or `tool_call_id`."""

    @property
    def chat(self) -> dict[str, Any]:
        """The message as chat models take it."""
        return {**self.data, "role": self.role, "content": self.content}


@dataclass(frozen=True, slots=True)
class Appended:
    """A stored message: its number, the memory made of it if any, and the tokens of its session since the last trim.

    `created` is False when a repeated `ref` found the message stored already.
    """

    seq: int
    memory_id: str | None
    tokens: int
    created: bool = True


@dataclass(frozen=True, slots=True)
class Window:
    """What a model gets of a session: its system messages, then the newest whole rounds, oldest first."""

    messages: tuple[SessionMessage, ...]
    tokens: int
    left_out: int
    """Messages of the session that are not in the window."""

    @property
    def chat(self) -> list[dict[str, Any]]:
        """The messages as chat models take them."""
        return [message.chat for message in self.messages]

    @property
    def note(self) -> str:
        """One line that counts the messages left out; empty when there are none."""
        if not self.left_out:
            return ""
        word = "message" if self.left_out == 1 else "messages"
        return f"{self.left_out:,} earlier {word} of this session left out"
