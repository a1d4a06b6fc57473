"""`BIEMContextPlugin`: memory inside an agent loop. It never breaks the loop: without memory the agent just forgets."""

import asyncio
import logging
import re
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, MutableMapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self

from biem.config import memory_is_disabled
from biem.domain.node import Hit, new_id
from biem.engine.activation import render
from biem.engine.context import Context
from biem.engine.echo import echoed
from biem.errors import BiemError, InvalidInput
from biem.memory import Memory

logger = logging.getLogger("biem.plugin")

_MAX_UNSAVED = 1_000
_RUNNING_CHARS = 200
_CHINESE = re.compile("[\u4e00-\u9fff]")
_UNSTORABLE = dict.fromkeys((0, *range(0xD800, 0xE000)), "\N{REPLACEMENT CHARACTER}")


def _storable(text: str) -> str:
    """What a model or a broken client sends must not cost the turn: NUL and lone surrogates become U+FFFD."""
    return text.translate(_UNSTORABLE)


@dataclass(frozen=True, slots=True)
class _Turn:
    """What was injected for one input, until its reply came."""

    question: str
    hits: tuple[Hit, ...]
    name: str


class BIEMContextPlugin:
    """Takes in each message and hands over the block for the next model call.

    `source` is a Memory or a function that makes one (such as `biem.connect`), called at first use. With
    `DISABLE_MEMORY=true` (or `enabled=False`) it is never called and every method does nothing. A message that cannot
    be stored, because a server is down, is kept in this process (the last 1,000) and stored before the next one.

    `running=True` appends the memories that are on this conversation's mind and not in the block. `auto_feedback=True`
    calls an injected memory useful when the reply says a name, number or symbol that only this memory has.
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
        auto_feedback: bool = False,
    ) -> None:
        self._source = source
        self._enabled = not memory_is_disabled() if enabled is None else enabled
        self._conversation = conversation
        self._session = conversation or new_id()  # follow-up questions are answered from what is at hand
        self._top_k = top_k
        self._budget_tokens = budget_tokens
        self._running = running
        self._auto_feedback = auto_feedback
        self._turn: _Turn | None = None
        self._lock = threading.Lock()
        self._connecting = threading.Lock()
        self._memory: Memory | None = None
        self._unsaved: deque[dict[str, Any]] = deque(maxlen=_MAX_UNSAVED)

    @property
    def unsaved(self) -> int:
        """Messages waiting in this process for a server to come back."""
        return len(self._unsaved)

    @property
    def injected(self) -> tuple[str, ...]:
        """Ids of the memories in the last block, until the reply to it was recorded: candidates for `feedback`."""
        turn = self._turn
        return tuple(hit.node.id for hit in turn.hits) if turn else ()

    def close(self) -> None:
        """Store what waits, if that is possible now, and close the memory if it was opened here. Idempotent."""
        with self._lock:
            self._save()
            opened, self._memory = self._memory, None
        if opened is not None and not isinstance(self._source, Memory):
            opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- before the model call --------------------------------------------------------------------------------------

    def prepare_context(self, user_input: str) -> str:
        """The memory block for this input; empty when there is nothing to tell, memory is off or out of reach."""
        return self.recall_context(user_input).text

    def recall_context(self, user_input: str) -> Context:
        """As `prepare_context`, with the hits it shows."""
        text = _storable(user_input)
        self._turn = None
        if not self._enabled or not text.strip():
            return Context("", ())
        try:
            memory = self._connected()
            block = memory.context(text, top_k=self._top_k, budget_tokens=self._budget_tokens, session=self._session)
        except BiemError as error:
            logger.warning("no memories for this turn: %s", error)
            return Context("", ())
        self._turn = _Turn(text, block.hits, new_id())
        return self._with_running(memory, text, block) if self._running else block

    def _with_running(self, memory: Memory, text: str, block: Context) -> Context:
        """The block, then the memories on this conversation's mind that it does not have."""
        try:
            items = memory.running(text, conversation=self._conversation)
        except BiemError as error:
            logger.warning("no running memories for this turn: %s", error)
            return block
        shown = {hit.node.id for hit in block.hits}
        new = [item for item in items if not (item.sources and shown.issuperset(item.sources))]
        section = render(new, "zh" if _CHINESE.search(text) else "en", _RUNNING_CHARS)
        return replace(block, text="\n\n".join(part for part in (block.text, section) if part))

    def system_prompt(self, base: str, user_input: str) -> str:
        """`base`, then after a blank line the memory block; just `base` when there is none."""
        block = self.prepare_context(user_input)
        return f"{base}\n\n{block}" if block else base

    def messages(self, base: str, history: list[dict[str, Any]], user_input: str) -> list[dict[str, Any]]:
        """The message list of a chat call: system prompt with memories, history, then the user's input (BIEM B55)."""
        system = {"role": "system", "content": self.system_prompt(base, user_input)}
        return [system, *history, {"role": "user", "content": user_input}]

    @contextmanager
    def inject(self, holder: Any, user_input: str, *, name: str = "system_prompt") -> Iterator[str]:
        """For one call, append the block to `holder.name` (or `holder[name]`); always restored afterwards."""
        original = holder[name] if isinstance(holder, MutableMapping) else getattr(holder, name)
        prompt = self.system_prompt(original, user_input)
        _put(holder, name, prompt)
        try:
            yield prompt
        finally:
            _put(holder, name, original)

    def complete(self, user_input: str, generate: Callable[[str], str]) -> str:
        """One turn of a plain text model: prompt `context\\n\\n用户: …\\n助手:`, then both sides are kept (AIM A56)."""
        prompt = f"{self.prepare_context(user_input)}\n\n用户: {user_input}\n助手:"
        reply = generate(prompt)
        self.record_user_message(user_input, speaker="用户")
        self.record_assistant_message(reply, speaker="助手")
        return reply

    # -- after the model call ---------------------------------------------------------------------------------------

    def record_user_message(
        self, content: str, *, speaker: str = "", at: datetime | None = None, ref: str | None = None
    ) -> str | None:
        """Remember what the user said; returns the id, or None when nothing was stored now."""
        return self._record(content, source="user", speaker=speaker, at=at, ref=ref)

    def record_assistant_message(
        self, content: str, *, speaker: str = "", at: datetime | None = None, ref: str | None = None
    ) -> str | None:
        """Remember what the assistant said; as `record_user_message`. Ends the turn: see `auto_feedback`."""
        turn, self._turn = self._turn, None
        memory_id = self._record(content, source="assistant", speaker=speaker, at=at, ref=ref)
        if self._auto_feedback and turn is not None and (useful := echoed(turn.hits, turn.question, content)):
            self.feedback(useful, turn=turn.name)
        return memory_id

    def feedback(self, useful: Sequence[str] = (), useless: Sequence[str] = (), *, turn: str | None = None) -> bool:
        """Tell which injected memories were of use, by id; False when nothing was learnt, and the log says why.

        `turn`, your name for the turn, makes a repeated call count once.
        """
        if not self._enabled:
            return False
        try:
            self._connected().feedback(useful, useless, turn=turn)
        except BiemError as error:
            logger.warning("nothing learnt from this turn: %s", error)
            return False
        return True

    def _record(self, content: str, **details: Any) -> str | None:
        text = _storable(content)
        if not self._enabled or not text.strip():
            return None
        message = {"text": text, "conversation": self._conversation, **details}
        message["at"] = details["at"] or self._now()  # a message stored late keeps its time
        message["ref"] = details["ref"] or new_id()  # one whose acknowledgement was lost is not stored twice
        with self._lock:  # one at a time keeps the order of a conversation
            self._unsaved.append(message)
            return self._save()

    def _save(self) -> str | None:
        memory_id = None
        while self._unsaved:
            message = self._unsaved[0]
            try:
                memory_id = self._connected().remember(**message)
            except InvalidInput:
                logger.exception("message not remembered")
                memory_id = None
            except BiemError as error:
                logger.warning("%d messages wait for memory to come back: %s", len(self._unsaved), error)
                return None
            self._unsaved.popleft()
        return memory_id

    def _connected(self) -> Memory:
        with self._connecting:
            if self._memory is None:
                self._memory = self._source if isinstance(self._source, Memory) else self._source()
            return self._memory

    def _now(self) -> datetime:
        """The memory's time or, before there is a memory, the machine's."""
        known = self._source if isinstance(self._source, Memory) else self._memory
        return known.now() if known is not None else datetime.fromtimestamp(time.time_ns() / 1e9, UTC)

    # -- the same for asynchronous agents ---------------------------------------------------------------------------

    async def aprepare_context(self, user_input: str) -> str:
        """`prepare_context` on a thread, so that the event loop stays free."""
        return await asyncio.to_thread(self.prepare_context, user_input)

    async def arecord_user_message(self, content: str, **details: Any) -> str | None:
        """`record_user_message` on a thread."""
        return await asyncio.to_thread(self.record_user_message, content, **details)

    async def arecord_assistant_message(self, content: str, **details: Any) -> str | None:
        """`record_assistant_message` on a thread."""
        return await asyncio.to_thread(self.record_assistant_message, content, **details)

    @asynccontextmanager
    async def ainject(self, holder: Any, user_input: str, *, name: str = "system_prompt") -> AsyncIterator[str]:
        """`inject` for asynchronous agents."""
        injection = self.inject(holder, user_input, name=name)
        prompt = await asyncio.to_thread(injection.__enter__)
        try:
            yield prompt
        finally:
            injection.__exit__(None, None, None)


def _put(holder: Any, name: str, value: str) -> None:
    if isinstance(holder, MutableMapping):
        holder[name] = value
    else:
        setattr(holder, name, value)
