"""AIM-Memory's arithmetic: gate, mirror, score of a node, defaults and presets."""

import math
from dataclasses import asdict, replace
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.bootstrap.aim_memory import configured
from biem.config import Settings
from biem.domain.designs.aim import AimNode, gate, gate_input, gate_value, mirror_weight, node_score, select
from biem.domain.fields import Fields
from biem.domain.policies.aim import PRESETS, AimPolicy, FieldWeights
from biem.errors import ConfigError
from tests.support.fakes import START

POLICY = AimPolicy()
shares = st.floats(0, 1)


# -- gate -------------------------------------------------------------------------------------------------------------


@pytest.mark.req("A28")
@pytest.mark.parametrize(
    ("r", "s", "c", "form", "value"),
    [
        (0.0, 0.0, 0.0, "raw", 0.5),
        (1.0, 1.0, 1.0, "raw", 1 / (1 + math.exp(-1.0))),
        (1.0, 0.0, 0.0, "raw", 1 / (1 + math.exp(-0.5))),
        (1.0, 0.0, 0.0, "centered", 0.5),
        (1.0, 1.0, 0.0, "centered", 1 / (1 + math.exp(-2.4))),
        (0.0, 0.0, 0.0, "centered", 1 / (1 + math.exp(4.0))),
    ],
)
def test_the_gate_value_is_the_formulas(
    r: float, s: float, c: float, form: Literal["raw", "centered"], value: float
) -> None:
    assert gate_value(gate_input(r, s, c, POLICY), form) == pytest.approx(value, abs=1e-12)


@pytest.mark.req("A28")
def test_a_value_equal_to_the_threshold_passes() -> None:
    exact = gate(1.0, 0.0, 0.0, replace(POLICY, write_threshold=0.5), START)
    assert (exact.value, exact.formed) == (0.5, True)
    assert gate(1.0, 0.0, 0.0, replace(POLICY, write_threshold=math.nextafter(0.5, 1)), START).formed is False


@pytest.mark.req("C8")
@pytest.mark.parametrize(("threshold", "least"), [(0.4, 0.449), (0.5, 0.5), (0.6, 0.551), (0.7, 0.606)])
def test_the_centered_gate_wants_as_much_as_its_table_says(threshold: float, least: float) -> None:
    policy = replace(POLICY, gate_form="centered", write_threshold=threshold)
    assert not gate(least - 0.001, least - 0.001, least - 0.001, policy, START).formed
    assert gate(least + 0.001, least + 0.001, least + 0.001, policy, START).formed


@pytest.mark.req("C8")
@given(r=shares, s=shares, c=shares)
def test_the_raw_gate_is_all_open_up_to_a_half_and_the_centered_one_is_not(r: float, s: float, c: float) -> None:
    raw = replace(POLICY, gate_form="raw")
    assert gate(r, s, c, replace(raw, write_threshold=0.5), START).formed
    assert not gate(r, 1 - r, 0.0, replace(raw, write_threshold=0.7), START).formed  # all-closed where s is 1 − r
    assert not gate(0.0, s, 0.0, POLICY, START).formed


@pytest.mark.req("C8")
@pytest.mark.req("A50", partly="by values of relevance and surprise, not by a text")
@pytest.mark.parametrize("preset", [*PRESETS, None])
def test_each_preset_accepts_something_and_refuses_something(preset: str | None) -> None:
    policy = configured(preset, Settings()).aim
    assert gate(1.0, 1.0, 0.0, policy, START).formed
    assert not gate(0.1, 0.2, 0.0, policy, START).formed


@pytest.mark.req("X41", partly="the inputs of the gate")
@given(r=st.floats(0, 0.9), s=st.floats(0, 0.9), c=st.floats(0, 0.9))
def test_each_input_of_the_gate_raises_it(r: float, s: float, c: float) -> None:
    def value(relevance: float, surprise: float, conflict: float) -> float:
        return gate(relevance, surprise, conflict, POLICY, START).value

    before = value(r, s, c)
    assert value(r + 0.1, s, c) > before
    assert value(r, s + 0.1, c) > before
    assert value(r, s, c + 0.1) > before


# -- mirror and score -------------------------------------------------------------------------------------------------


@pytest.mark.req("A7", partly="the formula; written messages: integration/aim/test_decay")
@given(age=st.integers(0, 10_000), gamma=st.floats(0.01, 1))
def test_a_weight_is_gamma_to_the_age_and_the_youngest_weighs_most(age: int, gamma: float) -> None:
    policy = replace(POLICY, weight_decay_gamma=gamma)
    assert mirror_weight(age, policy) == pytest.approx(gamma**age, abs=1e-9)
    assert mirror_weight(age + 1, policy) <= mirror_weight(age, policy) <= mirror_weight(0, policy) == 1.0


@pytest.mark.req("A33", "A34", "A35")
@pytest.mark.parametrize(
    ("weight", "fields", "conflict", "parts"),
    [
        (1.0, Fields(), 0.0, (0.3, 0.0, 0.0)),
        (0.5, Fields(numbers=("10M",)), 0.0, (0.15, 1.0, 0.0)),
        (0.8, Fields(numbers=("10M",)), 1.0, (0.24, 1.6, 1.0)),
        (0.0, Fields(numbers=("10M",)), 0.0, (0.0, 0.0, 0.0)),
    ],
)
def test_the_score_of_a_node_is_the_formulas(
    weight: float, fields: Fields, conflict: float, parts: tuple[float, float, float]
) -> None:
    score = node_score(Fields(numbers=("10M",)), AimNode("n", weight, fields, conflict), POLICY)
    assert (score.base, score.bonus, score.penalty) == pytest.approx(parts)
    assert score.total == pytest.approx(parts[0] + parts[1] - parts[2])


@pytest.mark.req("A36")
def test_nodes_are_kept_above_the_threshold_sorted_and_cut() -> None:
    # Given weights whose base score lies above, at and below 0.1
    policy = replace(POLICY, anchor_threshold=0.3 * 0.5)
    nodes = [AimNode(str(weight), weight) for weight in (0.6, 0.5, 0.4, 1.0, 0.8, 0.7)]

    # When they are ranked / Then what lies at the threshold is out, and three are left, best first
    assert [score.id for score in select(Fields(), nodes, policy, top_n=9)] == ["1.0", "0.8", "0.7", "0.6"]
    assert [score.id for score in select(Fields(), nodes, policy)] == ["1.0", "0.8", "0.7"]


@pytest.mark.req("A12", "C11")
def test_anchors_filter_only_where_a_candidate_has_one() -> None:
    # Given ten nodes of which one has the asked number
    nodes = [AimNode(str(n), 1.0, Fields(numbers=(f"{n}M",))) for n in range(10)]

    # When asked for it, for one no one has, and for none / Then that one, all, all
    assert [one.id for one in select(Fields(numbers=("7M",)), nodes, POLICY, 99)] == ["7"]
    assert len(select(Fields(numbers=("7K",)), nodes, POLICY, 99)) == 10
    assert len(select(Fields(), nodes, POLICY, 99)) == 10


# -- defaults, presets, tuning ----------------------------------------------------------------------------------------


@pytest.mark.req("A42", "A43", "A44", "A45", "A46", "A47", "A48")
def test_defaults_are_the_designs() -> None:
    settings = Settings()
    assert settings.write.hot_window == 256
    assert {
        "local_cluster_k": 32, "inertia_strength": 0.5, "inertia_momentum": 0.85, "weight_decay_gamma": 0.8,
        "fresh_weight": 1.0, "write_threshold": 0.6, "gate_alpha": 0.5, "gate_beta": 0.3, "gate_gamma2": 0.2,
        "anchor_threshold": 0.1, "anchor_boost": 2.0, "conflict_penalty": 1.0, "top_n": 3, "store_evidence": True,
        "max_evidence_length": 2000, "gate_form": "centered", "adaptive": False,
        "field_weights": {"numbers": 3.0, "names": 2.0, "definitions": 1.5, "symbols": 2.5},
    }.items() <= asdict(settings.aim).items()  # fmt: skip
    weights = settings.aim.field_weights
    assert weights.numbers > max(weights.names, weights.definitions, weights.symbols)


@pytest.mark.req("A49", "A51", "A53")
@pytest.mark.req("A50", partly="the values")
@pytest.mark.parametrize(
    ("name", "window", "values"),
    [
        ("quick_dialogue", 128, {"local_cluster_k": 16, "write_threshold": 0.5, "inertia_strength": 0.6}),
        (
            "precise_knowledge",
            512,
            {"local_cluster_k": 64, "write_threshold": 0.7, "anchor_boost": 3.0, "store_evidence": True},
        ),
        (
            "long_term",
            256,
            {"weight_decay_gamma": 0.9, "inertia_momentum": 0.9, "local_cluster_k": 32, "write_threshold": 0.4},
        ),
    ],
)
def test_presets_have_the_designs_values_and_leave_the_rest(name: str, window: int, values: dict[str, float]) -> None:
    settings = configured(name, Settings())
    assert settings.write.hot_window == window
    assert asdict(settings.aim) == {**asdict(AimPolicy(admission="gate")), **values}


@pytest.mark.req("A22")
def test_a_window_outside_the_usual_is_taken_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    assert configured({"hot_window_size": 127}, Settings()).write.hot_window == 127
    assert "the intended range is 128 to 512" in caplog.text
    caplog.clear()
    configured({"hot_window_size": 512}, Settings())
    assert not caplog.text


@pytest.mark.parametrize(
    "config",
    [{"gate": 1}, {"write_threshold": 1.1}, {"hot_window_size": 0}, {"field_weights": {"numbers": -1}}, "fast"],
)
def test_an_impossible_configuration_says_what_is_wrong(config: dict[str, object] | str) -> None:
    with pytest.raises(ConfigError):
        configured(config, Settings())


@pytest.mark.req("A53")
def test_some_weights_of_fields_may_be_given_alone() -> None:
    assert configured({"field_weights": {"names": 9.0}}, Settings()).aim.field_weights == FieldWeights(names=9.0)


@pytest.mark.req("A52", partly="retention and precision; continuity and cost with the inertia")
def test_gamma_keeps_old_nodes_and_eta_prefers_anchors() -> None:
    # Given nodes of every age, and an old one with the asked name next to a young one without
    ages = [AimNode(str(age), mirror_weight(age, POLICY)) for age in range(30)]
    slower = replace(POLICY, weight_decay_gamma=0.95)
    kept = [AimNode(str(age), mirror_weight(age, slower)) for age in range(30)]

    # When γ rises, Then more old nodes are recalled
    assert len(select(Fields(), kept, slower, 99)) > len(select(Fields(), ages, POLICY, 99))

    # When η rises, Then the margin of what matches an anchor rises
    asked, matching = Fields(definitions=("mirror",)), AimNode("m", 0.3, Fields(definitions=("mirror",)))
    margins = [
        node_score(asked, matching, policy).total - node_score(asked, AimNode("y", 1.0), policy).total
        for policy in (replace(POLICY, anchor_boost=boost) for boost in (0.5, 2.0, 3.0))
    ]
    assert margins == sorted(margins)
    assert margins[0] < 0 < margins[-1]
