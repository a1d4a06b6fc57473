"""The numbers of AIM-Memory, with the design's own names and defaults, and its presets."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any, Literal, get_args

from biem.domain.policies.bounds import Share

Admission = Literal["statements", "gate", "classifier", "llm", "always"]


@dataclass(frozen=True, slots=True)
class FieldWeights:
    """The weight of each kind of anchor."""

    numbers: float = 3.0
    names: float = 2.0
    definitions: float = 1.5
    symbols: float = 2.5

    def __post_init__(self) -> None:
        if not all(math.isfinite(weight) and weight >= 0 for weight in asdict(self).values()):
            raise ValueError("weights of fields must be finite and not negative")


@dataclass(frozen=True, slots=True)
class AimPolicy:
    """Gate, inertia, mirror, anchors and evidence. W, the size of HotKV, is `WritePolicy.hot_window`."""

    admission: Admission = "statements"
    """The rule that decides whether a message is formed. *statements*: a person's statement is formed unless it
    repeats a known one, a courtesy or acknowledgement is not, and the gate decides about the rest (questions,
    requests, the assistant's messages). *gate*: AIM-Memory's formula alone. *classifier*: a rule that counts content
    terms. *llm*: a language model and, where it gives no answer, the gate. *always*: every message is formed. An
    explicit memory (a fact, the layer core, importance 4 and more) is always formed.
    """
    gate_form: Literal["raw", "centered"] = "centered"
    """*raw*: the design's sigmoid, which refuses nothing below a threshold of 0.5; *centered*: sigmoid(8·(x − 0.5))."""
    write_threshold: Share = 0.6
    """τ_write: a message whose gate value is below is not formed."""
    gate_alpha: float = 0.5
    """Weight of relevance."""
    gate_beta: float = 0.3
    """Weight of surprise."""
    gate_gamma2: float = 0.2
    """Weight of conflict."""
    gate_context: int = 16
    """Preceding texts that relevance is computed against."""
    local_cluster_k: int = 32
    """K: nodes that a route examines."""
    inertia_strength: float = 0.5
    """λ: how far the recent direction pulls a query; 0 switches it off."""
    inertia_momentum: float = 0.85
    """μ: the share of the recent direction that a route keeps."""
    inertia_ttl_s: float = 86_400.0
    """A conversation idle for longer begins without a direction."""
    inertia_conversations: int = 10_000
    """Conversations of a scope whose direction is stored; the least recently used are dropped."""
    weight_decay_gamma: float = 0.8
    """γ: the factor by which each memory formed later reduces a weight."""
    fresh_weight: float = 1.0
    anchor_threshold: float = 0.1
    """τ_anchor: the minimum score of a node, exclusive."""
    anchor_boost: float = 2.0
    """η."""
    conflict_penalty: float = 1.0
    field_weights: FieldWeights = FieldWeights()
    top_n: int = 3
    """Nodes that a route returns; the design leaves it open."""
    store_evidence: bool = True
    """Whether strict mode returns originals, or only their hashes; PostgreSQL keeps them in any case."""
    max_evidence_length: int = 2_000
    """Maximum characters of a returned original."""
    summary_chars: int = 200
    """A summary is one line of at most this many characters."""
    answer_texts: int = 6
    """Newest texts of HotKV at the start of an answer's context."""
    anchor_filter: Literal["off", "rival", "exact", "all"] = "rival"
    """What the default recall drops when a query has anchors and any candidate matches one: *rival*: another value
    of the same kind, for short queries; *exact*: all candidates without that quantity, long number or symbol; *all*:
    all without any of its numbers, names and symbols.
    """
    anchor_weight: float = 0.0
    """Score of a full anchor match in the default recall (log-odds)."""
    prototype: Literal["text", "summary"] = "text"
    """What is embedded of a message: its whole text or, as in the design, its summary and its fields."""
    adaptive: bool = False
    """Whether λ, γ and K adapt to a conversation, within bounds."""

    def __post_init__(self) -> None:
        if self.admission not in get_args(Admission) or self.gate_form not in ("raw", "centered"):
            raise ValueError(f"admission is one of {', '.join(get_args(Admission))}; gate_form is raw or centered")
        if self.anchor_filter not in ("off", "rival", "exact", "all"):
            raise ValueError("anchor_filter is off, rival, exact or all")
        if self.prototype not in ("text", "summary"):
            raise ValueError("prototype is text or summary")
        shares = (self.write_threshold, self.inertia_momentum, self.anchor_threshold)
        if not all(0 <= share <= 1 for share in shares) or not 0 < self.weight_decay_gamma <= 1:
            raise ValueError("write_threshold, inertia_momentum, anchor_threshold and weight_decay_gamma are 0 to 1")
        weights = (
            self.gate_alpha, self.gate_beta, self.gate_gamma2, self.inertia_strength, self.anchor_boost,
            self.conflict_penalty, self.anchor_weight,
        )  # fmt: skip
        if not all(math.isfinite(weight) and weight >= 0 for weight in weights):
            raise ValueError("weights of gate, inertia, anchors and conflicts must be finite and not negative")
        if not 0 < self.fresh_weight <= 1 or self.inertia_ttl_s <= 0:
            raise ValueError("fresh_weight lies above 0 and at most at 1; inertia_ttl_s must be positive")
        sizes = (
            self.gate_context, self.local_cluster_k, self.inertia_conversations, self.top_n, self.max_evidence_length,
            self.summary_chars,
        )  # fmt: skip
        if min(sizes) < 1 or self.answer_texts < 0:
            raise ValueError("sizes and lengths must be positive")


PRESETS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "quick_dialogue": MappingProxyType(
            {"hot_window_size": 128, "local_cluster_k": 16, "write_threshold": 0.5, "inertia_strength": 0.6}
        ),
        "precise_knowledge": MappingProxyType(
            {
                "hot_window_size": 512,
                "local_cluster_k": 64,
                "write_threshold": 0.7,
                "anchor_boost": 3.0,
                "store_evidence": True,
            }
        ),
        "long_term": MappingProxyType(
            {
                "weight_decay_gamma": 0.9,
                "inertia_momentum": 0.9,
                "local_cluster_k": 32,
                "write_threshold": 0.4,
            }
        ),
    }
)
"""Configurations for `create_aim_memory` by use case: quick dialogue, precise knowledge base, long term."""
