"""Messages whose answer the assistant writes."""

import pytest

from biem.domain.speech.acts import asks_for_text


@pytest.mark.parametrize(
    "message",
    [
        "Write a haiku about rain",
        "please explain photosynthesis",
        "hey, can you draft a mail to my landlord?",
        "suggest a present for Jo",
        "Give me three names for a bakery",
        "写一段开场白",
        "给我讲讲光合作用",
        "帮朵朵推荐几本书",
        "请翻译下面这段",
    ],
)
def test_the_assistant_is_to_write(message: str) -> None:
    assert asks_for_text(message)


@pytest.mark.parametrize(
    "message",
    [
        "What does my vet charge?",
        "surgeon's name",
        "I write novels",
        "remind me who has the key",
        "我的车牌号是多少",
        "谁管仓库",
        "我写小说",
    ],
)
def test_a_question_for_a_fact_asks_for_no_text(message: str) -> None:
    assert not asks_for_text(message)


def test_what_is_to_be_worked_on_is_not_read() -> None:
    assert not asks_for_text("Summarise this: " + "word " * 100)
