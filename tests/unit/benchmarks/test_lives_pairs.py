"""Pairs of messages: they are labelled as they were made, and counted as the page on benchmarks says."""

from datetime import timedelta

import pytest

from benchmarks.lives.decided import Decided, by_rules, rows, wrong
from benchmarks.lives.grammar import SPLITS
from benchmarks.lives.pairs import Pair, pairs
from biem.config import load_settings


def _pair(label: str, older: str = "I live in Rome.", newer: str = "I moved to Oslo last weekend.") -> Pair:
    return Pair("en", "changed", "home", label, older, newer, timedelta(days=3))  # type: ignore[arg-type]


@pytest.mark.parametrize("lang", ["en", "zh", "mixed"])
@pytest.mark.parametrize("split", SPLITS)
def test_two_innocent_pairs_for_each_update_and_the_same_every_time(lang: str, split: str) -> None:
    made = list(pairs(300, 1, lang, split))  # type: ignore[arg-type]
    assert made == list(pairs(300, 1, lang, split))  # type: ignore[arg-type]
    assert sum(pair.label == "update" for pair in made) == 100
    assert not [pair for pair in made if "{" in pair.older + pair.newer]


def test_every_sort_of_pair_has_one_label() -> None:
    labels: dict[str, set[str]] = {}
    for pair in pairs(900, 2, "mixed", "dev"):
        labels.setdefault(pair.sort, set()).add(pair.label)
    assert all(len(found) == 1 for found in labels.values())
    assert {sort for sort, found in labels.items() if found == {"update"}} == {
        *("changed", "corrected", "changed of other", "corrected of other", "brief"),
    }
    assert {"other possessor", "namesakes", "other thing", "reported", "hypo", "plan", "past"} <= labels.keys()


def test_a_guess_is_said_by_the_assistant_and_everything_else_by_the_user() -> None:
    made = list(pairs(600, 0, "en", "dev"))
    assert {pair.sort for pair in made if pair.role == "assistant"} == {"guess"}


def test_splits_share_no_sentence_of_updates() -> None:
    dev, held_out = ({pair.newer for pair in pairs(600, 0, "zh", split) if pair.sort == "changed"} for split in SPLITS)
    assert not dev & held_out


def test_retired_and_disputed_are_counted_per_thousand_innocent_pairs() -> None:
    innocent = _pair("innocent")
    found = [
        Decided(innocent, retired=True, denied=False, disputed=False),
        Decided(innocent, retired=False, denied=True, disputed=False),
        Decided(innocent, retired=False, denied=False, disputed=True),
        Decided(innocent, retired=False, denied=False, disputed=False),
        Decided(_pair("update"), retired=True, denied=False, disputed=False),
        Decided(_pair("update"), retired=False, denied=False, disputed=True),
    ]
    table = {row["what"]: row for row in rows(found)}
    assert table["all innocent pairs"]["retired"] == 500.0
    assert table["all innocent pairs"]["disputed"] == 250.0
    assert table["all update pairs"]["effect"] == 0.5
    assert table["all update pairs"]["noticed"] == 1.0
    assert sum(map(len, wrong(found).values())) == 4


def test_the_rules_alone_see_a_plain_correction_and_no_small_talk() -> None:
    correction = _pair("update", "My birthday is on May 14th.", "Correction: my birthday is on May 12th.")
    small = _pair("innocent", "My birthday is on May 14th.", "The bus was late, as usual.")
    corrected, talked = by_rules([correction, small], None, load_settings())
    assert corrected.retired or corrected.disputed
    assert not talked.retired
    assert not talked.disputed
