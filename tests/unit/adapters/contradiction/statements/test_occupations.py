"""What a person does for a living, where no word names it so."""

import pytest

from biem.adapters import contradiction

RULES = contradiction.build()


@pytest.mark.parametrize(
    "text",
    [
        "Hi. Quick intro: I'm a ferry captain out of Split.",
        "My aunt Vera is a court stenographer in Riga.",
        "She's a welder.",
        "我太太其实是药剂师，不做护士。",
        "我在绍兴开了家小酒馆，叫三碗。",
        "我老公是做瓦工的，天天早出晚归。",
    ],
)
def test_an_occupation_is_of_the_topic_job(text: str) -> None:
    assert "job" in RULES.matter(text).topics


@pytest.mark.parametrize(
    "text",
    ["I'm the older brother.", "My sister is a lover of jazz.", "这家店不错。", "他是我表弟。", "It's a Brabant."],
)
def test_what_else_a_person_is_has_another_topic(text: str) -> None:
    assert "job" not in RULES.matter(text).topics


def test_an_employer_is_named_with_the_occupation() -> None:
    assert "employer" in RULES.matter("I'm an auditor at Helvia Mutual.").topics


@pytest.mark.parametrize("text", ["I report to Ines now.", "Who do I report to?", "我现在向老周汇报。"])
def test_a_person_one_reports_to_is_the_superior(text: str) -> None:
    assert RULES.matter(text).persons >= {"me.boss"}
