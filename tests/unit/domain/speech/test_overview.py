"""Requests for all that is known of the user."""

import pytest

from biem.domain.speech.overview import questions_about_user


@pytest.mark.parametrize(
    ("request_", "first", "count"),
    [
        ("What do you know about me?", "What is my name?", 8),
        ("So, tell me everything you remember about me please", "What is my name?", 8),
        ("who am I?", "What is my name?", 8),
        ("What have I told you about my family so far?", "What is my partner called?", 6),
        ("Do you know anything about my health?", "What am I allergic to?", 5),
        ("Tell me about my job.", "What do I do for a living?", 5),
        ("Summarise what you know about our flat", "Where do I live?", 4),
        ("你都知道我些什么？", "我叫什么名字？", 8),
        ("介绍一下你了解的我", "我叫什么名字？", 8),
        ("我是谁？", "我叫什么名字？", 8),
        ("说说我的家庭情况", "我爱人叫什么？", 6),
        ("关于我的健康你知道什么？", "我对什么过敏？", 5),
    ],
)
def test_a_request_for_all_asks_what_people_mean_by_it(request_: str, first: str, count: int) -> None:
    asked = questions_about_user(request_)
    assert (asked[0], len(asked)) == (first, count)


@pytest.mark.parametrize(
    ("request_", "name"),
    [
        ("What do you know about Anton?", "Anton?"),
        ("Tell me all you have on our car", "Our car?"),
        ("关于我家猫，你知道的都说一遍吧", "我家猫？"),
        ("我那辆车，你都知道些什么？", "我那辆车？"),
        ("回国那趟航班的信息，你知道的全告诉我", "回国那趟航班？"),
    ],
)
def test_all_of_a_thing_or_another_person_is_asked_for_by_its_name(request_: str, name: str) -> None:
    assert questions_about_user(request_) == (name,)


@pytest.mark.parametrize(
    "request_",
    [
        "",
        "Do you know where I live?",
        "Who am I travelling with?",
        "Tell me a joke about my work",
        "你知道我住哪里吗？",
        "说说我的车",
        "What do you know about me? " * 20,
    ],
)
def test_other_questions_are_asked_as_they_are(request_: str) -> None:
    assert questions_about_user(request_) == ()
