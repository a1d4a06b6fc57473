"""Chinese messages whose subject stands in a message before."""

import pytest

from biem.domain.speech.antecedents import lacks_subject, may_lack_subject, names_by_pronoun


@pytest.mark.parametrize(
    ("text", "lacks"),
    [
        ("是飞鸽的，骑了六年了", True),
        ("他在二中教化学", True),
        ("嗯，它今年五岁", True),
        ("远倒不远，得走二十分钟", False),
        ("不远，得走二十分钟", True),
        ("平均每盆三十块", True),
        ("是啊，太热了", False),
        ("在家做了一锅粥", False),
        ("这个月物业费涨了", False),
        ("我的车是飞鸽的", False),
        ("It's a Trek.", False),
    ],
)
def test_a_message_that_begins_without_its_subject_is_known(text: str, lacks: bool) -> None:
    assert lacks_subject(text) == lacks


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ("抽签抽完了，他去了四组", True),
        ("三十六个，一个不少", True),
        ("第三十六个也到了", False),
        ("量了好几遍才信，三十六", False),
        ("仓库搬完了，钥匙在门卫那里", False),
        ("抽签抽完了，他去了四组" + "，大家都很高兴" * 6, False),
    ],
)
def test_a_pronoun_later_or_a_number_first_may_be_of_what_was_said_before(text: str, may: bool) -> None:
    assert may_lack_subject(text) == may


def test_a_later_clause_may_begin_with_a_pronoun() -> None:
    assert names_by_pronoun("抽签抽完了，他去了四组")
    assert not names_by_pronoun("我跟他去了四组")
