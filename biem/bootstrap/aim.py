"""Builds AIM-Memory's part of the object graph."""

from biem.bootstrap.groups import Ground, Life, ReadPath, WritePath
from biem.engine.aim.conversation import AimConversation
from biem.engine.aim.route import Router
from biem.engine.aim.snapshot import Snapshots
from biem.engine.aim.stats import Counter
from biem.engine.aim.system import AimSystem
from biem.engine.aim.write import MemoryWriter
from biem.engine.encode.replay import Replayer


def build_aim(ground: Ground, *, life: Life, write: WritePath, read: ReadPath) -> AimSystem:
    """AIM-Memory's own operations; its gate belongs to the write path."""
    stores, policy, window = ground.stores, ground.policies.aim, ground.policies.write.hot_window
    return AimSystem(
        router=build_router(ground, life=life, write=write, read=read),
        replayer=Replayer(
            gate=write.gate,
            records=stores.aim,
            memories=stores.records,
            integrator=write.integrator,
            embedder=ground.embedder,
        ),
        conversant=AimConversation(records=stores.records, hot=stores.hot, writer=write.writer, policy=policy),
        snapshots=Snapshots(
            records=stores.aim,
            links=stores.links,
            hot=stores.hot,
            inertia=write.inertia,
            writer=write.writer,
            feed=write.feed,
            analyzer=ground.analyzer,
            clock=ground.clock,
            policy=policy,
            window=window,
            embedder=ground.embedder.info,
        ),
        counter=Counter(records=stores.aim, hot=stores.hot, inertia=write.inertia, policy=policy, window=window),
        writer=MemoryWriter(writer=write.writer, gate=write.gate, records=stores.aim),
        policy=policy,
    )


def build_router(ground: Ground, *, life: Life, write: WritePath, read: ReadPath) -> Router:
    """AIM-Memory's way of reading."""
    return Router(
        records=ground.stores.aim,
        index=ground.stores.search,
        conflicts=ground.stores.conflicts,
        rules=ground.rules,
        inertia=write.inertia,
        embedder=ground.embedder,
        analyzer=ground.analyzer,
        accessed=life.tiers.count,
        submit=read.searcher.submit,
        clock=ground.clock,
        policy=ground.policies.aim,
        strict_words=ground.policies.recall.strict_words,
        telemetry=ground.telemetry,
    )
