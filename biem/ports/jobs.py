"""The job queue, locks between processes, and the scopes that jobs go through."""

from contextlib import AbstractContextManager
from typing import Protocol

from biem.domain.scope import Scope


class Work(Protocol):
    """A bounded piece of background work."""

    def __call__(self) -> int:
        """Do one batch; returns how many jobs it took, 0 when there was nothing to do."""


class JobQueue(Protocol):
    """Wakes workers. A lost wake-up costs latency, never work: jobs live in Records."""

    def start(self, work: Work) -> None:
        """Run `work` whenever woken and every few seconds; a no-op where other processes do the work."""

    def wake(self) -> None:
        """There is something to do. Never blocks and never raises."""

    def stop(self, timeout_s: float) -> None:
        """Let the running piece of work finish, for at most `timeout_s`; a second call does nothing."""


class Exclusive(Protocol):
    """One job at a time in one scope, over all threads, processes and machines that share the database."""

    def hold(self, scope: Scope | None, job: str) -> AbstractContextManager[bool]:
        """Try, without waiting, to be the only one who runs this job in this scope (None: for all scopes).

        Yields whether it was granted. Given back at the end of the block and, when the process or its connection dies,
        by the server. Other jobs and other scopes are independent. Raises `StoreUnavailable`.
        """

    def close(self) -> None:
        """Give everything back, and grant nothing from then on; a second call does nothing."""


class ScopeList(Protocol):
    """Which scopes there are to maintain."""

    def scopes(self, after: str, limit: int) -> list[Scope]:
        """Scopes that have memories, by ns after `after`; an empty list at the end."""
