"""Whether sessions are trimmed when they are full, and their counts fit their messages."""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta

from biem.domain.diagnosis import Depth, Finding, Limits
from biem.domain.policies.sessions import SessionPolicy
from biem.domain.text import counted
from biem.ports import Clock
from biem.ports.layers.sessions import SessionRecords

_FAILURES = 5
"""Failed summaries in a row that are reported."""


class SessionCheck:
    """Sessions that could not be trimmed; with a full diagnosis, wrong counts."""

    needs = frozenset({"postgres"})

    def __init__(self, sessions: SessionRecords, *, clock: Clock, policy: SessionPolicy, limits: Limits) -> None:
        self._sessions = sessions
        self._clock = clock
        self._policy = policy
        self._limits = limits

    def look(self, depth: Depth, seen: Counter[str], *, mend: bool) -> Iterator[Finding]:  # noqa: ARG002
        """At most two findings."""
        before = self._clock.now() - timedelta(seconds=self._policy.stuck_s)
        if stuck := self._sessions.stuck(before, _FAILURES, self._limits.page):
            yield Finding(
                "session_not_trimmed",
                "warning",
                f"{counted(len(stuck), 'session')} could not be summarised when full; windows stay within the limit",
                "see that a process with workers runs, and that the language model answers (`biem sleep` tells)",
                len(stuck),
                tuple(stuck[: self._limits.samples]),
            )
        if depth.full and (wrong := self._sessions.miscounted(self._limits.page)):
            if mend:
                self._sessions.recount(wrong)
            yield Finding(
                "session_miscounted",
                "warning",
                f"{counted(len(wrong), 'session')} with another count of messages or tokens than there are",
                "`biem diagnose --full --fix` counts them again",
                len(wrong),
                tuple(wrong[: self._limits.samples]),
                "counted" if mend else "",
            )
