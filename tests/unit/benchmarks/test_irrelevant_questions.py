"""What the benchmark of silence calls nothing relevant: decided by the words in which a question meets its evidence."""

from datetime import timedelta

import pytest

from benchmarks._data import Conversation, Question, Turn
from benchmarks._foreign import Foreign
from tests.support.fakes import START


def talk(id_: str, *texts: str, speaker: str = "user", lang: str = "en") -> Conversation:
    turns = [Turn(f"t{n}", "s", speaker, text, START + timedelta(days=n)) for n, text in enumerate(texts)]
    return Conversation(id_, lang, tuple(turns), ())


def asked(text: str, *evidence: str) -> Question:
    return Question(text, text, "", tuple(frozenset({one}) for one in evidence), frozenset(), None)


@pytest.mark.parametrize(
    ("question", "own", "alike", "other"),
    [
        (
            "What is my aunt's hobby?",
            "My aunt's hobby is weaving.",
            "My aunt gave up her hobby of sailing.",
            "My cousin has a dog.",
        ),
        ("我姑姑平时有什么爱好？", "我姑姑的爱好是织布。", "我姑姑的爱好是划船。", "我同桌搬家去了苏州。"),
        (
            "社区风筝比赛的奖品有哪些？",
            "社区风筝比赛的奖品有茶具。",
            "社区风筝比赛月底举行。",
            "读书会的奖品有三本字典。",
        ),
    ],
)
def test_who_has_an_aunt_too_may_answer_and_who_has_none_holds_nothing(
    question: str, own: str, alike: str, other: str
) -> None:
    # Given a question with its evidence, a memory that is about the same and one that is not
    first, second, third = talk("own", own, "rain again 下雨"), talk("alike", alike), talk("other", other)
    foreign = Foreign([first, second, third])

    # Then only the last holds nothing relevant
    assert not foreign.nothing(asked(question, "t0"), first, second.turns)
    assert foreign.nothing(asked(question, "t0"), first, third.turns)


def test_only_the_day_that_is_asked_for_counts() -> None:
    # Given the same thing done on other days
    own, other = talk("own", "I watched a film today", "rain"), talk("other", "snow", "I watched a film today")
    foreign = Foreign([own, other])

    # Then what happened on another day is nothing relevant
    assert foreign.nothing(asked(f"Which film did I watch on {START:%B} {START.day}?", "t0"), own, other.turns)
    assert not foreign.nothing(asked("Which film did I watch?", "t0"), own, other.turns)


def test_people_never_heard_of_are_nothing_relevant_despite_other_likeness() -> None:
    # Given pottery of two people, and a question that names one of them
    own, other = talk("own", "I love pottery", speaker="Maria"), talk("other", "I love pottery", speaker="Tom")
    foreign = Foreign([own, other])
    assert foreign.nothing(asked("Does Maria love pottery?", "t0"), own, other.turns)

    # When the other memory has spoken of her / Then it may hold something
    told = talk("told", "Maria and I love pottery", speaker="Tom")
    assert not foreign.nothing(asked("Does Maria love pottery?", "t0"), own, told.turns)


def test_where_question_and_evidence_share_no_word_a_memory_may_hold_something() -> None:
    own, other = talk("own", "badminton on Sundays"), talk("other", "snow")
    assert not Foreign([own, other]).nothing(asked("What did we discuss?", "t0"), own, other.turns)
    assert Foreign([own, other]).nothing(asked("What did we discuss?", "t0"), own, [])
