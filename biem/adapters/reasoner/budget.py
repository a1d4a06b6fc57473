"""Access to the model: budget, pauses, time limits, accounting.

Background calls are patient: a few attempts, growing pauses, then calls are paused for all uses. A foreground call gets
one attempt on a separate thread, so that neither the model nor the budget's database can delay it.
"""

import logging
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, ThreadPoolExecutor
from concurrent.futures import TimeoutError as LateError
from dataclasses import dataclass
from typing import Protocol, TypeVar

from biem.adapters.reasoner.client import ChatClient, ChatFailed, Prompt, Size
from biem.adapters.reasoner.parsing import ModelReply
from biem.adapters.reasoner.prompts import estimate_tokens
from biem.domain.scope import Scope
from biem.errors import BiemError
from biem.ports import Clock
from biem.ports.reasoner import ReasonerLedger, Use
from biem.telemetry import Span, Telemetry

logger = logging.getLogger("biem.reasoner")

T = TypeVar("T")

REPLY_THREADS = 4
LONGEST_PAUSE_S = 600.0
"""Maximum pause: a server that requests a longer one is called again after this."""
_BUDGET_IN_TIMEOUTS = 2
"""Time for a background call, as a multiple of the timeout, including pauses."""


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """Limits of calls, in seconds and attempts; `pause_s` is the pause after a failure."""

    timeout_s: float = 30.0
    reply_timeout_s: float = 1.0
    tries: int = 3
    pause_s: float = 30.0


class ModelBudget(Protocol):
    """Runs model calls within the budget."""

    def ask(
        self, scope: Scope, use: Use, size: Size, prompt: Prompt, read: Callable[[ModelReply], T | None]
    ) -> T | None:
        """The result of `read` for the model's answer; None when there is none."""

    def paused_s(self) -> float:
        """Seconds until calls are possible again."""

    def for_reply(self) -> "ModelBudget":
        """The same for one foreground call."""

    def close(self) -> None:
        """Answer nothing from now on."""


class WorkerDesk:
    """Runs background calls."""

    def __init__(
        self,
        client: ChatClient,
        ledger: ReasonerLedger,
        *,
        clock: Clock,
        telemetry: Telemetry,
        limits: ModelLimits,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        """`seconds` is a monotonic clock for pauses."""
        self._client = client
        self._ledger = ledger
        self._clock = clock
        self._telemetry = telemetry
        self.limits = limits
        self._lock = threading.Lock()
        self._seconds = seconds
        self._free_at = self._reply_at = seconds()
        self._closed = False
        self._pool: tuple[int, ThreadPoolExecutor] | None = None

    def ask(
        self, scope: Scope, use: Use, size: Size, prompt: Prompt, read: Callable[[ModelReply], T | None]
    ) -> T | None:
        return self.answer(scope, use, size, prompt, read, reply=False)

    def answer(
        self, scope: Scope, use: Use, size: Size, prompt: Prompt, read: Callable[[ModelReply], T | None], *, reply: bool
    ) -> T | None:
        """One call from budget to accounting; never raises errors of the model, its server or the budget."""
        with self._telemetry.span("biem.reason", use=use) as span:
            span.add(outcome="paused")
            if self._closed or self.paused_s(reply=reply) > 0:
                return None
            day = self._clock.now().date()
            reserved = estimate_tokens(prompt) + self._client.max_output_tokens
            try:
                if not self._ledger.reserve(scope, use, day, reserved):
                    span.add(outcome="budget")
                    logger.info(
                        "the daily budget of %s is too small for `%s`; continuing without the model", scope.ns, use
                    )
                    return None
            except BiemError as error:
                span.add(outcome="failed")
                logger.warning("the reasoner's budget cannot be read (%s); continuing without the model", error)
                return None
            said: ModelReply | None = None
            value: T | None = None
            try:
                said = self._said(use, size, prompt, span, reply=reply)
                value = None if said is None else read(said)
            finally:
                tokens_in, tokens_out = self._cost(prompt, said)
                span.add(tokens_in=tokens_in, tokens_out=tokens_out)
                try:
                    self._ledger.settle(
                        scope,
                        use,
                        day,
                        reserved=reserved,
                        tokens_in=tokens_in,
                        tokens_out=tokens_out,
                        failed=value is None,
                    )
                except BiemError as error:
                    logger.warning("a call of the reasoner stays counted at its estimate (%s)", error)
            if said is not None:
                span.add(outcome="answered" if value is not None else "unusable")
            return value

    def paused_s(self, *, reply: bool = False) -> float:
        until = max(self._free_at, self._reply_at) if reply else self._free_at
        return max(0.0, until - self._seconds())

    def pause_replies(self) -> None:
        """Pause foreground calls: the model was too slow for one."""
        with self._lock:
            self._reply_at = max(self._reply_at, self._seconds() + self.limits.pause_s)

    def for_reply(self) -> "ReplyDesk":
        return ReplyDesk(self)

    def threads(self) -> ThreadPoolExecutor | None:
        """This process's threads for foreground calls; None when closed."""
        with self._lock:
            if self._closed:
                return None
            if self._pool is None or self._pool[0] != os.getpid():
                self._pool = (os.getpid(), ThreadPoolExecutor(REPLY_THREADS, thread_name_prefix="biem-reason"))
            return self._pool[1]

    def close(self) -> None:
        with self._lock:
            self._closed = True
            pool, self._pool = self._pool, None
        self._client.close()
        if pool and pool[0] == os.getpid():
            pool[1].shutdown(wait=False, cancel_futures=True)

    def _said(self, use: Use, size: Size, prompt: Prompt, span: Span, *, reply: bool) -> ModelReply | None:
        limits = self.limits
        timeout_s = min(limits.reply_timeout_s, limits.timeout_s) if reply else limits.timeout_s
        try:
            return self._client.complete(
                size,
                prompt,
                tries=1 if reply else limits.tries,
                budget_s=timeout_s if reply else timeout_s * _BUDGET_IN_TIMEOUTS,
                timeout_s=timeout_s,
            )
        except ChatFailed as error:
            span.add(outcome="failed")
            pause_s = 0.0
            if error.pause_s is not None and not self._closed:
                pause_s = min(LONGEST_PAUSE_S, max(error.pause_s, limits.pause_s))
                with self._lock:
                    until = self._seconds() + pause_s
                    self._reply_at = max(self._reply_at, until)
                    if not reply:
                        self._free_at = max(self._free_at, until)
            logger.warning("`%s` continues without the model, pausing %.0f s: %s", use, pause_s, error)
            return None

    @staticmethod
    def _cost(prompt: Prompt, said: ModelReply | None) -> tuple[int, int]:
        """Tokens in and out, estimated where the server does not count; an unanswered call costs none."""
        if said is None:
            return 0, 0
        tokens_in = estimate_tokens(prompt) if said.tokens_in is None else said.tokens_in
        tokens_out = estimate_tokens(Prompt("", said.text)) if said.tokens_out is None else said.tokens_out
        return tokens_in, tokens_out


class ReplyDesk:
    """One call within the foreground limit; a late answer is only accounted for."""

    def __init__(self, desk: WorkerDesk) -> None:
        self._desk = desk
        self._free = threading.Semaphore(1)

    def ask(
        self, scope: Scope, use: Use, size: Size, prompt: Prompt, read: Callable[[ModelReply], T | None]
    ) -> T | None:
        if self._desk.paused_s(reply=True) > 0 or not self._free.acquire(blocking=False):
            return None
        threads = self._desk.threads()
        if threads is None:
            return None
        try:
            question = threads.submit(lambda: self._desk.answer(scope, use, size, prompt, read, reply=True))
        except RuntimeError:  # closed meanwhile
            return None
        try:
            return question.result(self._desk.limits.reply_timeout_s)
        except LateError:
            question.cancel()
            self._desk.pause_replies()
            logger.warning("`%s` continues without the model, which exceeded the time limit of a reply", use)
            return None
        except CancelledError:
            return None

    def paused_s(self) -> float:
        return self._desk.paused_s(reply=True)

    def for_reply(self) -> "ReplyDesk":
        return self

    def close(self) -> None:
        """No effect: `WorkerDesk` owns all resources."""
