"""The parts that give a memory its place: each is asked in the design's order, and any other of its kind will do."""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from biem.domain.fields import Analysis, Fields
from biem.domain.node import Node
from biem.domain.policies.writing import EncodePolicy
from biem.domain.scope import Scope
from biem.engine.concepts.instant_memory import InstantMaker
from biem.engine.conflicts.detect import Checked, ConflictChecker, Fresh
from biem.engine.encode.integrate import Embedded, Integrator
from biem.engine.encode.worker import EncodeWorker
from biem.engine.graph.associations import Associations, Linkable
from biem.engine.life.tiers import Tiers
from biem.memory import Memory
from biem.ports import Completion, Encoded, Job, Vector, Vectors
from biem.telemetry import Telemetry
from tests.support.fakes import START, WordEmbedder

SCOPE = Scope(user="u")
NODE = Node(id="n", scope=SCOPE, text="x", kind="event", status="pending", layer="", at=START, created_at=START)


class Cast:
    """Stands in for each part and store that encoding uses, and notes who was asked for what."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.jobs = [Job(1, "encode", "n", SCOPE.ns, 1, 1, "x", NODE)]

    # the conflict checker
    def check(self, scope: Scope, fresh: Sequence[Fresh]) -> Checked:
        self.asked.append("conflicts")
        return Checked((), {"n": [("near", 0.9)]})

    # the association router
    def link_new(self, scope: Scope, entries: Sequence[Linkable]) -> int:
        self.asked.append(f"links {entries[0].nearest}")
        return 1

    # the tier manager, with the energies
    def enter(self, memories: Sequence[Embedded]) -> None:
        self.asked.append(f"tiers {[node.id for node, _ in memories]}")

    def create_and_store_memories(self, nodes: Sequence[Node]) -> None:
        self.asked.append("instants")

    # the gate
    def admit(self, *about: object) -> frozenset[str]:
        self.asked.append("gate")
        return frozenset(["n"])

    # the stores
    def claim(self, limit: int, lease_s: float, *, retried: bool) -> list[Job]:
        jobs, self.jobs = ([], self.jobs) if retried else (self.jobs, [])
        return jobs

    def load_vectors(self, model: str, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        return {}

    def save_vectors(self, model: str, vectors: Mapping[bytes, Vector], parts: Mapping[bytes, Vectors]) -> None:
        self.asked.append("vector")

    def renew(self, jobs: Sequence[Job], lease_s: float) -> Sequence[Job]:
        return jobs

    def insert(self, entries: Sequence[object], *, again: bool) -> None:
        self.asked.append("index")

    def complete(self, encoded: Sequence[Encoded]) -> Completion:
        self.asked.append("record")
        return Completion(erased=(), overtaken=(), hot=("n",))

    def analyze(self, text: str) -> Analysis:
        return Analysis(Fields(), (), 0.0, "en")


@pytest.mark.req("B5", partly="the parts of encoding; energies are the work of the tiers, not a part of their own")
@pytest.mark.req("C9", partly="the order of encoding")
def test_the_entry_point_uses_an_encoder_conflicts_associations_energies_and_tiers_in_the_designs_order() -> None:
    """B5's five parts, each replaced by a stand-in: what the engine's parts need are ports and each other's methods."""
    # Given the design's parts, none of which is the real one, behind the real entry point
    parts: Any = Cast()
    integrator = Integrator(
        checker=cast(ConflictChecker, parts),
        admit=parts.admit,
        associations=cast(Associations, parts),
        tiers=cast(Tiers, parts),
        instants=cast(InstantMaker, parts),
        telemetry=Telemetry(),
    )
    hub: Any = SimpleNamespace(views=set())
    hub.encoder = EncodeWorker(
        records=parts,
        index=parts,
        hot=parts,
        embedder=WordEmbedder(),
        analyzer=parts,
        integrator=integrator,
        clear=lambda _: None,
        leave=lambda *_: None,
        forget_talk=lambda _: None,
        policy=EncodePolicy(),
        telemetry=Telemetry(),
    )
    memory = Memory(hub, SCOPE)

    # When a memory is encoded
    assert memory._shared.encoder() == 1

    # Then it is embedded, compared, admitted, linked with what is near, stored, and enters the tier of its energy
    assert parts.asked == [
        "vector", "conflicts", "gate", "links [('near', 0.9)]", "index", "record", "tiers ['n']", "instants"
    ]  # fmt: skip
