"""Builds sessions, items, observation and whole windows at their first use, because most programs use none of them."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from biem.adapters.postgres.database import Database
from biem.bootstrap.groups import Ground
from biem.config import Settings
from biem.domain.diagnosis import Limits
from biem.domain.scope import Scope
from biem.engine.recall.recaller import Recaller
from biem.engine.remember.revise import Reviser
from biem.engine.remember.writer import Writer
from biem.notes.system import NoteSystem
from biem.ports import Clock

if TYPE_CHECKING:
    from biem.adapters.postgres.items import PostgresItems
    from biem.engine.admin.diagnosis import Check
    from biem.layers.builder import WindowBuilder
    from biem.layers.items import ItemSystem
    from biem.layers.observe import Observer
    from biem.layers.sessions import SessionSystem
    from biem.layers.system import LayerSystem
    from biem.ports.layers.sessions import ShelfReader


class LateLayers:
    """Called, it returns the layers, built at the first call. Thread-safe."""

    def __init__(self, build: "Callable[[], LayerSystem]") -> None:
        self._build = build
        self._lock = threading.Lock()
        self._built: LayerSystem | None = None
        self.full: Callable[[], None] = lambda: None
        """Called when a session is full; set once the scheduler exists."""

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


def build_layers(
    ground: Ground, *, writer: Writer, reviser: Reviser, recaller: Recaller, notes: NoteSystem
) -> LateLayers:
    """Sessions, items, observation and whole windows."""

    def build() -> "LayerSystem":
        from biem.adapters.postgres.sessions.shelf import PostgresShelf
        from biem.domain.observing.category import categories_of
        from biem.engine.query.listing import MemoryList
        from biem.layers.shelf import ShelfSystem
        from biem.layers.stats import LayerCounter
        from biem.layers.system import LayerSystem

        policies = ground.policies
        shelf = PostgresShelf(
            ground.stores.database, clock=ground.clock, decay_per_hour=policies.energy.decay_per_hour, policies=policies
        )
        return LayerSystem(
            chats=build_sessions(ground, writer=writer, full=lambda: late.full()),
            documents=build_items(ground, writer=writer, reviser=reviser, recaller=recaller),
            observer=build_observer(ground, writer=writer),
            builder=build_windows(ground, recaller=recaller, notes=notes, shelf=shelf),
            shelf=shelf,
            shelves=ShelfSystem(
                writer=writer,
                listing=MemoryList(ground.stores.browser, ground.clock),
                categories=categories_of(policies.layers.categories, policies.layers.ttl_days),
            ),
            policy=policies.layers,
            counter=LayerCounter(
                shelf=shelf, index=ground.stores.index, count=ground.count, most=policies.builder.most
            ),
        )

    late = LateLayers(build)
    return late


def build_windows(ground: Ground, *, recaller: Recaller, notes: NoteSystem, shelf: "ShelfReader") -> "WindowBuilder":
    """Whole windows; what was found is shown as in a block, with other limits."""
    from biem.adapters.embedders.fitted import pair_readers
    from biem.engine.context.relevance_filter import RelevanceFilter
    from biem.engine.context.sections import ContextBuilder
    from biem.engine.recall.rerank import Choice
    from biem.layers.builder import WindowBuilder, WindowParts
    from biem.telemetry import Telemetry

    stores, policies = ground.stores, ground.policies
    builder, recall = policies.builder, policies.recall
    shown = replace(
        policies.context,
        top_k=builder.top_k,
        item_chars=builder.item_chars,
        note_chars=builder.item_chars,
        notes_share=builder.notes_share,
        core_most=0,
        slots=0.0,
        recent=0,
    )
    sections = ContextBuilder(
        core=stores.core,
        records=stores.records,
        hot=stores.hot,
        analyzer=ground.analyzer,
        rules=ground.rules,
        policy=shown,
        telemetry=Telemetry(),  # the window is one operation, and its span has this part
        count=ground.count,
        readers=pair_readers(ground.embedder.info.id, ground.settings.embedder.threads),
    )
    parts = WindowParts(
        recaller=recaller,
        sections=sections,
        relevance=RelevanceFilter(stores.reasoner, shown, ground.telemetry),
        notes=notes,
        records=stores.records,
        shelf=shelf,
        count=ground.count,
        clock=ground.clock,
        telemetry=ground.telemetry,
    )
    choice = Choice(recall.profile, None if recall.profile == "angel" else recall.selection)
    return WindowBuilder(parts, policy=builder, layers=policies.layers, context=shown, choice=choice)


def build_sessions(ground: Ground, *, writer: Writer, full: Callable[[], None]) -> "SessionSystem":
    """Conversations word for word."""
    from biem.adapters.postgres.sessions import PostgresSessions
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
        ttl_days=policies.layers.ttl_days,
    )
    return SessionSystem(
        records=records,
        writer=writer,
        trimmer=trimmer,
        count=ground.count,
        clock=ground.clock,
        policy=policies.session,
        limits=policies.write,
        telemetry=ground.telemetry,
        calling=ground.priority.calling,
        full=full,
    )


def build_items(ground: Ground, *, writer: Writer, reviser: Reviser, recaller: Recaller) -> "ItemSystem":
    """JSON documents under namespaces and keys."""
    from biem.layers.items import ItemSystem

    return ItemSystem(
        records=item_records(ground),
        writer=writer,
        reviser=reviser,
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
    from biem.layers.observe import Observer

    return Observer(
        policy=ground.policies.layers,
        analyzer=ground.analyzer,
        writer=writer,
        telemetry=ground.telemetry,
        reasoner=ground.stores.reasoner,
    )


def session_check(database: Database, *, clock: Clock, settings: Settings, limits: Limits) -> "Check":
    """Looks for sessions that are not trimmed, and for wrong counts."""
    from biem.adapters.postgres.records import PostgresRecords
    from biem.adapters.postgres.sessions import PostgresSessions
    from biem.layers.session_checks import SessionCheck

    policies = settings.policies
    records = PostgresRecords(database, clock=clock, decay_per_hour=policies.energy.decay_per_hour, policies=policies)
    sessions = PostgresSessions(database, write_row=records.write_row, clock=clock)
    return SessionCheck(sessions, clock=clock, policy=policies.session, limits=limits)
