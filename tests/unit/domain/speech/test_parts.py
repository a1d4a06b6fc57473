"""The statements of messages that have several."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.domain.speech.parts import parts_of

NOTES = """Meeting notes from this morning:
- finance approved only 4.5k, so no second site for now
- Priya moves to the data team, Oskar takes over from Monday
- the window is Sunday 5 to 8"""


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            NOTES,
            [
                "Meeting notes from this morning: finance approved only 4.5k, so no second site for now",
                "Priya moves to the data team, Oskar takes over from Monday",
                "the window is Sunday 5 to 8",
            ],
        ),
        (
            "周会纪要：\n1. 中期检查定在5月9号，街道办三楼\n2. 小庞离职，评估先由阿珍顶上"
            "\n3. 电梯下周停用，搬家具走北门",
            ["周会纪要： 中期检查定在5月9号，街道办三楼", "小庞离职，评估先由阿珍顶上", "电梯下周停用，搬家具走北门"],
        ),
        (
            "Ha. We moved the stall to the north gate on Friday because of the roadworks! Costs us 40 a day, more than"
            " before. Ok. The oven is still the old one, and Tilda bakes on Sundays.",
            [
                "Ha. We moved the stall to the north gate on Friday because of the roadworks!",
                "Costs us 40 a day, more than before. Ok.",
                "The oven is still the old one, and Tilda bakes on Sundays.",
            ],
        ),
    ],
    ids=["a list", "a Chinese list", "sentences, with exclamations that state nothing"],
)
def test_statements_are_items_and_sentences(text: str, parts: list[str]) -> None:
    assert parts_of(text) == parts


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I moved to Turku. My flat is near the river.",
        "The flat that I told you about when we spoke of the river is the one whose owner keeps bees and sells honey"
        " and candles at the market near the old harbour in summer",
        "Milk is in the fridge. " * 400,
        "Milk is in the fridge today. " * 70,
    ],
    ids=["empty", "short", "a single sentence", "too long", "too many statements"],
)
def test_short_texts_single_sentences_and_documents_are_no_list_of_statements(text: str) -> None:
    assert parts_of(text) == []


def test_a_long_sentence_is_divided_at_clauses_and_a_block_of_code_is_one_statement() -> None:
    # Given a sentence without an end, and code with line breaks / When they are divided
    told = "so the boiler is fixed at last, it was the pump and not the valve as everyone thought, we paid 310 for it"
    run_on = f"{told}, the twins start swimming on Thursdays at the new pool, and Granny is coming for all of August"
    clauses = parts_of(run_on)
    fenced = parts_of(f"This is what it says:\n```\n$ make\nerror: no rule. Stop.\n```\nI think it is {run_on}")

    # Then each part is short, nothing is lost, and the code stays whole
    assert len(clauses) > 1
    assert " ".join(clauses) == run_on
    assert fenced[0] == "This is what it says: ```\n$ make\nerror: no rule. Stop.\n```"


@given(st.text(st.sampled_from("ab .,;:!?。，：\n-1`") | st.characters(exclude_categories=["Cs"]), max_size=400))
def test_no_letter_of_a_text_with_several_statements_is_lost(text: str) -> None:
    if parts := parts_of(text):
        letters = [character for character in text if character.isalpha()]
        assert [character for part in parts for character in part if character.isalpha()] == letters
