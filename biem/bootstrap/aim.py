"""AIM-Memory's part of the object graph."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

from biem.bootstrap.stores import Stores
from biem.domain.policies import Policies
from biem.domain.scope import Scope
from biem.engine.aim.conversation import AimConversation
from biem.engine.aim.inertia import Inertia
from biem.engine.aim.route import Router
from biem.engine.aim.snapshot import Snapshots
from biem.engine.aim.stats import Counter
from biem.engine.aim.system import AimSystem
from biem.engine.aim.write import MemoryWriter
from biem.engine.encode.gate import Gate
from biem.engine.encode.integrate import Integrator
from biem.engine.encode.replay import Replayer
from biem.engine.remember.hot_write_behind import HotFeed
from biem.engine.remember.writer import Writer
from biem.ports import Analyzer, Clock, Embedder
from biem.ports.contradiction import ContradictionRules
from biem.telemetry import Telemetry


def build_gate(
    stores: Stores,
    policies: Policies,
    rules: ContradictionRules,
    embedder: Embedder,
    analyzer: Analyzer,
    clock: Clock,
    telemetry: Telemetry,
) -> Gate:
    """What the worker asks about each new message."""
    return Gate(
        records=stores.aim,
        neighbours=stores.index,
        rules=rules,
        embedder=embedder,
        analyzer=analyzer,
        clock=clock,
        policy=policies.aim,
        conflicts=policies.conflicts,
        telemetry=telemetry,
        reasoner=stores.reasoner,
    )


def build_aim(
    stores: Stores,
    policies: Policies,
    gate: Gate,
    inertia: Inertia,
    former: Integrator,
    writer: Writer,
    feed: HotFeed,
    rules: ContradictionRules,
    analyzer: Analyzer,
    embedder: Embedder,
    accessed: Callable[[Scope, Sequence[str]], object],
    submit: Callable[..., Future[Any]],
    clock: Clock,
    telemetry: Telemetry,
) -> AimSystem:
    """Everything else of AIM-Memory."""
    policy, window = policies.aim, policies.write.hot_window
    return AimSystem(
        router=Router(
            records=stores.aim,
            index=stores.search,
            conflicts=stores.conflicts,
            rules=rules,
            inertia=inertia,
            embedder=embedder,
            analyzer=analyzer,
            accessed=accessed,
            submit=submit,
            clock=clock,
            policy=policy,
            strict_words=policies.recall.strict_words,
            telemetry=telemetry,
        ),
        replayer=Replayer(gate=gate, records=stores.aim, memories=stores.records, former=former, embedder=embedder),
        conversant=AimConversation(records=stores.records, hot=stores.hot, writer=writer, policy=policy),
        snapshots=Snapshots(
            records=stores.aim,
            links=stores.links,
            hot=stores.hot,
            inertia=inertia,
            writer=writer,
            feed=feed,
            analyzer=analyzer,
            clock=clock,
            policy=policy,
            window=window,
            embedder=embedder.info,
        ),
        counter=Counter(records=stores.aim, hot=stores.hot, inertia=inertia, policy=policy, window=window),
        writer=MemoryWriter(writer=writer, gate=gate, records=stores.aim),
        policy=policy,
    )
