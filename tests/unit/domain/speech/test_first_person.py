"""Facts about "the user" are read as his own words."""

import pytest

from biem.domain.speech.first_person import in_first_person, tells_of_user


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("User works as a glazier in Hull", "I work as a glazier in Hull"),
        ("The user prefers aisle seats", "I prefer aisle seats"),
        ("User's nephew Odo attends the Lime Grove school", "My nephew Odo attends the Lime Grove school"),
        (
            "User is allergic to sesame; the user no longer eats hummus",
            "I am allergic to sesame; I no longer eat hummus",
        ),
        ("User has moved to Bremen with their wife", "I have moved to Bremen with my wife"),
        ("User isn't fond of crowds and teaches chess", "I am not fond of crowds and teaches chess"),
        ("User studies law", "I study law"),
        ("User goes to bed early", "I go to bed early"),
        ("Nora gave the user a kettle", "Nora gave me a kettle"),
        ("Where does the user work?", "Where do I work?"),
        ("Is the user married?", "Am I married?"),
        ("Has the user ever been to Peru?", "Have I ever been to Peru?"),
        ("What is the user’s dentist called?", "What is my dentist called?"),
        ("Tell me about the user's bike", "Tell me about my bike"),
        ("用户的外甥在念小学", "我的外甥在念小学"),
        ("用户对芝麻过敏，用户不再吃鹰嘴豆泥", "我对芝麻过敏，我不再吃鹰嘴豆泥"),
        ("用户几点睡觉？", "我几点睡觉？"),
    ],
)
def test_what_is_written_about_the_user_is_read_as_if_he_said_it(written: str, read: str) -> None:
    assert in_first_person(written) == read
    assert in_first_person(read) == read


@pytest.mark.parametrize(
    "text",
    [
        "I told the user that the export is late",  # in the first person: it is a user of a product
        "我们的用户反馈登录很慢",
        "User accounts are deleted after 30 days",
        "User table has 3M rows",
        "Users complained about the login",
        "What did the user in Leeds report?",
        "用户名是admin",
        "用户反馈登录很慢",
        "The kettle is broken",
        "",
        "Works at Otto",
    ],
)
def test_users_of_a_product_and_their_accounts_are_nobody_who_speaks(text: str) -> None:
    assert in_first_person(text) == text


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Works at Otto as a buyer", "I work at Otto as a buyer"),
        ("Name is Tom", "My name is Tom"),
        ("Favourite films are Alien and Dune", "My favourite films are Alien and Dune"),
        ("Has two cats", "I have two cats"),
        ("Was born in Lyon", "I was born in Lyon"),
        ("Is a baker", "I am a baker"),
        ("Daughter's name is Mira", "My daughter's name is Mira"),
        ("Has the build passed?", "Has the build passed?"),
        ("Is stuck in the queue", "Is stuck in the queue"),
        ("Returns 404", "Returns 404"),
    ],
)
def test_a_fact_without_a_subject_is_about_the_user(written: str, read: str) -> None:
    assert in_first_person(written, fact=True) == read


def test_who_speaks_of_himself_tells_of_the_user() -> None:
    assert tells_of_user("I have a kettle")
    assert tells_of_user(in_first_person("用户有一把壶"))
    assert not tells_of_user("Show me the kettles")
    assert not tells_of_user("The kettle is broken")


def test_a_document_is_left_as_it_is() -> None:
    page = "User works at Otto. " * 200
    assert in_first_person(page) == page
