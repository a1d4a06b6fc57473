"""What users write, in words that no rule was made with when they were written: nothing of it retires another fact.

The files of `pairs` hold a pair a line; a second and a third part were written after the first had been mended for.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from biem.adapters.contradiction import build
from biem.domain.conflict import Statement
from biem.domain.policies.conflicts import ConflictPolicy

PAIRS = Path(__file__).parent / "pairs"
POLICY = ConflictPolicy()
AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
LEAST_EFFECT = {"en": 0.8, "zh": 0.75}
RULES = build()


def pairs(name: str) -> Iterator[tuple[str, bool]]:
    """Each line that is a pair, and whether the rules alone retire its first half."""
    for path in sorted(PAIRS.glob(name)):
        for line in path.read_text(encoding="utf-8").splitlines():
            if not line or line.startswith(("#", "[")):
                continue
            follows = " >> " in line
            older, newer = line.split(" >> " if follows else " => ")
            later = Statement(newer, "user", AT + (timedelta(minutes=2) if follows else timedelta(days=20)), follows)
            verdict = RULES.compare(Statement(older, "user", AT), later, 0.7, least=POLICY.record_confidence)
            acts = (
                verdict is not None
                and verdict.kind != "duplicate"
                and verdict.aligned
                and not verdict.partial
                and verdict.confidence >= POLICY.act_confidence
            )
            yield line, acts


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_no_innocent_pair_retires_anything(lang: str) -> None:
    found = list(pairs(f"innocent*_{lang}.txt"))
    assert len(found) >= 120
    assert not [line for line, acts in found if acts]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_most_updates_take_effect(lang: str) -> None:
    found = [acts for _, acts in pairs(f"updates*_{lang}.txt")]
    assert len(found) >= 80
    assert sum(found) >= LEAST_EFFECT[lang] * len(found)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_openly_told_updates_take_effect(lang: str) -> None:
    found = list(pairs(f"openly_{lang}.txt"))
    assert len(found) >= 200
    assert not [line for line, acts in found if not acts]
