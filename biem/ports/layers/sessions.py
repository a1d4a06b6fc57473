"""Sessions in PostgreSQL: conversations word for word."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from os import PathLike
from typing import Any, Protocol

from biem.domain.node import Node
from biem.domain.scope import Scope
from biem.domain.sessions.session import Appended, ChatSession, Role, SessionMessage
from biem.domain.sessions.trimming import Outline, Slice
from biem.ports.records import Write, Written


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A message to append. `key` identifies it in its session; `most`: tokens from which the session is trimmed."""

    session_id: str
    role: Role
    content: str
    tokens: int
    at: datetime
    key: str | None
    most: int
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """The result of an append. `written`: the memory of the message; None where none was made."""

    appended: Appended
    written: Written | None


@dataclass(frozen=True, slots=True)
class Summable:
    """A message that a summary may tell: it is remembered, trusted, and does not expire."""

    seq: int
    role: Role
    content: str
    at: datetime
    memory_id: str
    speaker: str
    trust: str


class SessionRecords(Protocol):
    """Sessions and their messages. Other scopes' sessions are not found. Raises `StoreUnavailable`."""

    def open(self, scope: Scope, name: str, at: datetime, metadata: Mapping[str, Any], *, alone: bool) -> ChatSession:
        """The open session of a name, made if there is none; `alone` closes all other open ones of the scope.

        Concurrent callers get the same session.
        """

    def append(self, scope: Scope, message: NewMessage, write: Write | None) -> StoredMessage:
        """Store a message and the memory made of it, both or neither, in one transaction.

        A message with a `key` that the session has, or of a memory that it has, changes nothing and returns the
        stored one, also in a closed session. Raises `NotFound`, `InvalidInput` when the session is closed, and
        `RefConflict` when the `key` or the memory's `ref` names another text.
        """

    def get(self, scope: Scope, session_id: str) -> ChatSession | None:
        """One session."""

    def listed(self, scope: Scope, status: str | None, limit: int) -> list[ChatSession]:
        """The newest sessions, of one status or of all."""

    def messages(self, scope: Scope, session_id: str, after: int, limit: int) -> list[SessionMessage]:
        """Messages after a number, trimmed or not, oldest first."""

    def last(self, scope: Scope, session_id: str, limit: int) -> list[SessionMessage]:
        """The newest messages, trimmed or not, oldest first."""

    def retract(self, scope: Scope, session_id: str, limit: int | None, at: datetime) -> list[SessionMessage]:
        """Remove the newest messages, or all, and end the memories made of them, in one transaction; oldest first.

        Those memories are hidden at once and erased by a job.
        """

    def system(self, scope: Scope, session_id: str) -> list[SessionMessage]:
        """The system messages, oldest first."""

    def newest(self, scope: Scope, session: ChatSession, before: int, limit: int) -> list[SessionMessage]:
        """Messages before a number that were not trimmed, without system messages, newest first."""

    def close(self, scope: Scope, session_id: str, at: datetime) -> bool:
        """Close a session; False if it was not open."""

    def resume(self, scope: Scope, session_id: str, at: datetime, *, alone: bool) -> ChatSession:
        """Open a session again; an open one of its name, or with `alone` all others of the scope, are closed.

        Raises `NotFound`.
        """

    def archive(self, scope: Scope | None, at: datetime) -> int:
        """Archive closed sessions of a scope, or of all; returns how many."""

    # -- trimming ---------------------------------------------------------------------------------------------------

    def due(self, scope: Scope | None, at: datetime, limit: int) -> list[tuple[Scope, str]]:
        """Sessions to be trimmed, those that have waited longest first."""

    def outline(self, scope: Scope, session_id: str, protected: int) -> list[Outline]:
        """What may be trimmed, oldest first: neither system messages nor the newest `protected` rounds."""

    def summable(self, scope: Scope, session_id: str, part: Slice) -> list[Summable]:
        """The messages of a slice that a summary may tell, in order."""

    def trim(
        self, scope: Scope, session: ChatSession, part: Slice, summary: Write | None, sources: Sequence[Summable]
    ) -> Written | None:
        """Trim a slice and store its summary, both or neither; None where the slice is no longer as it was read.

        A summary is derived from the memories of its sources: it is erased with any of them. The result of a slice
        without a summary has an empty id.
        """

    def trimmed(self, scope: Scope, session: ChatSession) -> None:
        """Nothing more is to be trimmed, unless messages came since the session was read."""

    def put_off(self, scope: Scope, session_id: str, at: datetime) -> None:
        """Try again in 1, 2, 4, … minutes, at most an hour, by the number of failures in a row."""

    # -- diagnosis --------------------------------------------------------------------------------------------------

    def stuck(self, before: datetime, tries: int, limit: int) -> list[str]:
        """Ids of sessions, of all scopes, to be trimmed since a time, or whose summary failed so often in a row."""

    def miscounted(self, limit: int) -> list[str]:
        """Ids of sessions, of all scopes, whose counts are not those of their messages."""

    def recount(self, ids: Sequence[str]) -> None:
        """Correct the counts of sessions."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """Memories that are shown without being found.

    `core`: of a scope and, from a project, of the user's own level, the most important first. `short_term`: those of
    the scope with a category, newest first. `cores` and `short_terms` count all of them, also those that were not read.
    """

    core: tuple[Node, ...]
    cores: int
    short_term: tuple[Node, ...]
    short_terms: int


@dataclass(frozen=True, slots=True)
class LayerCount:
    """Live memories of one layer of one scope: their number, and the bytes of their texts."""

    project: bool
    """Whether they are the project's, and not those of the user's own level."""
    layer: str
    memories: int
    indexed: int
    text_bytes: int


class ShelfReader(Protocol):
    """Reads memories by layer. Raises `StoreUnavailable`."""

    def read(self, scope: Scope, most: int) -> Shelf:
        """At most `most` of each, in one statement; untrusted, expired and superseded ones are left out.

        The cost does not grow with the number of other memories.
        """

    def counts(self, scope: Scope) -> list[LayerCount]:
        """The live memories that `scope` may read, by layer."""


class TokenCounter(Protocol):
    """Counts the tokens of a text as some model would."""

    def __call__(self, text: str) -> int:
        """The number of tokens, 0 for an empty text."""


Tokens = Callable[[str], int] | str | PathLike[str]
"""A counter, or the path of the `tokenizer.json` of a model."""
