"""Tests of gate, decay, anchors and spreading fail when their stage is skipped or wrong (X46).

Each row of the table replaces one function of the library by a mutant and runs a named test of this suite against it.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from biem.domain.designs import aim, formulas
from biem.domain.energy import energy_at
from biem.domain.fields import Fields
from biem.domain.policies.aim import AimPolicy
from biem.domain.spreading import multiplicative
from biem.engine.encode import gate as gating
from biem.engine.graph import associations as association
from biem.engine.recall import profiles
from biem.engine.recall.rank import anchors as anchoring
from biem.ports.aim import Anchored
from tests.unit.domain import test_aim, test_energy
from tests.unit.engine.encode import test_gate
from tests.unit.engine.graph import test_associations
from tests.unit.engine.graph.test_associations import HeldLinks
from tests.unit.engine.recall import test_profiles
from tests.unit.engine.recall.rank import test_anchors

Mutant = tuple[str, ModuleType, str, Callable[..., Any], Callable[[], object]]


def known() -> test_anchors.Known:
    """The candidates of the fixture of that name."""
    return test_anchors.Known(
        asked=Anchored(Fields(numbers=("10M",)), None, 3),
        other=Anchored(Fields(numbers=("128K",)), None, 1),
        none=Anchored(Fields(), None, 0),
        fresh=Anchored(Fields(), "It reads 10M tokens", 0),
    )


def gate_says(formed: bool) -> Callable[..., aim.GateDecision]:
    """A gate that is all open, or all closed."""

    def decide(r: float, s: float, c: float, policy: AimPolicy, at: Any) -> aim.GateDecision:
        return aim.GateDecision(formed, float(formed), policy.write_threshold, policy.gate_form, r, s, c, at)

    return decide


def news() -> None:
    test_gate.test_what_the_nearest_memories_do_not_pin_down_is_news(test_gate.Records())


def doubted() -> None:
    test_gate.test_a_conflict_raises_the_value(test_gate.Records())


def energy() -> None:
    test_energy.test_energy_fades_by_a_tenth_per_hour_not_per_second(1, 0.904837)


def rivals() -> None:
    test_anchors.test_each_filter_drops_what_it_says(known(), "rival", {"other"})


def exact() -> None:
    test_anchors.test_each_filter_drops_what_it_says(known(), "exact", {"other", "none"})


def strategies() -> None:
    test_associations.test_each_strategy_reads_its_own_attribute(HeldLinks())


def younger() -> None:
    test_anchors.test_a_weight_raises_matches_the_younger_the_more(known())


def two_hops() -> None:
    test_profiles.test_biem_spreads_two_hops_from_the_five_nearest()


def one_by_one(neighbours: Any, start: Any, **numbers: Any) -> dict[str, float]:
    return multiplicative(neighbours, start, **(numbers | {"hops": 1}))


def undiminished(neighbours: Any, start: Any, **numbers: Any) -> dict[str, float]:
    return multiplicative(neighbours, start, **(numbers | {"decay": 1.0}))


MUTANTS: list[Mutant] = [
    ("the gate lets all through", gating, "gate", gate_says(True), news),
    ("the gate lets nothing through", gating, "gate", gate_says(False), news),
    ("the gate is deaf to r and s", aim, "gate_input", lambda r, s, c, policy: 0.9, news),
    ("the gate is deaf to c", aim, "gate_input", lambda r, s, c, policy: 0.5 * r + 0.3 * s, doubted),
    ("every text is news", gating, "surprise", lambda *_: 1.0, news),
    ("energy does not fade", test_energy, "energy_at", lambda anchor, *_: anchor, energy),
    ("energy fades by the second", test_energy, "energy_at", lambda e, a, b, r: energy_at(e, a, b, r * 3600), energy),
    ("energy grows", test_energy, "energy_at", lambda e, a, b, r: e * e / energy_at(e, a, b, r), energy),
    ("the mirror does not fade", profiles, "mirror_weight", lambda *_: 1.0,
     test_profiles.test_aim_filters_by_anchors_and_ranks_by_weight_anchors_and_conflict),
    ("the mirror of the default recall does not fade", anchoring, "mirror_weight", lambda *_: 1.0, younger),
    ("age does not count", formulas, "time_factor", lambda *_: 1.0,
     test_profiles.test_aimate_takes_ten_of_each_merges_weighs_sorts_and_cuts),
    ("anchors filter nothing", aim, "shares_anchor", lambda *_: False,
     test_aim.test_anchors_filter_only_where_a_candidate_has_one),
    ("anchors add nothing", aim, "anchor_score", lambda *_: 0.0,
     test_profiles.test_aim_filters_by_anchors_and_ranks_by_weight_anchors_and_conflict),
    ("no value is another one", anchoring, "is_rival", lambda *_: False, rivals),
    ("every value is another one", anchoring, "is_rival", lambda *_: True, rivals),
    ("the default recall has no anchors", anchoring, "shares_anchor", lambda *_: False, exact),
    ("nothing spreads", association, "multiplicative", lambda _, start, **__: dict(start), two_hops),
    ("it spreads one hop", association, "multiplicative", one_by_one, two_hops),
    ("it spreads undiminished", association, "multiplicative", undiminished, two_hops),
    ("strength counts for nothing", association, "subtractive", lambda _, start, **__: dict(start), strategies),
    ("both strategies are one", association, "subtractive",
     lambda near, start, max_depth: multiplicative(near, start, hops=max_depth), strategies),
]  # fmt: skip


@pytest.mark.parametrize(("where", "name", "mutant", "test"), [pytest.param(*row[1:], id=row[0]) for row in MUTANTS])
def test_a_stage_that_is_skipped_or_wrong_fails_a_test(
    monkeypatch: pytest.MonkeyPatch, where: ModuleType, name: str, mutant: Callable[..., Any], test: Callable[[], None]
) -> None:
    # Given a test that passes on the library as it is
    test()

    # When the stage is replaced by a mutant / Then an assertion of that test fails, and nothing else goes wrong
    monkeypatch.setattr(where, name, mutant)
    with pytest.raises(AssertionError):
        test()
