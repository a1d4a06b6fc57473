"""Builds sessions, items and observation at their first use, because most programs use none."""

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from biem.adapters.postgres.database import Database
from biem.bootstrap.groups import Ground, WritePath
from biem.bootstrap.life import build_reviser
from biem.config import Settings
from biem.domain.diagnosis import Limits
from biem.domain.scope import Scope
from biem.engine.admin.diagnosis import Check
from biem.engine.recall.recaller import Recaller
from biem.engine.remember.writer import Writer
from biem.ports import Clock

if TYPE_CHECKING:
    from biem.adapters.postgres.items import PostgresItems
    from biem.layers.items import ItemSystem
    from biem.layers.observe import Observer
    from biem.layers.sessions import SessionSystem
    from biem.layers.system import LayerSystem


class LateLayers:
    """Called, it returns the layers, built at the first call. Thread-safe."""

    def __init__(self, build: "Callable[[], LayerSystem]") -> None:
        self._build = build
        self._lock = threading.Lock()
        self._built: LayerSystem | None = None

    def __call__(self) -> "LayerSystem":
        """The layers of all scopes."""
        with self._lock:
            if self._built is None:
                self._built = self._build()
            return self._built

    def trim(self, scope: Scope | None = None) -> Mapping[str, int]:
        """The job `sessions`, in one scope or in all."""
        return self().chats.trimmer.run(scope)

    def sweep_items(self) -> int:
        """Remove the items of all scopes that have expired; returns how many."""
        return self().documents.records.sweep(None)


def build_layers(ground: Ground, *, write: WritePath, recaller: Recaller) -> LateLayers:
    """Sessions, items and observation."""

    def build() -> "LayerSystem":
        from biem.layers.system import LayerSystem

        return LayerSystem(
            build_sessions(ground, writer=write.writer),
            build_items(ground, write=write, recaller=recaller),
            build_observer(ground, writer=write.writer),
        )

    return LateLayers(build)


def build_sessions(ground: Ground, *, writer: Writer) -> "SessionSystem":
    """Conversations word for word."""
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


def build_items(ground: Ground, *, write: WritePath, recaller: Recaller) -> "ItemSystem":
    """JSON documents under namespaces and keys."""
    from biem.layers.items import ItemSystem

    return ItemSystem(
        records=item_records(ground),
        writer=write.writer,
        reviser=build_reviser(ground, write=write),
        recaller=recaller,
        limits=ground.policies.write,
        recall=ground.policies.recall,
        telemetry=ground.telemetry,
        calling=ground.priority.calling,
    )


def item_records(ground: Ground) -> "PostgresItems":
    """The items of all scopes."""
    from biem.adapters.postgres.items import PostgresItems

    stores = ground.stores
    return PostgresItems(
        stores.database, write_row=stores.records.write_row, revisions=stores.revisions, clock=ground.clock
    )


def build_observer(ground: Ground, *, writer: Writer) -> "Observer":
    """Recognises statements worth keeping."""
    from biem.domain.observing.category import categories_of
    from biem.layers.observe import Observer

    categories = categories_of(ground.policies.layers.categories)
    return Observer(categories=categories, analyzer=ground.analyzer, writer=writer, telemetry=ground.telemetry)


def session_check(database: Database, *, clock: Clock, settings: Settings, limits: Limits) -> Check:
    """Looks for sessions that are not trimmed, and for wrong counts."""
    from biem.adapters.postgres.records import PostgresRecords
    from biem.adapters.postgres.sessions import PostgresSessions
    from biem.layers.session_checks import SessionCheck

    policies = settings.policies
    records = PostgresRecords(database, clock=clock, decay_per_hour=policies.energy.decay_per_hour, policies=policies)
    sessions = PostgresSessions(database, write_row=records.write_row, clock=clock)
    return SessionCheck(sessions, clock=clock, policy=policies.session, limits=limits)
