"""Questions for all things of a kind, and messages that tell of them."""

from pathlib import Path

import pytest

from benchmarks.lives.listed import LISTS, kinds_in
from benchmarks.lives.scripted import scripted


def test_each_kind_has_two_questions_four_things_and_three_near_messages() -> None:
    kinds = list(kinds_in(LISTS))
    assert len(kinds) > 400
    assert all((len(set(one.asked)), len(one.things), len(one.near)) == (2, 4, 3) for one in kinds)
    assert all(not set(one.things) & set(one.near) for one in kinds)


@pytest.mark.parametrize("split", ["dev", "held-out"])
def test_most_questions_of_lives_about_lists_need_several_messages(split: str) -> None:
    lives = [one for lang in ("en", "zh") for one in scripted(lang, split) if one.id.startswith("lists-")]  # type: ignore[arg-type]
    assert len(lives) >= 12
    for one in lives:
        several = [question for question in one.questions if len(question.groups) > 1]
        assert len(several) >= len(one.questions) / 2


@pytest.mark.parametrize("line", ["a? | b? | c | d | e | f | g | h", "a? | b? | c | d |  | f | g | h | i", ""])
def test_a_line_with_other_than_nine_fields_is_refused(line: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(f"a? | b? | c | d | e | f | g | h | i\n{line}\n", "utf-8")
    with pytest.raises(ValueError, match=r"a\.txt:2"):
        list(kinds_in([tmp_path / "a.txt"]))
