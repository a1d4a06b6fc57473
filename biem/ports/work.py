"""Background work, and whoever wakes it."""

from typing import Protocol


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
