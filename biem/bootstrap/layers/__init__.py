"""Builds what stands on memories: sessions, at their first use, as most programs have none."""

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from biem.adapters.postgres.database import Database
from biem.bootstrap.groups import Ground
from biem.config import Settings
from biem.domain.diagnosis import Limits
from biem.domain.scope import Scope
from biem.engine.admin.diagnosis import Check
from biem.engine.remember.writer import Writer
from biem.ports import Clock

if TYPE_CHECKING:
    from biem.layers.sessions import Sessions, SessionSystem


class LateSessions:
    """The sessions of all scopes, built at their first use."""

    def __init__(self, build: "Callable[[], SessionSystem]") -> None:
        self._build = build
        self._lock = threading.Lock()
        self._built: SessionSystem | None = None

    def of(self, scope: Scope, wrote: Callable[[], None]) -> "Sessions":
        """The sessions of one scope; `wrote` is called when a message became a memory."""
        from biem.layers.sessions import Sessions

        return Sessions(self._system(), scope, wrote)

    def run(self, scope: Scope | None = None) -> Mapping[str, int]:
        """The job `sessions`, in one scope or in all."""
        return self._system().trimmer.run(scope)

    def _system(self) -> "SessionSystem":
        with self._lock:
            if self._built is None:
                self._built = self._build()
            return self._built


def session_check(database: Database, *, clock: Clock, settings: Settings, limits: Limits) -> Check:
    """Looks for sessions that are not trimmed, and for wrong counts."""
    from biem.adapters.postgres.records import PostgresRecords
    from biem.adapters.postgres.sessions import PostgresSessions
    from biem.layers.session_checks import SessionCheck

    policies = settings.policies
    records = PostgresRecords(database, clock=clock, decay_per_hour=policies.energy.decay_per_hour, policies=policies)
    sessions = PostgresSessions(database, write_row=records.write_row, clock=clock)
    return SessionCheck(sessions, clock=clock, policy=policies.session, limits=limits)


def build_sessions(ground: Ground, *, writer: Writer) -> LateSessions:
    """Conversations word for word."""

    def build() -> "SessionSystem":
        from biem.adapters.postgres.sessions import PostgresSessions
        from biem.domain.text import estimate_tokens
        from biem.layers.sessions import SessionSystem
        from biem.layers.trim import Trimmer

        stores, policies = ground.stores, ground.policies
        records = PostgresSessions(stores.database, write_row=stores.records.write_row, clock=ground.clock)
        trimmer = Trimmer(
            sessions=records,
            writer=writer,
            analyzer=ground.analyzer,
            exclusive=stores.exclusive,
            clock=ground.clock,
            policy=policies.session,
            telemetry=ground.telemetry,
            reasoner=stores.reasoner,
        )
        return SessionSystem(
            records=records,
            writer=writer,
            trimmer=trimmer,
            count=estimate_tokens,
            clock=ground.clock,
            policy=policies.session,
            limits=policies.write,
            telemetry=ground.telemetry,
            calling=ground.priority.calling,
        )

    return LateSessions(build)
