"""Trimming: the oldest rounds of a full session leave its window, one slice and its summary in one commit.

A process that dies between two slices loses at most one call of the model; the next one goes on where it stopped.
"""

import logging
from collections.abc import Sequence
from datetime import timedelta

from biem.domain.node import SUMMARY_SOURCE
from biem.domain.policies.sessions import SessionPolicy
from biem.domain.scope import Scope
from biem.domain.sessions.session import ChatSession
from biem.domain.sessions.trimming import Slice, next_slice
from biem.domain.trust import least_trusted
from biem.engine.remember.writer import Writer
from biem.layers.summary import by_model, by_sentences
from biem.ports import Analyzer, Clock, Write
from biem.ports.jobs import Exclusive
from biem.ports.layers.sessions import SessionRecords, Summable
from biem.ports.reasoner import Reasoner
from biem.telemetry import Telemetry

logger = logging.getLogger("biem.sessions")

_AT_ONCE = 100
"""Sessions trimmed in one run of the job; the rest waits for the next."""


class Trimmer:
    """Trims sessions, each under its lock. Thread-safe."""

    def __init__(
        self,
        *,
        sessions: SessionRecords,
        writer: Writer,
        analyzer: Analyzer,
        exclusive: Exclusive,
        clock: Clock,
        policy: SessionPolicy,
        telemetry: Telemetry,
        ttl_days: float,
        reasoner: Reasoner | None = None,
    ) -> None:
        """Without `reasoner` a summary is made of sentences. Summaries expire after `ttl_days`, unless promoted."""
        self._ttl = timedelta(days=ttl_days)
        self._sessions = sessions
        self._writer = writer
        self._analyzer = analyzer
        self._exclusive = exclusive
        self._clock = clock
        self._policy = policy
        self._telemetry = telemetry
        self._reasoner = reasoner

    def run(self, scope: Scope | None = None) -> dict[str, int]:
        """The job `sessions`: trim full sessions and archive closed ones, in one scope or in all."""
        slices = 0
        for owner, session_id in self._sessions.due(scope, self._clock.now(), _AT_ONCE):
            slices += self.trim(owner, session_id)
        return {"slices": slices, "archived": self._sessions.archive(scope, self._clock.now())}

    def trim(self, scope: Scope, session_id: str) -> int:
        """Trim one session until at most `trim_target` is left; returns the number of slices.

        Does nothing while another process trims it.
        """
        with self._exclusive.hold(scope, f"trim:{session_id}") as granted:
            if not granted:
                return 0
            slices = 0
            while True:
                session = self._sessions.get(scope, session_id)
                if session is None or session.status != "open":
                    break
                part = self._next(scope, session)
                if part is None:
                    self._sessions.trimmed(scope, session)
                    break
                with self._telemetry.span("biem.trim", messages=part.messages, tokens=part.tokens):
                    if not self._trim(scope, session, part):
                        break
                slices += 1
            return slices

    def _next(self, scope: Scope, session: ChatSession) -> Slice | None:
        target = int(self._policy.max_tokens * self._policy.trim_target)
        if session.tokens <= target:
            return None
        outline = self._sessions.outline(scope, session.id, self._policy.protected_rounds)
        return next_slice(outline, session.tokens, target)

    def _trim(self, scope: Scope, session: ChatSession, part: Slice) -> bool:
        """Trim one slice; False when its summary failed, or it is no longer as it was read."""
        sources = self._sessions.summable(scope, session.id, part)
        text = self._summary(scope, sources)
        if text is None:
            self._sessions.put_off(scope, session.id, self._clock.now())
            logger.warning("the model gave no summary of session %s; it is tried again later", session.id)
            return False
        write = self._write(session, part, sources, text) if text else None
        written = self._sessions.trim(scope, session, part, write, sources)
        if written is None:
            return False
        if write is not None:
            self._writer.stored(scope, [write], [written])
        return True

    def _summary(self, scope: Scope, sources: Sequence[Summable]) -> str | None:
        """The summary of a slice; empty where it has nothing to tell, None when the model failed."""
        if not sources:
            return ""
        if self._reasoner is None:
            return by_sentences(self._analyzer, sources, self._policy.summary_chars)
        return by_model(self._reasoner, scope, sources, self._policy.summary_chars)

    def _write(self, session: ChatSession, part: Slice, sources: Sequence[Summable], text: str) -> Write:
        return self._writer.write_of(
            text,
            {
                "kind": "event",
                "source": SUMMARY_SOURCE,
                "origin": "system",
                "trust": least_trusted(one.trust for one in sources),
                "conversation": session.name or session.id,
                "at": sources[-1].at,
                "ref": f"session:{session.id}:{part.first}-{part.last}",
                "ttl": self._ttl,
                "metadata": {"category": "context", "session": session.id, "from": part.first, "to": part.last},
            },
        )
