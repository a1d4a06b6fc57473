"""The job queue, locks between processes, and the list of scopes that jobs go through."""

from contextlib import AbstractContextManager
from typing import Protocol

from biem.domain.scope import Scope


class Work(Protocol):
    """A bounded batch of background work."""

    def __call__(self) -> int:
        """Run one batch; returns how many jobs it took, 0 when there were none."""


class JobQueue(Protocol):
    """Wakes workers. A lost wake-up costs latency, never work: jobs live in Records."""

    def start(self, work: Work) -> None:
        """Run `work` whenever woken and every few seconds; a no-op where other processes run the jobs."""

    def wake(self) -> None:
        """Signal that there are jobs. Never blocks and never raises."""

    def stop(self, timeout_s: float) -> None:
        """Wait for the running batch, for at most `timeout_s`; a second call does nothing."""


class Exclusive(Protocol):
    """A lock: one job at a time in one scope, over all threads, processes and machines that share the database."""

    def hold(self, scope: Scope | None, job: str) -> AbstractContextManager[bool]:
        """Try, without waiting, to lock this job in this scope (None: in all scopes).

        Yields whether the lock was granted. It is released at the end of the block and, when the process or its
        connection dies, by the server. Other jobs and other scopes are independent. Raises `StoreUnavailable`.
        """

    def close(self) -> None:
        """Release all locks, and grant none from then on; a second call does nothing."""


class ScopeList(Protocol):
    """The list of scopes to maintain."""

    def scopes(self, after: str, limit: int) -> list[Scope]:
        """Scopes that have memories, by ns after `after`; an empty list at the end."""
