"""AIM-Memory's arithmetic: gate, temporal mirror, the score of a node.

Source: AIM-Memory A7, A28, A33–A36; the form of surprise is ADR 0038, that of the gate C8.

s = 1 − exp(−(novelty·words + Σ weight of new anchors)/10)        novelty = min(1, (1 − likeness)/0.75)   (ADR 0038)
x = α·r + β·s + γ2·c           g = sigmoid(x) raw, sigmoid(8·(x − 0.5)) centered;  formed when g ≥ τ_write
w = fresh · γ^age              age: memories formed since, by the write sequence and never by the clock
anchor = Σ weight·matched/asked ÷ Σ weight, over the kinds of fields that the query has
score  = 0.3·w + anchor·η·w − penalty·conflict;  kept when score > τ_anchor, best first, at most top_n
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from biem.domain.anchors import anchor_score, binding, shares_anchor
from biem.domain.fields import Fields
from biem.domain.policies.aim import AimPolicy
from biem.domain.scores import probability

_BASE_SHARE = 0.3
_STEEPNESS, _MIDDLE = 8.0, 0.5
_UNRELATED = 0.25
"""Calibrated similarity that one pair of unrelated texts in a hundred exceeds: a text below it is entirely new."""
_WORDS = 10.0
"""New content words that make a surprise of 1 − 1/e."""
MOST_WORDS = 15.0
"""Maximum of words counted: length alone does not make a text surprising."""
_MOST_ANCHORS = 7.5
"""Maximum contribution of new anchors, in words."""


# -- gate ---------------------------------------------------------------------------------------------------------


def gate_input(relevance: float, surprise: float, conflict: float, policy: AimPolicy) -> float:
    """x = α·r + β·s + γ2·c; each of the three in [0, 1]."""
    return policy.gate_alpha * relevance + policy.gate_beta * surprise + policy.gate_gamma2 * conflict


def surprise(likeness: float, words: float, anchors: float) -> float:
    """How much new information a text has, in [0, 1): 0 for a text that repeats a memory and has no new anchor.

    `likeness` to the nearest formed memory, in [0, 1]. `words`: its number of content words. `anchors`: the weights of
    its anchors that the nearest memories lack; a changed number is new however similar the sentence is.
    """
    novelty = min(1.0, max(0.0, 1.0 - likeness) / (1.0 - _UNRELATED))
    return 1.0 - math.exp(-(novelty * min(words, MOST_WORDS) + min(anchors, _MOST_ANCHORS)) / _WORDS)


def gate_value(x: float, form: Literal["raw", "centered"]) -> float:
    """g in (0, 1). Raw, x ≥ 0 gives g ≥ 0.5 always; centered, g is 0.5 at x = 0.5."""
    return probability(x if form == "raw" else _STEEPNESS * (x - _MIDDLE))


@dataclass(frozen=True, slots=True)
class GateDecision:
    """The gate's decision on one message: `formed`, and the numbers behind it."""

    formed: bool
    value: float
    """g in [0, 1]."""
    threshold: float
    """τ_write."""
    form: str
    relevance: float
    surprise: float
    conflict: float
    decided_at: datetime


def gate(relevance: float, surprise: float, conflict: float, policy: AimPolicy, at: datetime) -> GateDecision:
    """Judge a message; a value equal to the threshold passes."""
    value = gate_value(gate_input(relevance, surprise, conflict, policy), policy.gate_form)
    return GateDecision(
        formed=value >= policy.write_threshold,
        value=value,
        threshold=policy.write_threshold,
        form=policy.gate_form,
        relevance=relevance,
        surprise=surprise,
        conflict=conflict,
        decided_at=at,
    )


# -- temporal mirror ---------------------------------------------------------------------------------------------------


def mirror_weight(age: int, policy: AimPolicy, gamma: float | None = None) -> float:
    """w of a memory with `age` memories formed after it; `gamma` in place of the policy's."""
    rate = policy.weight_decay_gamma if gamma is None else gamma
    return float(policy.fresh_weight * rate ** max(0, age))


# -- the score of a node -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AimNode:
    """One node of a local cluster, as input of the design's ranking."""

    id: str
    weight: float
    """w of the temporal mirror."""
    fields: Fields = field(default_factory=Fields)
    conflict: float = 0.0
    """Confidence that it contradicts the query or known facts, in [0, 1]."""


@dataclass(frozen=True, slots=True)
class AimScore:
    """The parts of a node's score."""

    id: str
    base: float
    bonus: float
    penalty: float
    anchor: float

    @property
    def total(self) -> float:
        """node_score."""
        return self.base + self.bonus - self.penalty


def node_score(query: Fields, node: AimNode, policy: AimPolicy) -> AimScore:
    """Score one node for a query."""
    anchor = anchor_score(query, node.fields, policy.field_weights)
    return AimScore(
        node.id,
        base=_BASE_SHARE * node.weight,
        bonus=anchor * policy.anchor_boost * node.weight,
        penalty=policy.conflict_penalty * node.conflict,
        anchor=anchor,
    )


def select(query: Fields, cluster: Sequence[AimNode], policy: AimPolicy, top_n: int | None = None) -> list[AimScore]:
    """The design's ranking of a local cluster (profile `aim`): hard filter, threshold, order, cut.

    Where a query has numbers, names or symbols and any node has one of them, nodes without are dropped. Equal scores
    keep the cluster's order, which is by similarity to the search direction.
    """
    asked = binding(query, "all")
    matching = [node for node in cluster if shares_anchor(asked, node.fields)]
    scores = [node_score(query, node, policy) for node in matching or cluster]
    kept = [score for score in scores if score.total > policy.anchor_threshold]
    kept.sort(key=lambda score: -score.total)
    return kept[: policy.top_n if top_n is None else top_n]
