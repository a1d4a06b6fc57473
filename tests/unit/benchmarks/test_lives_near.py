"""Messages with questions that they answer, and questions that they only seem to answer."""

from pathlib import Path

import pytest

from benchmarks.lives.near_questions import DEV, HELD_OUT, messages_in


def test_each_message_has_two_questions_that_it_answers_and_three_that_it_does_not() -> None:
    dev, held_out = list(messages_in(DEV)), list(messages_in(HELD_OUT))
    assert len(dev) > 2_000
    assert len(held_out) > 400
    assert all(one.answered[0] != one.answered[1] and len(set(one.near)) == 3 for one in (*dev, *held_out))
    assert not {one.text for one in dev} & {one.text for one in held_out}


@pytest.mark.parametrize("line", ["We sold the boat\tWhat did we sell?", "We sold the boat\ta?\tb?\tc?\t\td?", ""])
def test_a_line_with_other_than_five_questions_is_refused(line: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(f"It is blue\ta?\tb?\tc?\td?\te?\n{line}\n", "utf-8")
    with pytest.raises(ValueError, match=r"a\.txt:2"):
        list(messages_in([tmp_path / "a.txt"]))
