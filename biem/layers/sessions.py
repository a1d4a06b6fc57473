"""The sessions of one scope: `memory.sessions`."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from biem.domain.node import new_id, parse_id, require_time
from biem.domain.policies.sessions import SessionPolicy
from biem.domain.policies.writing import WritePolicy
from biem.domain.scope import Scope
from biem.domain.sessions.session import (
    REMEMBERED_ROLES,
    ROLES,
    SESSION_STATES,
    Appended,
    ChatSession,
    SessionMessage,
    Window,
)
from biem.domain.sessions.window import fitting
from biem.domain.text import MOST_LISTED, require_count, require_string
from biem.engine.priority import Calling
from biem.engine.remember.writer import Writer, require_metadata, require_text
from biem.errors import InvalidInput, NotFound
from biem.layers.trim import Trimmer
from biem.ports import Clock, Write
from biem.ports.layers.sessions import NewMessage, SessionRecords, TokenCounter
from biem.telemetry import Telemetry

_PAGE = 500
_MOST_TOKENS = 1 << 30
_MOST_NAMES = 10_000


@dataclass(slots=True, eq=False)
class SessionSystem:
    """What the sessions of all scopes of one connection share. Only bootstrap builds it."""

    records: SessionRecords
    writer: Writer
    trimmer: Trimmer
    count: TokenCounter
    clock: Clock
    policy: SessionPolicy
    limits: WritePolicy
    telemetry: Telemetry
    calling: Calling
    full: Callable[[], None]
    """Called when a message fills a session: the job that trims need not wait for its turn."""
    names: dict[str, str] = field(default_factory=dict)
    """Names of sessions by id, which never change."""

    def name(self, scope: Scope, session_id: str) -> str:
        """The name of a session. Raises `NotFound`."""
        if session_id not in self.names:
            session = self.records.get(scope, session_id)
            if session is None:
                raise NotFound(f"no session {session_id} in scope {scope}")
            self.know(session)
        return self.names[session_id]

    def know(self, session: ChatSession) -> None:
        """Keep its name, which each message of it needs."""
        if len(self.names) >= _MOST_NAMES:
            self.names.clear()
        self.names[session.id] = session.name


class Sessions:
    """Conversations of one scope, word for word. A session keeps every message; its window is what a model gets."""

    def __init__(self, system: SessionSystem, scope: Scope, wrote: Callable[[], None]) -> None:
        """`wrote` is called when a message became a memory."""
        self._system = system
        self._scope = scope
        self._wrote = wrote

    def open(
        self, name: str = "", *, exclusive: bool = False, metadata: Mapping[str, Any] | None = None
    ) -> ChatSession:
        """The open session of a name, or a new one; with `exclusive`, all other open sessions of the scope are closed.

        `metadata` is stored with a new session.
        """
        require_string(name, "the name of a session")
        if len(name) > self._system.limits.max_name_chars:
            raise InvalidInput(f"the name of a session has at most {self._system.limits.max_name_chars} characters")
        stored = require_metadata(metadata, self._system.limits.max_metadata_bytes)
        session = self._system.records.open(self._scope, name, self._system.clock.now(), stored, alone=exclusive)
        self._system.know(session)
        return session

    def append(
        self,
        session_id: str,
        role: str,
        content: str,
        *,
        tokens: int | None = None,
        ref: str | None = None,
        data: Mapping[str, Any] | None = None,
        remember: bool | None = None,
        at: datetime | None = None,
        **details: Any,
    ) -> Appended:
        """Store a message and the memory made of it, in one transaction; returns its number and the memory's id.

        `role`: system, user, assistant or tool. `tokens`: as counted by the caller, else estimated. A repeated `ref`
        stores nothing and returns what the first call did. `data`: further keys of the chat message, such as
        `tool_calls`. `remember`: by default messages of the user and the assistant become memories, of kind event;
        `details` are further arguments of `Memory.remember` for it.

        Raises `InvalidInput`, also for a closed session, `NotFound`, `RefConflict`, `RateLimited`, `StoreUnavailable`;
        after the last the message may be stored or not: with a `ref`, repeating the call cannot store it twice.
        """
        system = self._system
        key = parse_id(session_id)
        with system.telemetry.span("biem.append"), system.calling():
            extra = self._checked(role, content, tokens, data)
            now = system.clock.now()
            said_at = now if at is None else require_time(at, "at", now, system.limits.future_days)
            remembered = role in REMEMBERED_ROLES if remember is None else remember
            write: Write | None = None
            if remembered and content.strip():
                write = self._write(key, role, content, {**details, "ref": ref, "at": said_at})
                system.writer.admit(self._scope, 1)
            elif ref is not None:
                _require_ref(ref, system.limits.max_ref_chars)
            cost = tokens if tokens is not None else self._cost(content, extra)
            # A retry after a lost answer finds the message by its memory, or by a new key.
            own = write is None or write.fact_key is not None
            message_key = ref if ref is not None else new_id() if own else None
            message = NewMessage(key, role, content, cost, said_at, message_key, system.policy.max_tokens, extra)  # type: ignore[arg-type]
            said = system.records.append(self._scope, message, write)
        appended = said.appended
        if appended.created and appended.tokens - cost < system.policy.max_tokens <= appended.tokens:
            system.full()
        if write is not None and said.written is not None:
            system.writer.stored(self._scope, [write], [said.written])
            self._wrote()
        return appended

    def messages(
        self, session_id: str, *, after: int = 0, limit: int | None = None, newest: int | None = None
    ) -> list[SessionMessage]:
        """The messages of a session, trimmed or not, oldest first: those after number `after`, all or `limit`.

        With `newest`, that many of the last ones. Raises `NotFound`.
        """
        session = self.get(session_id)
        if type(after) is not int:
            raise InvalidInput(f"after must be the number of a message, not {type(after).__name__}")
        if newest is not None:
            require_count(newest, "newest", _MOST_TOKENS)
            return self._system.records.last(self._scope, session.id, newest)
        if limit is not None:
            require_count(limit, "limit", _MOST_TOKENS)
        found: list[SessionMessage] = []
        while limit is None or len(found) < limit:
            wanted = _PAGE if limit is None else min(_PAGE, limit - len(found))
            page = self._system.records.messages(self._scope, session.id, found[-1].seq if found else after, wanted)
            found += page
            if len(page) < wanted:
                break
        return found

    def retract(self, session_id: str, count: int | None = 1) -> list[SessionMessage]:
        """Take back the newest `count` messages of a session, or all (None); returns them, oldest first.

        They and the memories made of them are in no answer from then on, and a background job destroys these memories,
        with every summary made of them. A memory that was there before its message stays. Raises `NotFound`.
        """
        if count is not None:
            require_count(count, "count", _MOST_TOKENS)
        system = self._system
        with system.telemetry.span("biem.retract"), system.calling():
            return system.records.retract(self._scope, self.get(session_id).id, count, system.clock.now())

    def window(self, session_id: str, budget: int | None = None) -> Window:
        """What a model gets: system messages, then the newest whole rounds of at most `budget` tokens together.

        `budget` defaults to `BIEM_SESSION__MAX_TOKENS`. It does not depend on trimming having run. System messages and
        the newest round are always there, also when they alone are more. Raises `NotFound`.
        """
        most = self._system.policy.max_tokens if budget is None else budget
        require_count(most, "budget", _MOST_TOKENS)
        return window_of(self, self.get(session_id), most)

    def get(self, session_id: str) -> ChatSession:
        """One session, as it is now. Raises `NotFound`."""
        key = parse_id(session_id)
        session = self._system.records.get(self._scope, key)
        if session is None:
            raise NotFound(f"no session {key} in scope {self._scope}")
        return session

    def close(self, session_id: str) -> bool:
        """End a session: it can be read and resumed, and takes no message. False if it was not open."""
        session = self.get(session_id)
        return self._system.records.close(self._scope, session.id, self._system.clock.now())

    def resume(self, session_id: str, *, exclusive: bool = False) -> ChatSession:
        """Open a closed session again, as it was.

        An open session of the same name is closed; with `exclusive`, all other open ones. Raises `NotFound`.
        """
        now = self._system.clock.now()
        return self._system.records.resume(self._scope, parse_id(session_id), now, alone=exclusive)

    def trim(self, session_id: str) -> int:
        """Trim a session now if it holds more than the target; returns the number of slices.

        A background job does it, too. Raises `NotFound`.
        """
        return self._system.trimmer.trim(self._scope, self.get(session_id).id)

    @property
    def policy(self) -> SessionPolicy:
        """Limits of sessions."""
        return self._system.policy

    def recorder(self, name: str) -> "SessionRecorder":
        """For an agent's loop: appends to the open session of a name, or to a new one."""
        return SessionRecorder(self, name)

    def usage(self, session: ChatSession) -> float:
        """Tokens that were not trimmed, as a share of `BIEM_SESSION__MAX_TOKENS`; above 1 while trimming is due."""
        if not isinstance(session, ChatSession):
            raise InvalidInput(f"a session is needed, as `get` returns it, not {type(session).__name__}")
        return session.tokens / self._system.policy.max_tokens

    def list(self, *, status: str | None = None, limit: int = 50) -> tuple[ChatSession, ...]:
        """The newest sessions, at most 1,000, of one status (open, closed, archived) or of all."""
        if status is not None and status not in SESSION_STATES:
            raise InvalidInput(f"status {status!r} is unknown; choose one of {', '.join(SESSION_STATES)}")
        require_count(limit, "limit", MOST_LISTED)
        return tuple(self._system.records.listed(self._scope, status, limit))

    def _newest(self, session: ChatSession) -> Iterator[SessionMessage]:
        before, wanted = session.next_seq, 50
        while page := self._system.records.newest(self._scope, session, before, wanted):
            yield from page
            if len(page) < wanted:
                return
            before, wanted = page[-1].seq, _PAGE

    def _checked(
        self, role: str, content: str, tokens: int | None, data: Mapping[str, Any] | None
    ) -> Mapping[str, Any]:
        limits = self._system.limits
        if role not in ROLES:
            raise InvalidInput(f"role {role!r} is unknown; choose one of {', '.join(ROLES)}")
        extra = require_metadata(data, limits.max_metadata_bytes)
        if content or not extra:
            require_text(content, limits.max_text_bytes)
        elif not isinstance(content, str):
            raise InvalidInput(f"text must be a string, not {type(content).__name__}")
        if clash := {"role", "content"} & extra.keys():
            raise InvalidInput(f"data must not have {min(clash)!r}, which the message has already")
        if tokens is not None and (isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 0):
            raise InvalidInput(f"tokens must be a whole number, 0 or more, not {tokens!r}")
        if tokens is not None and tokens > _MOST_TOKENS:
            raise InvalidInput(f"tokens is at most {_MOST_TOKENS:,}, not {tokens:,}")
        return extra

    def _cost(self, content: str, data: Mapping[str, Any]) -> int:
        return self._system.count(content) + (self._system.count(json.dumps(data, ensure_ascii=False)) if data else 0)

    def _write(self, session_id: str, role: str, content: str, details: dict[str, Any]) -> Write:
        given = {"kind": "event", "source": role, **details}
        given.setdefault("conversation", self._system.name(self._scope, session_id) or session_id)
        if role == "tool":
            given.setdefault("origin", "tool")
        return self._system.writer.write_of(content, given)


def window_of(chats: Sessions, session: ChatSession, budget: int) -> Window:
    """As `Sessions.window`, of a session as it was read."""
    system = chats._system.records.system(chats._scope, session.id)
    return fitting(system, chats._newest(session), budget, session.messages)


class SessionRecorder:
    """Takes messages with the arguments of `Memory.remember`, and `tokens` and `data` of a session's message.

    A session that was closed or erased meanwhile is replaced by a new one of its name.
    """

    def __init__(self, sessions: Sessions, name: str) -> None:
        self._sessions = sessions
        self._name = name
        self._id: str | None = None

    def remember(self, *, text: str, source: str, ref: str, **details: Any) -> str | None:
        """Store a message whose role is its `source`; returns the id of its memory, None where it has no text.

        Raises as `Sessions.append`.
        """
        given = {name: value for name, value in details.items() if name != "conversation" or value}
        session_id = self.id
        try:
            return self._sessions.append(session_id, source, text, ref=ref, remember=True, **given).memory_id
        except (InvalidInput, NotFound):
            self._id = None
            if self.id == session_id:
                raise
            return self._sessions.append(self.id, source, text, ref=ref, remember=True, **given).memory_id

    def window(self, budget: int | None) -> Window:
        """The window of the session."""
        return self._sessions.window(self.id, budget)

    def use(self, session_id: str) -> None:
        """Append to this session from now on."""
        self._id = session_id

    @property
    def id(self) -> str:
        """The open session of the name; opened if there is none."""
        if self._id is None:
            self._id = self._sessions.open(self._name).id
        return self._id


def _require_ref(ref: str, most: int) -> None:
    require_string(ref, "ref")
    if not ref or len(ref) > most:
        raise InvalidInput(f"ref has 1 to {most:,} characters, not {len(ref):,}")
