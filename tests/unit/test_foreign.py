"""What the benchmark of silence calls nothing relevant: decided by the words in which a question meets its evidence."""

from datetime import timedelta

import pytest

from benchmarks._data import Conversation, Question, Turn
from benchmarks._foreign import Foreign
from tests.fakes import START


def talk(id_: str, *texts: str, speaker: str = "user", lang: str = "en") -> Conversation:
    turns = [Turn(f"t{n}", "s", speaker, text, START + timedelta(days=n)) for n, text in enumerate(texts)]
    return Conversation(id_, lang, tuple(turns), ())


def asked(text: str, *evidence: str) -> Question:
    return Question(text, text, "", tuple(frozenset({one}) for one in evidence), frozenset(), None)


@pytest.mark.parametrize(
    ("question", "own", "alike", "other"),
    [
        (
            "What is my uncle's job?",
            "My uncle's job is nursing.",
            "My uncle lost his job as a baker.",
            "My cousin has a dog.",
        ),
        ("我舅舅是做什么工作的？", "我舅舅的工作是护士。", "我舅舅的工作是警察。", "我表姐喜欢登山。"),
        (
            "快递行业年度盛典的规模是什么？",
            "快递行业年度盛典的规模是八千人。",
            "快递行业年度盛典下周开始。",
            "新品发布会的规模是三千人。",
        ),
    ],
)
def test_who_has_an_uncle_too_may_answer_and_who_has_none_holds_nothing(
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


def test_people_never_heard_of_are_nothing_relevant_whatever_else_is_alike() -> None:
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
