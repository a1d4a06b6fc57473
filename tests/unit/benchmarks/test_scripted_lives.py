"""Lives written by hand: what their lines say of turns, values and questions."""

from pathlib import Path

import pytest

from benchmarks import agent
from benchmarks.lives.grammar import SPLITS
from benchmarks.lives.scripted import read_script, scripted

_SCRIPT = """one en dev
-- 0
u pen=red My pen is red.
a Noted.
u - It rains.
-- 3
u pen=blue My pen is blue now.
u book=dune,film=heat I read Dune and saw Heat.
u book+emma I also read Emma.
? pen What colour is my pen?
?past pen What colour was it?
? book What did I read?
? film What did I see?
?none Where do I live?"""


@pytest.mark.parametrize("lang", ["en", "zh", "mixed"])
@pytest.mark.parametrize("split", SPLITS)
def test_every_language_and_split_has_a_life_with_known_changed_and_unknown_matters(lang: str, split: str) -> None:
    lives = scripted(lang, split)  # type: ignore[arg-type]
    young = [one for one in lives if len(one.turns) < 25]
    assert 0 < len(young) < len(lives)
    for one in lives:
        ids = {key for turn in one.turns for key in (turn.id, *turn.statements)}
        assert "now" in {question.category for question in one.questions}
        assert all(question.answers | question.stale <= ids for question in one.questions)
        if one not in young and not one.id.startswith("indirect-"):  # those ask for what was told only
            assert "unknown" in {question.category for question in one.questions}
            assert one.id.startswith("ways-") or any(question.stale for question in one.questions)
    assert any(question.category == "unknown" for one in young for question in one.questions)
    assert any(question.stale for one in young for question in one.questions)


def test_a_script_says_which_turns_answer_and_which_are_stale() -> None:
    # Given a changed value, a second one, and a message about two matters / When it is read
    life, split = read_script(_SCRIPT.splitlines())
    pen, past, book, film, unknown = life.questions
    # Then the turns in force answer, those replaced are stale, and a question about before asks for these
    assert (life.lang, split, len(life.turns)) == ("en", "dev", 6)
    assert (pen.groups, pen.stale) == ((frozenset({"one-t3"}),), frozenset({"one-t0"}))
    assert (past.groups, past.category) == ((frozenset({"one-t0"}),), "past")
    assert book.groups == (frozenset({"one-t4"}), frozenset({"one-t5"}))
    assert film.answers == {"one-t4"}
    assert (unknown.text, unknown.category, unknown.groups) == ("Where do I live?", "unknown", ())
    assert life.turns[3].at - life.turns[2].at > life.turns[1].at - life.turns[0].at


def test_a_report_of_the_assistant_tells_a_value() -> None:
    life, _ = read_script(
        [*_SCRIPT.splitlines(), "u - Dye it.", "d pen=green Dyed: it is green.", "? pen Which colour?"]
    )
    assert life.turns[-1].role == "assistant"
    assert life.questions[-1].groups == (frozenset({life.turns[-1].id}),)
    assert {"one-t0", "one-t3"} <= life.questions[-1].stale


def test_a_line_tells_those_statements_of_a_message_of_which_it_has_the_words() -> None:
    # Given a message of two statements, in two lines, and a later one that changes the first / When they are read
    life, _ = read_script(
        [
            *("one en dev", "-- 0"),
            r'u * Notes:\n- [[pen=red: my pen is red]]\n- [[ink=new: The "ink" is new.]] Fine.',
            "u * So, [[pen=blue: I write in blue now]], hm.",
            *("? pen What colour is my pen?", "? ink Is the ink new?"),
        ]
    )
    first, second = life.turns
    # Then its text is without the marks, and each statement has an id by which questions name it
    assert first.text == 'Notes:\n- my pen is red\n- The "ink" is new. Fine.'
    assert [one.answers for one in life.questions] == [{"one-t1/0"}, {"one-t0/1"}]
    assert life.questions[0].stale == {"one-t0/0"}

    # And a line tells what stands there, with other marks or none
    assert first.told_by("... The 'ink' is new. Fine.") == {"one-t0", "one-t0/1"}
    assert second.told_by("So, I write in blue now") == {"one-t1", "one-t1/0"}
    assert first.told_by("Notes: my pen") == {"one-t0"}


def test_a_dialogue_of_questions_says_what_stands_before_each() -> None:
    # Given questions of which some follow up, and one that begins with no question / When they are read
    life, _ = read_script(
        [
            *("one en dev", "-- 0", "u pen=red My pen is red.", "u ink=blue Its ink is blue."),
            *("? pen What colour is my pen?", "> Red.", "?+ ink And the ink?", "> Blue.", "?* pen Is my pen red?"),
            *("?- I write.", "> Nice.", "?+none Who reads it?", "? ink What colour is the ink?"),
        ]
    )
    # Then each has its place, and the messages before it in its dialogue
    assert [one.place for one in life.questions] == ["first", "follow-up", "other", "follow-up", "first"]
    assert life.questions[1].dialogue == (("user", "What colour is my pen?"), ("assistant", "Red."))
    assert [len(one.dialogue) for one in life.questions] == [0, 2, 4, 2, 0]
    assert life.questions[3].dialogue == (("user", "I write."), ("assistant", "Nice."))
    # And a life without dialogues has questions without a place
    assert {one.place for one in read_script(_SCRIPT.splitlines())[0].questions} == {""}


@pytest.mark.parametrize("line", ["u no matter", "? ", "?past pen", "x what"])
def test_a_line_of_no_known_form_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="no known form"):
        read_script([*_SCRIPT.splitlines(), line])


def test_lives_of_a_file_take_the_place_of_ours(tmp_path: Path) -> None:
    # Given a file of two lives, of which one is held out / When those of `dev` are asked for
    file = tmp_path / "lives.txt"
    file.write_text(f"== {_SCRIPT}\n\n== {_SCRIPT.replace('one en dev', 'two en held-out')}\n", encoding="utf-8")
    # Then that one is read
    assert [one.id for one in scripted("en", "dev", file)] == ["one"]


@pytest.mark.parametrize(
    ("text", "said"), [("", "has no life"), (f"== {_SCRIPT}\nx what", "no known form"), (None, "lives.txt")]
)
def test_a_file_without_lives_is_refused_before_anything_starts(
    text: str | None, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "lives.txt"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit):
        agent.main(["--scripted", str(file)])
    assert said in capsys.readouterr().err
