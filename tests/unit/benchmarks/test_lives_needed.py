"""Messages with requests that need them, and lives with such messages among theirs."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmarks.lives.facts import Life, Turn
from benchmarks.lives.needed import ORDINARY, REQUESTS, Told, ordinary_in, told_in, with_needed


def test_each_line_has_a_message_and_what_needs_it() -> None:
    told = list(told_in(REQUESTS))
    assert len(told) > 8_000
    assert all(one.text and one.asked and all(one.asked) for one in told)
    assert len({line for line in ordinary_in(ORDINARY) if line.strip()}) > 2_000


def test_a_line_without_a_request_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("We sold the boat\tHow do I get to the island?\nWe sold the van\n", "utf-8")
    with pytest.raises(ValueError, match=r"a\.txt:2"):
        list(told_in([tmp_path / "a.txt"]))


def test_a_life_is_asked_for_the_messages_put_into_it_and_for_what_was_never_told() -> None:
    at = datetime(2026, 3, 2, 9, tzinfo=UTC)
    turns = tuple(Turn(f"t{n}", at, "s1", "user", "en", f"It rained {n} times.", "small") for n in range(20))
    told = [Told(f"The lock of shed {n} sticks.", (f"What shall I bring to shed {n}?",)) for n in range(30)]
    lived = with_needed(Life("life", "en", turns, ()), told, [f"Translate {n} into French" for n in range(10)])
    said = {turn.id: turn.text for turn in lived.turns}
    known = [one for one in lived.questions if one.category == "now"]
    assert (len(lived.turns), len(known), len(lived.questions)) == (32, 12, 18)
    # then each request is about the message that it needs
    for one in known:
        (answer,) = one.answers
        number = one.text.removeprefix("What shall I bring to shed ").rstrip("?")
        assert said[answer] == f"The lock of shed {number} sticks."
    # and the same life comes of the same files
    assert lived == with_needed(Life("life", "en", turns, ()), told, [f"Translate {n} into French" for n in range(10)])
