"""Lists messages that the gate refused, and judges them again with current memories and settings."""

from collections.abc import Sequence
from dataclasses import replace

from biem.domain.designs.aim import GateDecision
from biem.domain.scope import Scope
from biem.domain.text import MOST_LISTED, require_count
from biem.engine.encode.gate import Gate
from biem.engine.encode.integrate import Integrator
from biem.errors import NotFound
from biem.ports import Embedder, Records
from biem.ports.aim import AimRecords, Refusal


class Replayer:
    """Replays refusals. Thread-safe."""

    def __init__(
        self, *, gate: Gate, records: AimRecords, memories: Records, integrator: Integrator, embedder: Embedder
    ) -> None:
        self.gate = gate
        self._records = records
        self._memories = memories
        self._integrator = integrator
        self._embedder = embedder

    def refusals(self, scope: Scope, limit: int) -> Sequence[Refusal]:
        """Messages refused and not formed since, newest first."""
        require_count(limit, "limit", MOST_LISTED)
        return self._records.refusals(scope, limit)

    def replay(self, scope: Scope, memory_id: str, *, force: bool) -> GateDecision:
        """Judge a refused memory again; if it passes, or with `force`, it is formed and linked.

        A formed memory stays unchanged. Raises `NotFound`. Safe to repeat: it is formed first and linked second, and
        a repetition adds the links that a crash prevented.
        """
        node = self._memories.get(scope, memory_id)
        standing = self._records.standing(scope, [memory_id]).get(memory_id)
        if node is None or standing is None:
            raise NotFound(f"no memory {memory_id} in scope {scope}")
        decision = self.gate.judge_again(scope, node)
        passes = decision.formed or force or standing.formed
        if passes:
            if not standing.decided:  # the worker will read this decision
                self._records.record_decisions(scope, [(memory_id, replace(decision, formed=True), None)])
            self._records.admit(scope, memory_id, decision)
            if node.status == "active":
                self._integrator.relate([(node, self._embedder.embed([node.indexed_text], "passage")[0])])
        return replace(decision, formed=passes)
