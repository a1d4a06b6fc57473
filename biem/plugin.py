"""`BIEMContextPlugin`: memory in an agent loop. It never breaks the loop: without memory the agent just forgets."""

import asyncio
import os
import threading
import time
import weakref
from collections.abc import AsyncIterator, Callable, Iterator, MutableMapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

from biem.config import memory_is_disabled
from biem.domain.node import Hit, new_id
from biem.domain.notes.library import NoteHit
from biem.domain.prompt.contents import Content, known, role_of, text_in
from biem.domain.text import late, require_string, storable
from biem.engine.concepts.prompt_sections import with_notes, with_running
from biem.engine.context.block import Context
from biem.engine.life.implicit_feedback import echoed
from biem.engine.query.agent_input import (
    SESSION_DETAILS,
    Asking,
    BlockConditions,
    Details,
    Recorded,
    conditions_of,
    put,
)
from biem.engine.query.request import Conditions, conditions, require_known
from biem.engine.remember.unsaved import Remembers, Unsaved, log_failure
from biem.errors import BiemError, InvalidInput
from biem.memory import Memory

if TYPE_CHECKING:
    from biem.layers.sessions import SessionRecorder

_CHINESE = late("[\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True)
class _Turn:
    """The block injected for one input, until its reply is recorded."""

    question: str
    hits: tuple[Hit, ...]
    notes: tuple[NoteHit, ...]
    name: str


class BIEMContextPlugin:
    """Records each message and returns the memory block for the next model call.

    `source` is a Memory or a function that creates one (such as `biem.connect`), called at first use. With
    `DISABLE_MEMORY=true` (or `enabled=False`) it is never called and every method does nothing. A message that cannot
    be stored, because a server is down, is buffered in this process (the last 1,000) and stored before the next one. A
    failure inside costs the block or the saving and is logged, with a traceback unless it is a `BiemError`; only the
    caller's own functions, such as `generate`, raise.

    `sessions=True` appends the messages to the session of the conversation, word for word;
    `window()` is what a model gets of it. Then messages may have `tokens` and `data`, such as tool calls.

    `running=True` appends the conversation's running memory, without what is in the block, `instant=True` the notes
    taken in this conversation (the last 5 that are not in the block). `observe=True` stores what a message of the user
    states for later as memories of their own, see `Memory.observe`. `auto_feedback=True` counts a memory of the block
    as useful when the reply contains a name, number or symbol that only this memory has.

    Content of the prompt is not repeated: the input, and the chat messages passed as `history`; parts of this
    conversation that have left the history are included. `where`: conditions of `Memory.recall`, such as `tags`, for
    every block; those passed to a call take precedence.
    """

    def __init__(
        self,
        source: Memory | Callable[[], Memory],
        *,
        conversation: str = "",
        enabled: bool | None = None,
        top_k: int | None = None,
        budget_tokens: int | None = None,
        running: bool = False,
        instant: bool = False,
        auto_feedback: bool = False,
        sessions: bool = False,
        observe: bool = False,
        **where: Unpack[Conditions],
    ) -> None:
        require_known(where, Conditions.__annotations__)
        require_string(conversation, "conversation")
        self._source = source
        self._memory: Memory | None = None
        conditions(self._now(), **where)
        self._where = where
        self._recorded = Recorded()
        self._enabled = not memory_is_disabled() if enabled is None else enabled
        self._conversation = conversation
        self._session = conversation or new_id()  # follow-up questions are answered from prefetched candidates
        self._top_k = top_k
        self._budget_tokens = budget_tokens
        self._running = running
        self._instant = instant
        self._auto_feedback = auto_feedback
        self._turn: _Turn | None = None
        self._spoken: str | None = None  # the language of the last input, which commands are answered in
        self._connecting = threading.Lock()
        self._sessions = sessions
        self._observe = observe
        self._recorder: SessionRecorder | None = None
        self._unsaved = Unsaved(self._writer)
        _PLUGINS.add(self)

    @property
    def unsaved(self) -> int:
        """Number of messages buffered in this process until a server is available."""
        return len(self._unsaved)

    @property
    def injected(self) -> tuple[str, ...]:
        """Ids of the memories in the last block, until the reply to it was recorded: candidates for `feedback`."""
        turn = self._turn
        return tuple(hit.node.id for hit in turn.hits) if turn else ()

    @property
    def injected_notes(self) -> tuple[str, ...]:
        """Citations of the notes in the last block, until the reply to it was recorded."""
        turn = self._turn
        return tuple(hit.citation for hit in turn.notes) if turn else ()

    def close(self) -> None:
        """Store buffered messages if possible, and close the memory if it was opened here. Idempotent."""
        with self._unsaved.lock:
            self._unsaved.save()
            opened, self._memory, self._recorder = self._memory, None, None
        if opened is not None and not isinstance(self._source, Memory):
            try:
                opened.close()
            except BaseException as error:  # noqa: BLE001
                log_failure("closing the memory failed", error)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- before the model call --------------------------------------------------------------------------------------

    def prepare_context(self, user_input: Content, **asked: Unpack[Asking]) -> str:
        """The memory block for this input; empty when nothing is relevant, memory is off or unavailable."""
        return self.recall_context(user_input, **asked).text

    def recall_context(self, user_input: Content, **asked: Unpack[Asking]) -> Context:
        """As `prepare_context`, with the hits in the block."""
        require_known(asked, Asking.__annotations__)
        self._turn = None
        if not self._enabled:
            return Context("", ())
        try:
            text = storable(text_in(user_input))
            if not text.strip():
                return Context("", ())
            self._spoken = "zh" if _CHINESE.search(text) else "en"
            memory = self._connected()
            held = self._recorded.held(asked.get("history", ()), text)
            where = conditions_of({**self._where, **asked})
            most, room = self._top_k, self._budget_tokens
            block = memory.context(text, top_k=most, budget_tokens=room, session=self._session, exclude=held, **where)
        except BaseException as error:  # noqa: BLE001
            log_failure("no memories for this turn", error)
            return Context("", ())
        self._turn = _Turn(text, block.hits, block.notes, new_id())
        prompt = known((), held)
        if self._instant:
            try:
                block = with_notes(block, memory.instant(self._conversation), text, prompt)
            except BaseException as error:  # noqa: BLE001
                log_failure("no notes of this conversation for this turn", error)
        if self._running:
            try:
                items = memory.running(text, conversation=self._conversation)
                block = with_running(block, items, text, prompt, bare=memory.layout == "bare")
            except BaseException as error:  # noqa: BLE001
                log_failure("no running memories for this turn", error)
        return block

    def system_prompt(self, base: str, user_input: Content, **asked: Unpack[Asking]) -> str:
        """`base`, then after a blank line the memory block; just `base` without one."""
        block = self.prepare_context(user_input, **asked)
        return f"{base}\n\n{block}" if block else base

    def messages(
        self, base: str, history: list[dict[str, Any]], user_input: Content, **where: Unpack[BlockConditions]
    ) -> list[dict[str, Any]]:
        """The message list of a chat call: system prompt with memories, history, then the user's input.

        Raises `InvalidInput` for a history that is one string: its letters would be sent as messages.
        """
        given: object = history
        if isinstance(given, str):
            raise InvalidInput("the history must be a list of chat messages, not a string")
        told: Asking = {**where, "history": history}
        system = {"role": "system", "content": self.system_prompt(base, user_input, **told)}
        return [system, *history, {"role": "user", "content": user_input}]

    @contextmanager
    def inject(
        self, holder: Any, user_input: str, *, name: str = "system_prompt", **asked: Unpack[Asking]
    ) -> Iterator[str]:
        """For one call, append the block to `holder.name` (or `holder[name]`); always restored afterwards."""
        original = holder[name] if isinstance(holder, MutableMapping) else getattr(holder, name)
        prompt = self.system_prompt(original, user_input, **asked)
        with put(holder, name, prompt):
            yield prompt

    def complete(self, user_input: str, generate: Callable[[str], str], **asked: Unpack[Asking]) -> str:
        """One turn of a plain text model: prompt `context\\n\\n用户: …\\n助手:`, then both messages are recorded."""
        context = self.prepare_context(user_input, **asked)
        prompt = f"{context}\n\n用户: {user_input}\n助手:"
        reply = generate(prompt)
        self.record_user_message(user_input, speaker="用户")
        self.record_assistant_message(reply, speaker="助手")
        return reply

    def window(self, budget: int | None = None) -> list[dict[str, Any]]:
        """The chat messages of this conversation: system messages, then the newest whole rounds of at most `budget`.

        Needs `sessions=True`. Empty without it, while nothing was said, and when the memory is unavailable.
        """
        if not self._enabled or not self._sessions:
            return []
        try:
            self._connected()
            return self._writer_of_session().window(budget).chat
        except BaseException as error:  # noqa: BLE001
            log_failure("no window of this conversation", error)
            return []

    def command(self, text: str, language: str | None = None) -> str | None:
        """The answer to an input that is a command, such as `/memory stats`; None for any other input.

        `/new` and `/session` need `sessions=True`. `language`: en or zh; default: that of the line, if it has Chinese
        characters, else of the last input. A failure is the answer; it is not raised.
        """
        if not self._enabled or not isinstance(text, str) or not text.lstrip().startswith("/"):
            return None
        try:
            memory = self._connected()
            if not self._sessions and text.split()[0] in ("/new", "/session"):
                return "this loop keeps no sessions"
            current = self._writer_of_session().id if self._sessions else ""
            spoken = language or (self._spoken if text.isascii() else None)
            answer = memory.command(text, session=current, language=spoken)
            if answer is None:
                return None
            if self._sessions and answer.session != current:
                self._writer_of_session().use(answer.session)
        except BaseException as error:  # noqa: BLE001
            log_failure("a command failed", error)
            return str(error) if isinstance(error, BiemError) else "the command failed; the log has the reason"
        return answer.text

    # -- after the model call ---------------------------------------------------------------------------------------

    def record_user_message(self, content: Content, **details: Unpack[Details]) -> str | None:
        """Remember the user's message; returns the id, or None when nothing was stored now.

        `content` is a text, or the parts of a chat API's message: of these the texts, joined by line breaks.
        `details`: speaker, at, ref, importance, layer, tags, metadata, kind, origin, trust and expiry, as for
        `Memory.remember`; with `sessions=True` also `tokens` and `data` of `Sessions.append`. A message whose
        importance, layer, tags, metadata, kind or speaker `remember` would refuse is stored without these, any other
        that it would refuse is dropped; the log says why.
        """
        memory_id = self._record(content, "user", details)
        own = details.get("origin") in (None, "user") and details.get("trust") in (None, "trusted")
        if self._observe and memory_id is not None and own:
            try:
                self._connected().observe(storable(text_in(content)), store=True)
            except BaseException as error:  # noqa: BLE001
                log_failure("what this message states for later was not stored on its own", error)
        return memory_id

    def record_assistant_message(self, content: Content, **details: Unpack[Details]) -> str | None:
        """Remember the assistant's message; as `record_user_message`. Ends the turn: see `auto_feedback`."""
        turn, self._turn = self._turn, None
        memory_id = self._record(content, "assistant", details)
        if self._auto_feedback and turn is not None:
            self._learn(turn, text_in(content))
        return memory_id

    def record_tool_message(self, content: Content, **details: Unpack[Details]) -> str | None:
        """Remember what a tool returned, or a web page (`origin="web"`; default: tool); as `record_user_message`.

        Untrusted by default: it can be found, is marked as not verified, and changes no other memory.
        """
        return self._record(content, "tool", {"origin": "tool", "kind": "event", **details})

    def _learn(self, turn: _Turn, reply: str) -> None:
        try:
            useful = echoed(turn.hits, turn.question, reply)
        except BaseException as error:  # noqa: BLE001
            log_failure("feedback on this turn failed", error)
            return
        if useful:
            self.feedback(useful, turn=turn.name)

    def feedback(self, useful: Sequence[str] = (), useless: Sequence[str] = (), *, turn: str | None = None) -> bool:
        """Report which memories of the block were useful, by id; False when that failed, and the log tells why.

        `turn`, your name for the turn, makes a repeated call count once.
        """
        if not self._enabled:
            return False
        try:
            self._connected().feedback(useful, useless, turn=turn)
        except BaseException as error:  # noqa: BLE001
            log_failure("feedback on this turn failed", error)
            return False
        return True

    def _record(self, content: Content, source: str, details: Details) -> str | None:
        require_known(details, Details.__annotations__)
        if not self._sessions and (refused := [name for name in SESSION_DETAILS if name in details]):
            raise TypeError(f"{refused[0]!r} needs BIEMContextPlugin(sessions=True)")
        if not self._enabled:
            return None
        try:
            text = storable(text_in(content))
        except BaseException as error:  # noqa: BLE001
            log_failure("a message was not remembered", error)
            return None
        if not text.strip() and not details.get("data"):
            return None
        message = {"text": text, "source": source, "conversation": self._conversation, "speaker": "", **details}
        message["at"] = details.get("at") or self._now()  # a message stored late keeps its time
        message["ref"] = details.get("ref") or new_id()  # a retry must not store it twice
        memory_id = self._unsaved.save(message)
        if memory_id is not None:
            self._recorded.add(role_of(source), text, memory_id)
        return memory_id

    def _writer(self) -> Remembers:
        """What stores a message: the memory, or the session."""
        memory = self._connected()
        return self._writer_of_session() if self._sessions else memory

    def _writer_of_session(self) -> "SessionRecorder":
        if self._recorder is None:
            self._recorder = self._connected().sessions.recorder(self._conversation or self._session)
        return self._recorder

    def _connected(self) -> Memory:
        with self._connecting:
            if self._memory is None:
                self._memory = self._source if isinstance(self._source, Memory) else self._source()
            return self._memory

    def _now(self) -> datetime:
        """The memory's time or, without a memory, the machine's."""
        known = self._source if isinstance(self._source, Memory) else self._memory
        try:
            if known is not None:
                return known.now()
        except BaseException as error:  # noqa: BLE001
            log_failure("the memory's clock failed; the message gets the time of this machine", error)
        return datetime.fromtimestamp(time.time_ns() / 1e9, UTC)

    # -- the same for asynchronous agents ---------------------------------------------------------------------------

    async def aprepare_context(self, user_input: Content, **asked: Unpack[Asking]) -> str:
        """`prepare_context` on a thread, so that the event loop stays free."""
        return await asyncio.to_thread(self.prepare_context, user_input, **asked)

    async def arecord_user_message(self, content: Content, **details: Unpack[Details]) -> str | None:
        """`record_user_message` on a thread."""
        return await asyncio.to_thread(self.record_user_message, content, **details)

    async def arecord_assistant_message(self, content: Content, **details: Unpack[Details]) -> str | None:
        """`record_assistant_message` on a thread."""
        return await asyncio.to_thread(self.record_assistant_message, content, **details)

    async def arecord_tool_message(self, content: Content, **details: Unpack[Details]) -> str | None:
        """`record_tool_message` on a thread."""
        return await asyncio.to_thread(self.record_tool_message, content, **details)

    @asynccontextmanager
    async def ainject(
        self, holder: Any, user_input: str, *, name: str = "system_prompt", **asked: Unpack[Asking]
    ) -> AsyncIterator[str]:
        """`inject` for asynchronous agents."""
        injection = self.inject(holder, user_input, name=name, **asked)
        prompt = await asyncio.to_thread(injection.__enter__)
        try:
            yield prompt
        finally:
            injection.__exit__(None, None, None)


_PLUGINS: "weakref.WeakSet[BIEMContextPlugin]" = weakref.WeakSet()


def _new_locks() -> None:
    """In a forked child: a lock may be held by a thread that does not exist here."""
    for plugin in list(_PLUGINS):
        plugin._unsaved.lock, plugin._connecting = threading.RLock(), threading.Lock()


if hasattr(os, "register_at_fork"):  # absent on Windows
    os.register_at_fork(after_in_child=_new_locks)
