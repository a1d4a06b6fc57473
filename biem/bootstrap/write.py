"""Builds the write path: a message is acknowledged, encoded in batches, checked against others and indexed."""

from contextlib import ExitStack

from biem.bootstrap.ground import Ground, Life, WritePath
from biem.engine.aim.inertia import Inertia
from biem.engine.aim.inertia_write_behind import HeadingFeed
from biem.engine.concepts.notes import InstantMaker
from biem.engine.conflicts.detect import ConflictChecker
from biem.engine.encode.gate import Gate
from biem.engine.encode.integrate import Integrator
from biem.engine.encode.worker import EncodeWorker
from biem.engine.remember.hot_write_behind import HotFeed
from biem.engine.remember.writer import Writer


def build_write_path(ground: Ground, *, life: Life, stack: ExitStack) -> WritePath:
    """The write path; its threads end with `stack`."""
    stores, policies = ground.stores, ground.policies
    feed = HotFeed(stores.hot, window=policies.write.hot_window)
    stack.callback(feed.close)
    headings = HeadingFeed(stores.headings)
    stack.callback(headings.close)
    gate = build_gate(ground)
    instants = InstantMaker(
        instants=stores.instants,
        analyzer=ground.analyzer,
        clock=ground.clock,
        policy=policies.concepts,
        reasoner=stores.reasoner,
    )
    integrator = build_integrator(ground, life=life, gate=gate, instants=instants)
    return WritePath(
        feed=feed,
        writer=build_writer(ground, life=life, feed=feed),
        headings=headings,
        inertia=Inertia(headings=headings, policy=policies.aim, telemetry=ground.telemetry),
        gate=gate,
        instants=instants,
        integrator=integrator,
        encoder=build_encoder(ground, life=life, integrator=integrator),
    )


def build_writer(ground: Ground, *, life: Life, feed: HotFeed) -> Writer:
    """Commits and acknowledges."""
    return Writer(
        records=ground.stores.records,
        hot=feed,
        queue=ground.stores.queue,
        analyzer=ground.analyzer,
        clock=ground.clock,
        policy=ground.policies.write,
        telemetry=ground.telemetry,
        rates=ground.stores.rates,
        calling=ground.priority.calling,
        remembered=life.associations.remembered,
    )


def build_gate(ground: Ground) -> Gate:
    """Decides whether a new message becomes a memory."""
    return Gate(
        records=ground.stores.aim,
        neighbours=ground.stores.index,
        rules=ground.rules,
        embedder=ground.embedder,
        analyzer=ground.analyzer,
        clock=ground.clock,
        policy=ground.policies.aim,
        conflicts=ground.policies.conflicts,
        telemetry=ground.telemetry,
        reasoner=ground.stores.reasoner,
    )


def build_integrator(ground: Ground, *, life: Life, gate: Gate, instants: InstantMaker) -> Integrator:
    """Connects an encoded memory with existing ones: contradictions, links, tiers, instant memories."""
    checker = ConflictChecker(
        conflicts=ground.stores.conflicts,
        neighbours=ground.stores.index,
        embedder=ground.embedder,
        rules=ground.rules,
        clock=ground.clock,
        policy=ground.policies.conflicts,
        telemetry=ground.telemetry,
        judged=ground.stores.reasoner is not None,
    )
    return Integrator(
        checker=checker,
        admit=gate.admit,
        associations=life.associations,
        tiers=life.tiers,
        instants=instants,
        telemetry=ground.telemetry,
    )


def build_encoder(ground: Ground, *, life: Life, integrator: Integrator) -> EncodeWorker:
    """Encodes one batch of jobs at a time."""
    stores = ground.stores
    return EncodeWorker(
        records=stores.records,
        index=stores.index,
        hot=stores.hot,
        embedder=ground.embedder,
        analyzer=ground.analyzer,
        integrator=integrator,
        clear=life.lifecycle.clear,
        leave=life.tiers.leave,
        forget_talk=stores.forget_talk,
        policy=ground.policies.encode,
        telemetry=ground.telemetry,
        deferring=stores.database.deferring,
    )
