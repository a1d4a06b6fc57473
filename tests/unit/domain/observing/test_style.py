"""Orders about the form of all answers."""

import pytest

from biem.domain.observing.style import names_a_language, orders_of_form


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("From now on, answer me in German please.", "From now on, answer me in German please."),
        ("Off to bed. Please keep your answers short.", "Please keep your answers short."),
        ("Don’t use emojis in your replies, thanks", "Don't use emojis in your replies, thanks"),
        ("Please don't use exclamation marks when you answer.",) * 2,
        ("Always use metric units with me.", "Always use metric units with me."),
        ("我开夜班车。以后你回我话短点", "以后你回我话短点"),
        ("以後你回答我都用繁體字。", "以後你回答我都用繁體字。"),
    ],
)
def test_an_order_is_found_in_its_message(text: str, sentence: str) -> None:
    assert [one.rstrip() for one in orders_of_form(text)] == [sentence]


@pytest.mark.parametrize(
    "text",
    [
        "When you write code for me, use type hints and no lists.",
        "Never suggest recipes with nuts.",
        "I always answer mails in the evening.",
        "My boss wants short answers.",
        "Can you answer in German?",
        "给我写代码一律用Python",
        "以后别给我推荐咖啡店了",
        "我说话一向简短",
    ],
)
def test_what_is_of_a_topic_or_no_order_is_not(text: str) -> None:
    assert orders_of_form(text) == []


def test_an_order_of_the_language_is_known() -> None:
    assert names_a_language("From now on, answer me in German please.")
    assert names_a_language("以后用英文回答我")
    assert not names_a_language("No emojis in your answers, please.")
