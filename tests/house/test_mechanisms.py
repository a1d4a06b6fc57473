"""Every promised mechanism has a test in which it changes a result (X1), and earns its place on data (D12)."""

from dataclasses import fields
from pathlib import Path

import pytest

from benchmarks._live import VARIANTS
from biem.domain.designs.numbers import DESIGNS
from biem.domain.policies.ranking import SignalWeights
from tests.requirements import claims

PROMISED = {"BM25", "inertia", "anchors", "spreading", "decay", "access counting", "consolidation", "vector index"}
SOURCES = {"aim", "biem", "hippocampus", "angel", "aimate"}
PAGE = Path(__file__).parents[2] / "docs" / "benchmarks" / "ablation.md"


@pytest.mark.req("X1", partly="that a test is named for each; inertia and anchors rank in the profile aim only")
def test_each_mechanism_has_an_effect_that_a_test_shows() -> None:
    # Given all tests / When those are asked for that show an effect / Then each mechanism is named by one of them
    assert {claim.partly for claim in claims() if claim.requirement == "X1"} >= PROMISED


ORDERING = ("repetition", "balance")
"""What orders the pool next to the signals."""
TRUTH = {"conflict", "revision"}
"""What says which memory is right; R@10 counts wrong ones, too. Tests of stale facts show what it does."""


def told(switched: str) -> dict[str, list[str]]:
    """What R@10 of each data set gains by a thing switched off or on, as the page on benchmarks says."""
    section = PAGE.read_text("utf-8").partition("<!-- ablation -->")[2]
    table = section.partition(f"| {switched} | ")[2].partition("\n\n")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")][2:]
    return {name: gains for name, *gains in rows}


@pytest.mark.req("D12")
def test_each_signal_is_measured_on_every_data_set_and_what_helps_nowhere_is_off() -> None:
    # Given what the page says of every signal, and of what changes the pool
    off, on, weights = told("off"), told("on"), SignalWeights()
    signals = [field.name for field in fields(SignalWeights)]

    # When it is compared with the defaults / Then what is on was switched off, and some set lost by it
    assert list(off) == [*(name for name in signals if getattr(weights, name) != 0), *ORDERING, *VARIANTS]
    assert {name for name, gains in off.items() if not any(gain.startswith("-") for gain in gains)} == TRUTH
    # And what is off was switched on
    assert [name for name in signals if getattr(weights, name) == 0] == list(on)
    assert {len(gains) for gains in [*off.values(), *on.values()]} == {7}
    # And each design is a profile, too
    assert set(DESIGNS) >= SOURCES
