"""A node bank in memory behind the ports of `Router`: exact neighbours, and a record of what was looked at."""

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

import numpy as np

from benchmarks._exact import at_once
from biem.adapters.analyzers import RuleAnalyzer
from biem.domain.conflict import Dispute, Matter, Statement, Verdict
from biem.domain.fields import Fields
from biem.domain.node import Node
from biem.domain.policies.aim import AimPolicy
from biem.domain.scope import Scope
from biem.engine.aim.inertia import Inertia
from biem.engine.aim.route import Router
from biem.ports import Embedder, Filter, Vector, Vectors
from biem.ports.aim import AimRecords, Held
from biem.ports.conflicts import Conflicts
from biem.ports.contradiction import ContradictionRules
from biem.ports.hot import InertiaState
from biem.telemetry import Telemetry
from tests.support.fakes import START, HeldClock

SCOPE = Scope(user="bank")
ANALYZER = RuleAnalyzer()


class InertiaStore:
    """The port, in a dictionary."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], InertiaState] = {}

    def load(self, scope: Scope, conversation: str) -> InertiaState:
        return self.kept.get((scope.ns, conversation), InertiaState())

    def save(self, scope: Scope, conversation: str, state: InertiaState, *, most: int, ttl_s: float) -> None:
        self.kept[scope.ns, conversation] = state

    def all(self, scope: Scope) -> Mapping[str, InertiaState]:
        return {name: state for (ns, name), state in self.kept.items() if ns == scope.ns}

    def forget(self, spaces: Collection[str]) -> None:
        self.kept.clear()

    def count(self, spaces: Collection[str]) -> int:
        return len(self.kept)

    def close(self) -> None:
        """Holds nothing."""


class NoRules:
    """Nothing contradicts anything."""

    def compare(
        self, older: Statement, newer: Statement, similarity: float | None, *, least: float = 0.0
    ) -> Verdict | None:
        return None

    def ending(self, older: Statement, newer: Statement) -> Verdict | None:
        return None

    def claims(self, statement: Statement) -> Sequence[str]:
        return ()

    def rivals(self, older: Statement, newer: Statement) -> bool:
        return False

    def matter(self, text: str) -> Matter:
        return Matter()


NO_RULES = NoRules()


@dataclass
class Bank:
    """Nodes with their vectors, oldest first; the parts of the ports that a route uses."""

    texts: list[str] = field(default_factory=list)
    vectors: list[Vector] = field(default_factory=list)
    asked: list[tuple[Vector, int]] = field(default_factory=list)
    """Direction and limit of every search."""
    scored: list[int] = field(default_factory=list)
    """How many nodes were read for every route."""
    _matrix: Vectors | None = None
    _fields: dict[str, Fields] = field(default_factory=dict)

    def add(self, text: str, vector: Vector) -> str:
        self.texts.append(text)
        self.vectors.append(vector)
        return str(len(self.texts) - 1)

    def matrix(self) -> Vectors:
        """All vectors, stacked once."""
        if self._matrix is None or len(self._matrix) != len(self.vectors):
            self._matrix = np.stack(self.vectors)
        return self._matrix

    def fields(self, text: str) -> Fields:
        """What a text pins down, read once."""
        if text not in self._fields:
            self._fields[text] = ANALYZER.analyze(text).fields
        return self._fields[text]

    def dense(self, scopes: Sequence[Scope], vector: Vector, limit: int, where: Filter) -> dict[str, float]:
        self.asked.append((vector, limit))
        cosines = self.matrix() @ vector
        best = np.argsort(-cosines, kind="stable")[:limit]
        return {str(one): float(cosines[one]) for one in best}

    def nodes(self, scopes: Sequence[Scope], ids: Sequence[str], at: datetime, *, evidence: bool) -> list[Held]:
        self.scored.append(len(ids))
        held = []
        for key in ids:
            place = int(key)
            text = self.texts[place]
            node = Node(
                id=key, scope=SCOPE, text=text, kind="event", status="active", layer="short_term", at=START,
                created_at=START, write_seq=place, fields=self.fields(text),
            )  # fmt: skip
            age = len(self.texts) - 1 - place
            held.append(Held(node, True, age, self.vectors[place], text if evidence else None))
        return held

    def open_of(self, scopes: Sequence[Scope], ids: Sequence[str]) -> Mapping[str, Sequence[Dispute]]:
        return {}

    def router(
        self,
        embedder: Embedder,
        rules: ContradictionRules = NO_RULES,
        *,
        accessed: Callable[[Scope, Sequence[str]], object] = lambda scope, ids: None,
        submit: Callable[..., Future[Any]] = at_once,
        **policy: Any,
    ) -> Router:
        """A router over this bank, with the default policy but for these values."""
        chosen, telemetry = AimPolicy(**policy), Telemetry()
        return Router(
            records=cast(AimRecords, self),
            index=self,
            conflicts=cast(Conflicts, self),
            rules=rules,
            inertia=Inertia(inertia_store=InertiaStore(), policy=chosen, telemetry=telemetry),
            embedder=embedder,
            analyzer=ANALYZER,
            accessed=accessed,
            submit=submit,
            clock=HeldClock(),
            policy=chosen,
            strict_words=("原文", "exact"),
            telemetry=telemetry,
        )
