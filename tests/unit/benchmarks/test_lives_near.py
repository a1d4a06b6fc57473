"""Messages with questions that they answer, and questions that they only seem to answer."""

from pathlib import Path

import pytest

from benchmarks.lives.near_questions import DEV, HELD_OUT, messages_in


def test_each_message_has_two_questions_that_it_answers_and_others_that_it_does_not() -> None:
    dev, held_out = list(messages_in(DEV)), list(messages_in(HELD_OUT))
    assert len(dev) > 2_000
    assert len(held_out) > 400
    for one in (*dev, *held_out):
        assert len({*one.answered, *one.near}) == len(one.answered) + len(one.near)
    assert not {one.text for one in dev} & {one.text for one in held_out}


def test_requests_have_two_of_the_same_field_that_do_not_need_the_message() -> None:
    of_requests = [file for file in (*DEV, *HELD_OUT) if "requests" in file.name]
    assert any(file in HELD_OUT for file in of_requests)
    assert any(file in DEV for file in of_requests)
    assert {len(one.near) for one in messages_in(of_requests)} == {2}


@pytest.mark.parametrize("line", ["We sold the boat\tWhat did we sell?", "We sold the boat\ta?\tb?\tc?\t\td?", ""])
def test_a_line_with_fewer_than_four_questions_or_an_empty_one_is_refused(line: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(f"It is blue\ta?\tb?\tc?\td?\te?\n{line}\n", "utf-8")
    with pytest.raises(ValueError, match=r"a\.txt:2"):
        list(messages_in([tmp_path / "a.txt"]))
