"""Inertia of a conversation: recent selections pull the search direction of its queries.

    d = q + λ·v, unit length again            v ← μ·v + (1 − μ)·mean(vectors of the selection); unchanged by none

Stored in Redis, by scope and conversation. While Redis is down the process uses its own copy; an unknown direction
counts as none. With `adaptive` λ, γ and K follow the conversation, see `adapted`.
"""

import logging
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from biem.domain.policies.aim import AimPolicy
from biem.domain.scope import Scope
from biem.domain.text import require_string
from biem.errors import StoreUnavailable
from biem.ports import Vector
from biem.ports.hot import InertiaState, InertiaStore
from biem.telemetry import Telemetry

logger = logging.getLogger("biem.inertia")

_KEPT_HERE = 1_000
"""Conversations that this process caches; the least recently used are dropped."""
_STEP = 0.2
"""The step by which one route moves an adaptive parameter towards its target."""
_LEAST_STRENGTH, _MOST_STRENGTH = 0.25, 1.5
"""Bounds of λ and of 1/(1 − γ), as shares of the configured value."""
_LEAST_CLUSTER, _MOST_CLUSTER = 0.5, 4.0
"""Bounds of K as shares of the configured value."""
_MOST_GAMMA = 0.99


def direction(query: Vector, inertia: InertiaState, strength: float) -> Vector:
    """Source: AIM-Memory R1. q + λ·v, not normalised; the query itself, bit for bit, for λ = 0 or without inertia."""
    if strength == 0 or inertia.vector is None:
        return query
    pulled: Vector = query + np.float32(strength) * inertia.vector
    return pulled


def moved(inertia: InertiaState, selected: Sequence[Vector], momentum: float) -> InertiaState:
    """Source: AIM-Memory R5. The inertia after a route; the same object when nothing was selected."""
    if not selected:
        return inertia
    mean = np.mean(np.stack(selected), axis=0, dtype=np.float64)
    before = np.zeros_like(mean) if inertia.vector is None else inertia.vector.astype(np.float64)
    after: Vector = (momentum * before + (1.0 - momentum) * mean).astype(np.float32)
    return replace(inertia, vector=after)


def norm(inertia: InertiaState) -> float:
    """The length of the inertia; 0 at the beginning."""
    return 0.0 if inertia.vector is None else float(np.linalg.norm(inertia.vector))


def adapted(
    inertia: InertiaState, query: Vector, ages: Sequence[int], places: Sequence[int], policy: AimPolicy
) -> InertiaState:
    """λ, γ and K after a route, each one step closer to its target, and within its bounds.

    λ follows the similarity of query and inertia: switching topics lowers it. γ follows the `ages` of the selected
    nodes, so that half their weight is left at the mean. K follows their `places` in the cluster: selections from its
    end increase it, selections from its beginning decrease it.
    """
    cluster = policy.local_cluster_k if inertia.cluster is None else inertia.cluster
    strength = policy.inertia_strength if inertia.strength is None else inertia.strength
    gamma = policy.weight_decay_gamma if inertia.gamma is None else inertia.gamma
    length = norm(inertia)
    if inertia.vector is not None and length > 0:
        alike = float(query @ inertia.vector) / length
        wanted = policy.inertia_strength * 2.0 * max(0.0, alike)
        strength = _stepped(strength, wanted, policy.inertia_strength, _LEAST_STRENGTH, _MOST_STRENGTH)
    if ages:
        mean = sum(ages) / len(ages)
        gamma += _STEP * (0.5 ** (1.0 / max(1.0, mean)) - gamma)
        gamma = min(max(gamma, min(policy.weight_decay_gamma, 0.5)), max(policy.weight_decay_gamma, _MOST_GAMMA))
    if places:
        depth = (max(places) + 1) / cluster
        wanted = policy.local_cluster_k * (_MOST_CLUSTER if depth > 0.75 else 1.0 if depth > 0.25 else _LEAST_CLUSTER)
        cluster = round(_stepped(cluster, wanted, policy.local_cluster_k, _LEAST_CLUSTER, _MOST_CLUSTER))
    return replace(inertia, strength=strength, gamma=gamma, cluster=max(1, cluster))


def _stepped(value: float, wanted: float, configured: float, least: float, most: float) -> float:
    return min(max(value + _STEP * (wanted - value), least * configured), most * configured)


class Inertia:
    """Loads and saves the inertia of conversations. Thread-safe."""

    def __init__(self, *, inertia_store: InertiaStore, policy: AimPolicy, telemetry: Telemetry) -> None:
        self._inertia_store = inertia_store
        self._policy = policy
        self._telemetry = telemetry
        self._known: OrderedDict[tuple[str, str], InertiaState] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, scope: Scope, conversation: str) -> InertiaState:
        """The inertia of a conversation; its name is any text of the caller's."""
        require_string(conversation, "conversation")
        key = (scope.ns, conversation)
        try:
            return self._inertia_store.load(scope, conversation)
        except StoreUnavailable as error:
            logger.warning("using this process's copy of the inertia: %s", error)
            with self._lock:
                return self._known.get(key, InertiaState())

    def keep(self, scope: Scope, conversation: str, inertia: InertiaState) -> None:
        """Save the inertia of a conversation."""
        with self._lock:
            self._known[scope.ns, conversation] = inertia
            self._known.move_to_end((scope.ns, conversation))
            while len(self._known) > _KEPT_HERE:
                self._known.popitem(last=False)
        try:
            self._inertia_store.save(
                scope,
                conversation,
                inertia,
                most=self._policy.inertia_conversations,
                ttl_s=self._policy.inertia_ttl_s,
            )
        except StoreUnavailable as error:
            logger.warning("inertia is stored in this process only: %s", error)

    def all(self, scope: Scope) -> dict[str, InertiaState]:
        """The inertia of a scope's conversations, by name."""
        return dict(self._inertia_store.all(scope))

    def drop(self, scope: Scope) -> None:
        """Drop this process's copies of a scope."""
        with self._lock:
            for key in [key for key in self._known if key[0] == scope.ns]:
                del self._known[key]

    def follow(
        self,
        scope: Scope,
        conversation: str,
        inertia: InertiaState,
        query: Vector,
        selected: Sequence[Vector],
        ages: Sequence[int],
        places: Sequence[int],
    ) -> InertiaState:
        """The inertia after a route, saved; unchanged and not saved when nothing was selected."""
        if not selected:
            return inertia
        after = moved(inertia, selected, self._policy.inertia_momentum)
        if self._policy.adaptive:
            changed = adapted(inertia, query, ages, places, self._policy)
            after = replace(after, strength=changed.strength, gamma=changed.gamma, cluster=changed.cluster)
            if (changed.strength, changed.gamma, changed.cluster) != (
                inertia.strength,
                inertia.gamma,
                inertia.cluster,
            ):
                logger.info(
                    "conversation %r adapted to λ %.3f, γ %.3f, K %d",
                    conversation,
                    changed.strength or 0.0,
                    changed.gamma or 0.0,
                    changed.cluster or 0,
                )
        self.keep(scope, conversation, after)
        return after
