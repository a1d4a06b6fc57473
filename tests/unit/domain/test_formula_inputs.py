"""No input of a score is inert (X41): each formula of the domain, and what raises it, input by input."""

import importlib
import inspect
import pkgutil
import typing
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any

import pytest

import biem.domain
from biem.domain.anchors import anchor_score, unsaid
from biem.domain.concept import term_similarity
from biem.domain.designs.aim import AimNode, gate_input, gate_value, mirror_weight, node_score, surprise
from biem.domain.designs.formulas import (
    aimate_score,
    biem_score,
    frequency_factor,
    importance_factor,
    notes_score,
    squared_shares,
    time_factor,
)
from biem.domain.designs.selection import chain_weight, occurrences
from biem.domain.energy import (
    energy_at,
    energy_key,
    hours_since_epoch,
    initial_energy,
    key_threshold,
    reason_quality,
)
from biem.domain.fields import Fields
from biem.domain.link import strength_of
from biem.domain.merging import information
from biem.domain.node import require_importance
from biem.domain.policies.aim import AimPolicy, FieldWeights
from biem.domain.policies.confidence import ConfidenceWeights
from biem.domain.policies.life import RetentionPolicy
from biem.domain.policies.orbit import OrbitWeights
from biem.domain.retention import Lived, retention_days
from biem.domain.scores import clamp01, probability, rarity
from biem.domain.spreading import multiplicative, subtractive
from biem.domain.text import jaccard
from biem.domain.times.spans import number, year_of
from biem.domain.tokens import estimate_tokens, wide_characters
from biem.domain.trust import rank
from biem.engine.recall.rank.confidence import confidence
from tests.support.fakes import START

REASON = "because everybody in the team must know it"
TEN, OTHER, BOTH = Fields(numbers=("10M",)), Fields(numbers=("128K",)), Fields(numbers=("10M", "128K"))
SETTINGS = {"policy", "weights", "form", "gamma", "decay", "decay_per_hour"}
"""What an operator sets; not what varies from memory to memory."""


@dataclass(frozen=True)
class Formula:
    """`rises`: for each input another value by which, put in place of that of `base`, the score is greater."""

    of: Callable[..., float | None]
    base: Mapping[str, Any]
    rises: Mapping[str, Any]

    def value(self, **changed: Any) -> float:
        found = self.of(**{**self.base, **changed})
        assert found is not None
        return found


def through_two_links(seed: float, weight: float) -> float:
    return multiplicative(lambda node: [("b", weight)] if node == "a" else [], {"a": seed})["b"]


def through_a_strong_link(seed: float, strength: int, other: int) -> float:
    return subtractive(lambda node: [("x", strength if node == "a" else other)], {"a": seed, "b": 1.0})["x"]


def share_of_activation(own: float, others: float) -> float:
    return squared_shares({"a": own, "b": others})["a"]


def met(channels: list[str], links: str) -> float:
    return occurrences(channels, lambda node: links if node == "k" else "", hops=1)["m"]


def aim_score(weight: float, fields: Fields, conflict: float) -> float:
    return node_score(TEN, AimNode("n", weight, fields, conflict), AimPolicy()).total


FORMULAS = [
    Formula(biem_score, {"vector": 0.5, "activation": 0.5}, {"vector": 0.6, "activation": 0.6}),
    Formula(rarity, {"holders": 10, "size": 100}, {"holders": 5, "size": 200}),
    Formula(
        jaccard,
        {"some": frozenset("ab"), "other": frozenset("bc")},
        {"some": frozenset("bc"), "other": frozenset("ab")},
    ),
    Formula(notes_score, {"bm25": 0.5, "content": 0.5, "tag": 0.5}, {"bm25": 0.6, "content": 0.6, "tag": 0.6}),
    Formula(share_of_activation, {"own": 1.0, "others": 1.0}, {"own": 1.1, "others": 0.9}),
    Formula(time_factor, {"days": 30.0}, {"days": 29.0}),
    Formula(importance_factor, {"importance": 3.0}, {"importance": 3.1}),
    Formula(frequency_factor, {"access_count": 3}, {"access_count": 4}),
    Formula(
        aimate_score,
        {"raw": 0.5, "days": 30.0, "importance": 3.0, "access_count": 3},
        {"raw": 0.6, "days": 29.0, "importance": 4.0, "access_count": 4},
    ),
    Formula(
        gate_input,
        {"relevance": 0.5, "surprise": 0.5, "conflict": 0.5, "policy": AimPolicy()},
        {"relevance": 0.6, "surprise": 0.6, "conflict": 0.6},
    ),
    Formula(
        surprise,
        {"likeness": 0.5, "words": 5.0, "anchors": 1.0},
        {"likeness": 0.4, "words": 6.0, "anchors": 2.0},
    ),
    Formula(
        unsaid,
        {"fields": TEN, "known": [TEN], "weights": FieldWeights()},
        {"fields": BOTH, "known": [OTHER]},
    ),
    Formula(gate_value, {"x": 0.5, "form": "centered"}, {"x": 0.6}),
    Formula(mirror_weight, {"age": 3, "policy": AimPolicy()}, {"age": 2}),
    Formula(
        aim_score, {"weight": 0.5, "fields": OTHER, "conflict": 0.5}, {"weight": 0.6, "fields": TEN, "conflict": 0.4}
    ),
    Formula(anchor_score, {"query": TEN, "node": OTHER, "weights": FieldWeights()}, {"query": OTHER, "node": TEN}),
    Formula(
        energy_at,
        {"anchor": 0.5, "anchor_at": START, "at": START + timedelta(hours=9), "decay_per_hour": 0.1},
        {"anchor": 0.6, "anchor_at": START + timedelta(hours=1), "at": START + timedelta(hours=8)},
    ),
    Formula(
        energy_key,
        {"anchor": 0.5, "anchor_at": START, "decay_per_hour": 0.1},
        {"anchor": 0.6, "anchor_at": START + timedelta(hours=1)},
    ),
    Formula(initial_energy, {"importance": 3.0, "reason": ""}, {"importance": 3.1, "reason": REASON}),
    Formula(
        retention_days,
        {"memory": Lived("the sky", "", "knowledge", "short_term", 2.0), "policy": RetentionPolicy()},
        {"memory": Lived("the sky", "", "knowledge", "short_term", 2.5)},
    ),
    Formula(probability, {"log_odds": 0.5}, {"log_odds": 0.6}),
    Formula(clamp01, {"value": 0.5}, {"value": 0.6}),
    Formula(chain_weight, {"occurred": 2, "use_count": 2}, {"occurred": 3, "use_count": 3}),
    Formula(met, {"channels": ["m", "k"], "links": ""}, {"channels": ["m", "km"], "links": "m"}),
    Formula(strength_of, {"similarity": 0.7}, {"similarity": 0.8}),
    Formula(term_similarity, {"a": ["x", "y"], "b": ["x", "z"]}, {"a": ["x", "z"], "b": ["x", "y"]}),
    Formula(information, {"text": "tea"}, {"text": "tea at nine"}),
    Formula(through_two_links, {"seed": 0.5, "weight": 0.5}, {"seed": 0.6, "weight": 0.6}),
    Formula(
        through_a_strong_link,
        {"seed": 0.5, "strength": 5, "other": 5},
        {"seed": 0.6, "strength": 6, "other": 6},
    ),
]
NO_SCORES = {
    hours_since_epoch,
    key_threshold,
    require_importance,
    reason_quality,
    number,
    rank,
    year_of,
    estimate_tokens,
    wide_characters,
}
"""Clocks, thresholds, checks, positions in a list, sizes of a text and what it says in words."""
CASES = [(formula, name) for formula in FORMULAS for name in formula.rises]


@pytest.mark.req("X41")
@pytest.mark.parametrize(("formula", "name"), CASES, ids=[f"{formula.of.__name__}-{name}" for formula, name in CASES])
def test_each_input_of_each_formula_counts(formula: Formula, name: str) -> None:
    # Given a score / When one input gets better and the others stay / Then the score rises
    assert formula.value(**{name: formula.rises[name]}) > formula.value() + 1e-9


@pytest.mark.req("X41")
def test_no_formula_of_the_domain_and_no_input_is_left_out() -> None:
    # Given every function of the domain that returns a number
    found = set()
    for module in pkgutil.iter_modules(biem.domain.__path__, "biem.domain."):
        for name, function in inspect.getmembers(importlib.import_module(module.name), inspect.isfunction):
            own = function.__module__ == module.name and not name.startswith("_")
            if own and typing.get_type_hints(function).get("return") in (int, float, float | None):
                found.add(function)

    # Then each is tested above, with every input but what an operator sets
    assert found - NO_SCORES <= {formula.of for formula in FORMULAS}
    for formula in FORMULAS:
        assert set(formula.rises) == set(inspect.signature(formula.of).parameters) - SETTINGS, formula.of.__name__


@pytest.mark.req("X41", partly="the grounds of confidence")
@pytest.mark.parametrize("weights", [ConfidenceWeights(), OrbitWeights()], ids=["knows", "at-hand"])
def test_each_ground_of_confidence_counts_as_its_weight_says(weights: ConfidenceWeights) -> None:
    parts = {name: weight for name, weight in asdict(weights).items() if name != "bias" and weight}
    even = dict.fromkeys(parts, 0.5)
    for name, weight in parts.items():
        moved = confidence({**even, name: 0.6}, weights) - confidence(even, weights)
        assert moved * weight > 0, name
