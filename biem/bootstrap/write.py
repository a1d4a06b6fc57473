"""Builds the write path: a message is acknowledged, encoded in batches, checked against others and indexed."""

from contextlib import ExitStack

from biem.adapters.embedders.directions import change_odds, courtesy_odds
from biem.adapters.embedders.fitted import ending_odds
from biem.bootstrap.groups import Ground, Life, WritePath
from biem.domain.text import cut_lexemes
from biem.engine.aim.inertia import Inertia
from biem.engine.aim.inertia_write_behind import InertiaWriteBehind
from biem.engine.concepts.instant_memory import InstantMaker
from biem.engine.conflicts.detect import ConflictChecker
from biem.engine.encode.gate import Gate
from biem.engine.encode.integrate import Integrator
from biem.engine.encode.revised import RevisionFollower
from biem.engine.encode.worker import EncodeWorker
from biem.engine.remember.hot_write_behind import HotFeed
from biem.engine.remember.writer import Writer


def build_write_path(ground: Ground, *, life: Life, stack: ExitStack) -> WritePath:
    """The write path; its threads end with `stack`."""
    stores, policies = ground.stores, ground.policies
    feed = HotFeed(stores.hot, window=policies.write.hot_window)
    stack.callback(feed.close)
    inertia_store = InertiaWriteBehind(stores.inertia_store)
    stack.callback(inertia_store.close)
    gate = build_gate(ground)
    instants = InstantMaker(
        instants=stores.instants,
        analyzer=ground.analyzer,
        clock=ground.clock,
        policy=policies.concepts,
        reasoner=stores.reasoner,
    )
    integrator = build_integrator(ground, life=life, gate=gate, instants=instants)
    follower = build_follower(ground, life=life)
    return WritePath(
        feed=feed,
        writer=build_writer(ground, life=life, feed=feed),
        inertia_store=inertia_store,
        inertia=Inertia(inertia_store=inertia_store, policy=policies.aim, telemetry=ground.telemetry),
        gate=gate,
        instants=instants,
        integrator=integrator,
        follower=follower,
        encoder=build_encoder(ground, life=life, integrator=integrator, follower=follower),
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
        courtesy_odds=courtesy_odds(ground.embedder.info.id),
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
        change_odds=change_odds(ground.embedder.info.id),
        pair_odds=ending_odds(ground.embedder.info.id, ground.settings.embedder.threads, ground.priority.give_way),
    )
    return Integrator(
        checker=checker,
        admit=gate.admit,
        associations=life.associations,
        tiers=life.tiers,
        instants=instants,
        telemetry=ground.telemetry,
    )


def build_follower(ground: Ground, *, life: Life) -> RevisionFollower:
    """Carries revisions into caches and vectors."""
    stores, most = ground.stores, ground.policies.write.max_lexeme_bytes
    return RevisionFollower(
        revisions=stores.revisions,
        records=stores.records,
        hot=stores.hot,
        leave=life.tiers.leave,
        forget_talk=stores.forget_talk,
        lexemes=lambda text: cut_lexemes(" ".join(ground.analyzer.lexemes(text)), most),
    )


def build_encoder(ground: Ground, *, life: Life, integrator: Integrator, follower: RevisionFollower) -> EncodeWorker:
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
        follower=follower,
    )
