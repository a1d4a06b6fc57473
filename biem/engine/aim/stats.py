"""Counts of an AIM memory: HotKV, nodes of high weight, faded nodes."""

from dataclasses import dataclass

from biem.domain.policies.aim import AimPolicy
from biem.domain.scope import Scope
from biem.engine.aim.inertia import Inertia, norm
from biem.errors import StoreUnavailable
from biem.ports import HotStore
from biem.ports.aim import AimRecords

_BASE_SHARE = 0.3


@dataclass(frozen=True, slots=True)
class AimStats:
    """Counts of one scope; `inertia_norm` is that of one conversation."""

    hot_kv_size: int
    node_bank_size: int
    inertia_norm: float
    total_access: int
    avg_weight: float
    layers: dict[str, int]
    """A: texts in HotKV. B: nodes so young that their weight alone exceeds τ_anchor. C: all older ones."""


class Counter:
    """Computes the counts. Linear in the nodes of the scope, so for people and tests, not for every turn."""

    def __init__(self, *, records: AimRecords, hot: HotStore, inertia: Inertia, policy: AimPolicy, window: int) -> None:
        self._records = records
        self._hot = hot
        self._inertia = inertia
        self._policy = policy
        self._window = window

    def stats(self, scope: Scope, conversation: str) -> AimStats:
        """Count now; without Redis, HotKV counts as empty."""
        policy = self._policy
        try:
            hot = len(self._hot.recent(scope, self._window))
        except StoreUnavailable:
            hot = 0
        census = self._records.census(
            scope, policy.weight_decay_gamma, policy.fresh_weight, policy.anchor_threshold / _BASE_SHARE
        )
        return AimStats(
            hot_kv_size=hot,
            node_bank_size=census.nodes,
            inertia_norm=norm(self._inertia.of(scope, conversation)),
            total_access=census.accesses,
            avg_weight=census.mean_weight,
            layers={"A": hot, "B": census.high, "C": census.nodes - census.high},
        )
