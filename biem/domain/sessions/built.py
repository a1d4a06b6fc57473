"""A whole window for a model: system text, chat messages, and what a caller should know about them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from biem.domain.node import Hit
from biem.domain.notes.library import NoteHit

Level = Literal["info", "warning", "critical"]


@dataclass(frozen=True, slots=True)
class ContextWarning:
    """Something that a caller should know: a limit that is near, or an omission.

    `name` is the same in every language: session, short_term, core_left_out, found_left_out, short_term_left_out,
    messages_left_out, budget.
    """

    name: str
    level: Level
    message: str
    value: float
    limit: float

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, slots=True)
class BuiltContext:
    """A whole window.

    `system` is the text of core, found and short-term memories, empty without any; `messages` are those of the session
    as chat models take them, oldest first. `hits`: the memories that the text shows, in order; `notes`: the chunks of
    notes. `degraded` names servers that were down.
    """

    system: str
    messages: tuple[Mapping[str, Any], ...]
    tokens: int
    """Of the system text and the messages."""
    warnings: tuple[ContextWarning, ...] = ()
    hits: tuple[Hit, ...] = ()
    notes: tuple[NoteHit, ...] = ()
    degraded: tuple[str, ...] = ()
    sections: Mapping[str, int] = field(default_factory=dict)
    """Tokens of the sections core, long_term, short_term and session."""

    @property
    def chat(self) -> list[dict[str, Any]]:
        """System text and messages as one list for a chat model."""
        first = [{"role": "system", "content": self.system}] if self.system else []
        return [*first, *(dict(message) for message in self.messages)]

    def __str__(self) -> str:
        return self.system
