"""What a message does: courtesies ask and tell nothing, standing orders are to be kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.domain.speech.acts import is_courtesy, is_standing_order


@pytest.mark.req("X24", partly="courtesies and orders are told by whole words")
@pytest.mark.parametrize(
    ("text", "courtesy"),
    [
        ("thanks!", True),
        ("Great, thank you so much :)", True),
        ("That’s perfect.", True),
        ("Bye, see you tomorrow", True),
        ("go on", True),
        ("👍", True),
        ("好的，谢谢您！", True),
        ("太好了", True),
        ("哈哈哈 明白了", True),
        ("晚安", True),
        ("Thanks, Tom", False),
        ("thanks, and the wedding?", False),
        ("good book", False),
        ("the day", False),
        ("Really?", False),
        ("?", False),
        ("好吃吗", False),
        ("好人", False),
        ("不是陈伟", False),
        ("了解一下天气", False),
        ("明天见陈伟", False),
        ("为什么？", False),
    ],
)
def test_a_courtesy_is_nothing_else(text: str, courtesy: bool) -> None:
    assert is_courtesy(text) is courtesy


@pytest.mark.req("X24", partly="courtesies and orders are told by whole words")
@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("Never suggest nuts in recipes, Rui is severely allergic to hazelnuts.", True),
        ("Ok. From now on I get up at 4.", True),
        ("Oh, and don’t forget to use kilometres", True),
        ("Could you please keep in mind that I'm diabetic?", True),
        ("Always answer in French", True),
        ("记住我不吃辣", True),
        ("以后请用中文回答", True),
        ("对了，千万别放花生。", True),
        ("别忘了我周五的会", True),
        ("A house rule: no meetings before ten.", True),
        ("My instructions for you: short answers", True),
        ("还有一条要求：回答要简短。", True),
        ("The rules of chess are simple: kill the king", False),
        ("Never mind", False),
        ("Never heard of it", False),
        ("I never eat meat", False),
        ("Do you remember that day?", False),
        ("I remember that day", False),
        ("Remember when we met?", False),
        ("你还记得我妹妹吗", False),
        ("记得我们上次去哪儿了吗？", False),
        ("我以后想去北京", False),
        ("特别记得那天", False),
    ],
)
def test_a_standing_order_asks_to_be_kept(text: str, order: bool) -> None:
    assert is_standing_order(text) is order


@given(st.text())
def test_any_text_is_judged(text: str) -> None:
    # Given any text / When a question follows it, or an order precedes it / Then that decides, whatever the text
    assert not is_courtesy(text + " where?")
    assert type(is_courtesy(text)) is type(is_standing_order(text)) is bool


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "piece", ["ok ", "好", "哈", "嗯嗯啊", "thank ", "never ", "please ", "请", ", ", "so very much a lot "]
)
def test_a_long_or_almost_matching_text_is_judged_at_once(piece: str) -> None:
    for text in (piece * (79 // len(piece)) + "x", piece * 50_000 + "x"):
        assert not is_courtesy(text)
        assert not is_standing_order(text) or piece == "never "
