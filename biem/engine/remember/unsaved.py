"""Messages buffered in this process because they could not be stored, oldest first, and their later storage."""

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from biem.domain.text import counted
from biem.errors import BiemError, InvalidInput

logger = logging.getLogger("biem.plugin")

_MOST = 1_000
_ENDING = (KeyboardInterrupt, SystemExit, GeneratorExit, asyncio.CancelledError)
"""What ends a program or a task on purpose. Other exceptions that are no `Exception` are failures: libraries written in
Rust, such as tokenizers, raise them when they panic.
"""
_MOST_TRIES = 3
"""Attempts for a message that fails individually; then it is dropped, so that the messages behind it are stored."""
_DESCRIBING = ("importance", "layer", "tags", "metadata", "kind", "speaker")
"""Details without which a message can be stored."""


class Remembers(Protocol):
    """The method of `Memory` that stores a message."""

    @property
    def remember(self) -> Callable[..., str | None]:
        """Stores a message; returns its id, None where it is no memory."""


@dataclass(slots=True)
class _Waiting:
    message: dict[str, Any]
    tries: int = 0


def log_failure(what: str, error: BaseException) -> None:
    """Logs a warning, with a traceback unless the error is a `BiemError`, whose message tells what to do.

    Raises the error again if it ends the program or the task.
    """
    if isinstance(error, _ENDING):
        raise error
    logger.warning("%s: %s", what, error, exc_info=None if isinstance(error, BiemError) else error)


class Unsaved:
    """A buffer of at most the last 1,000 messages. Storing never raises. Thread-safe.

    `connect` returns the memory. While the memory or a server is unavailable, all messages wait. A message with an
    invalid description is stored without it, one that is invalid otherwise is dropped, both with a logged error, and so
    is one that failed three times for another reason.
    """

    def __init__(self, connect: Callable[[], Remembers]) -> None:
        self._connect = connect
        self._waiting: deque[_Waiting] = deque(maxlen=_MOST)
        self._overflows = False
        self.lock = threading.RLock()
        """Held while messages are stored: one at a time keeps the order of a conversation."""

    def __len__(self) -> int:
        return len(self._waiting)

    def save(self, message: dict[str, Any] | None = None) -> str | None:
        """Append a message, if given, and store all buffered ones; returns the id of the last, or None if it was not
        stored or is no memory.
        """
        with self.lock:
            if message is not None:
                self._wait(message)
            try:
                memory = self._connect() if self._waiting else None
            except BaseException as error:  # noqa: BLE001
                self._log_buffered(error)
                return None
            memory_id = None
            while memory is not None and self._waiting:
                try:
                    memory_id = memory.remember(**self._waiting[0].message)
                except BaseException as error:  # noqa: BLE001
                    if self._is_without_details(error):
                        continue
                    if not self._is_to_be_dropped(error):
                        return None
                    memory_id = None
                self._waiting.popleft()
            return memory_id

    def _wait(self, message: dict[str, Any]) -> None:
        """Buffer a message, in place of the oldest one if the buffer is full; logs that once until the buffer was
        stored.
        """
        if len(self._waiting) == _MOST and not self._overflows:
            logger.error(
                "memory is unavailable and more than %d messages are buffered: the oldest ones are dropped", _MOST
            )
        self._overflows = len(self._waiting) == _MOST
        self._waiting.append(_Waiting(message))

    def _is_without_details(self, error: BaseException) -> bool:
        """Whether the first message was refused with details, and is to be tried without them: they only describe it.

        What says who may see it or how long it is kept stays.
        """
        message = self._waiting[0].message
        given = [name for name in _DESCRIBING if message.get(name) not in (None, "")]
        if not given or not isinstance(error, InvalidInput):
            return False
        logger.error("message remembered without its %s: %s", ", ".join(given), error)
        for name in given:
            del message[name]
        return True

    def _is_to_be_dropped(self, error: BaseException) -> bool:
        """Whether the first message must not be retried. OSError: a connection was lost."""
        if isinstance(error, InvalidInput):
            logger.error("message not remembered: %s", error)
            return True
        if not isinstance(error, (BiemError, OSError, *_ENDING)):
            self._waiting[0].tries += 1
            if self._waiting[0].tries >= _MOST_TRIES:
                logger.error("a message was dropped: storing it failed %d times", _MOST_TRIES, exc_info=error)
                return True
        self._log_buffered(error)
        return False

    def _log_buffered(self, error: BaseException) -> None:
        log_failure(f"{counted(len(self._waiting), 'message')} buffered until memory is available", error)
