"""The temporal mirror (A7–A9, C1, C13, C29): order without a clock, by what was formed since."""

from pathlib import Path

import pytest

from biem.aim import AimMemory
from tests.integration.aim.conftest import facts, weights

TEXTS = tuple(f"Fact number {number} is about the {thing}" for number, thing in enumerate(
    ("harbour", "kitchen", "library", "mountain", "railway", "garden", "theatre", "market", "museum", "school", "tower")
))  # fmt: skip


@pytest.mark.req(
    "C29"
)  # that a write costs one number, in a store of any size: contract/postgres/records/test_remember and test_aim
@pytest.mark.req("A7")
@pytest.mark.req("A44", partly="through the public API")
def test_each_formed_memory_leaves_four_fifths_of_every_older_weight(aim: AimMemory, tmp_path: Path) -> None:
    facts(aim, *TEXTS)
    known = weights(aim, tmp_path / "aim.json")
    for age, text in enumerate(reversed(TEXTS)):
        assert known[text] == pytest.approx(0.8**age, abs=1e-9)
    assert known[TEXTS[-6]] == pytest.approx(0.32768)


@pytest.mark.req("A8", "C13")
def test_weights_alone_say_what_came_later(aim: AimMemory, tmp_path: Path) -> None:
    texts = [f"Note {number}" for number in range(50)]
    facts(aim, *texts, at=aim.memory.now())
    known = weights(aim, tmp_path / "aim.json")
    assert sorted(known, key=lambda text: -known[text]) == texts[::-1]


@pytest.mark.req("A9")
def test_a_refused_write_changes_no_weight(aim: AimMemory, tmp_path: Path) -> None:
    facts(aim, *TEXTS[:3])
    before = weights(aim, tmp_path / "aim.json")
    assert aim.write_memory(TEXTS[0]) is False
    assert weights(aim, tmp_path / "aim.json") == before
