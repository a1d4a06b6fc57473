"""Messages without a subject, and the message before that names it."""

import pytest

from tests.unit.engine.recall.test_hits import Talk


@pytest.mark.parametrize(
    ("talk", "said", "named"),
    [
        (("车棚里那辆自行车又掉链子了。",), "是飞鸽的，骑了六年了。", "车棚里那辆自行车又掉链子了。"),
        (("小叔在二中教化学。", "他住在桥头。"), "抽签抽完了，他去了四组。", "小叔在二中教化学。"),
        (("苗圃来了一批新苗。",), "三十六棵，一棵不少。", "苗圃来了一批新苗。"),
        (("小叔在二中教化学。",), "老孟说他不想教了。", None),
        (("苗圃来了一批新苗。",), "我三点才下班。", None),
    ],
)
def test_a_message_without_its_subject_refers_to_the_one_that_names_it(
    talk: tuple[str, ...], said: str, named: str | None
) -> None:
    # Given what a person says one after another / When the last says not of what / Then it has what names that
    hits = Talk(*(("user", text) for text in (*talk, said))).hits()
    found = hits[said].refers_to
    assert (found.text if found else None) == named
