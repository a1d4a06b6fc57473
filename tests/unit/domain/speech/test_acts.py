"""What a message does: courtesies ask and tell nothing, standing orders are to be kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.domain.speech.acts import (
    asking_part,
    asks_for_facts,
    describes_by_pronoun,
    is_courtesy,
    is_standing_order,
    is_statement,
)


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


@pytest.mark.parametrize(
    "text",
    [
        "Fair enough, mate",
        "You're the best, thanks a bunch!",
        "Thank you for your patience",
        "好嘞，谢啦",
        "好的，已为您记录。",
        "那就这样吧，回头聊",
        "Sorry, my mistake",
        "Great explanation, that's all for tonight",
        "You're a legend, thanks for clarifying",
        "Thanks for the correction, I've amended my records accordingly.",
        "Hi again!",
        "祝您度过一个轻松的假期！",
        "太搞笑了",
        "多谢你的讲解",
        "收到，会尽力的",
        "OK呀，thanks啦",
    ],
)
def test_a_phrase_of_parting_or_assent_is_a_courtesy(text: str) -> None:
    assert is_courtesy(text)
    assert not is_statement(text)


@pytest.mark.parametrize(
    "text",
    [
        "Call me back in an hour, I'm at the swimming pool with Tess",
        "Send it after ten, we sleep late",
        "Could you note that my train is on Sunday",
        "Is it odd that I have four parrots?",
        "Write songs for a living",
        "Play the oboe in an orchestra",
        "List of our debts was long last year",
        "晚点再提醒我，我在学校接孩子",
        "你能记一下我周五的火车吗",
        "我养了四只鹦鹉，是不是很怪？",
        "我想学会滑雪呢",
        "给我儿子买了把小提琴",
        "Book launch went well!",
        "Play rehearsal cancelled, hurray",
        "Draft chapter three handed in.",
        "Help desk duty until six.",
        "Show me recipes without celery",
        "Send me nothing before noon",
        "Find me in the sauna most weekends",
        "我跟你说过我的鹦鹉会唱歌吗",
        "该不该和室友说我要搬走？",
        "帮我订外卖，千万不要放葱",
        "Remind me that the gas man comes at ten",
        "did I mention our cellar floods in spring",
        "What can I do about moss, it's ruining my lawn",
        "Play the harp as a hobby",
        "Let's keep changelog entries in the past tense",
        "Let's meet at the north gate",
        "Let's go with MariaDB",
        "Write release notes in plain English",
        "Send invoices as PDF",
        "翻译菜名的时候保留拼音",
    ],
)
def test_a_request_or_question_that_tells_something_of_the_speaker_is_a_statement(text: str) -> None:
    assert is_statement(text)


@pytest.mark.parametrize(
    "text",
    [
        "Play some music",
        "Remind me tomorrow",
        "Book a table for two, please",
        "Did I tell you my shoe size?",
        "Play jazz",
        "Let's go!",
        "Let's talk about my trip",
        "Write three jokes in French",
        "Give me answers in German",
        "翻译这句话",
        "Open the door",
        "Draft an email to Bob",
        "Order pizza",
        "What is it that you do?",
        "帮我订票，谢谢",
        "你妈妈呢",
    ],
)
def test_a_plain_request_or_question_is_no_statement(text: str) -> None:
    assert not is_statement(text)


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
    # Given any text / When a question follows it, or an order precedes it / Then that decides for any text
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


@pytest.mark.parametrize(
    ("text", "states"),
    [
        ("My rehearsal is at noon now, could you write that down?", True),
        ("The rent has gone up to 910, can you update it?", True),
        ("我的排练改到中午了，你能记一下吗？", True),
        ("Is my rehearsal at noon, can you tell me?", False),
        ("Could you tell me when my rehearsal is?", False),
        ("排练是几点，你能告诉我吗？", False),
    ],
)
def test_what_is_told_before_a_request_is_a_statement(text: str, states: bool) -> None:
    assert is_statement(text) == states


@pytest.mark.parametrize(
    ("text", "describes"),
    [
        ("It's a Nabertherm, nine years old.", True),
        ("Well, he’s called Bruno.", True),
        ("Her birthday is in May.", True),
        ("They're in the shed.", True),
        ("She wants her post at the office.", True),
        ("He only drinks tea in the morning.", True),
        ("She says it will rain.", False),
        ("She sings.", False),
        ("它是纳博热的，用了九年。", True),
        ("他叫阿福。", True),
        ("It's raining again.", False),
        ("It took two nights.", False),
        ("They gave me a desk.", False),
        ("It's up to you.", False),
        ("The kiln is a Nabertherm.", False),
        ("这个周末下雨。", False),
    ],
)
def test_a_message_may_describe_by_a_pronoun(text: str, describes: bool) -> None:
    assert describes_by_pronoun(text) == describes


def test_the_questions_at_the_end_of_a_message_are_its_asking_part() -> None:
    assert asking_part("What a fine old boat. How long is she? And how wide?") == "How long is she? And how wide?"
    assert asking_part("真是条好船。它停在哪个港口？") == "它停在哪个港口？"
    assert asking_part("How long is she? I like boats.") == "How long is she? I like boats."
    assert asking_part("?") == "?"
    assert asking_part("") == ""


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("How long is she?", True),
        ("她停在哪里？", True),
        ("A fine boat.", False),
        ("How can I help with the boat?", False),
        ("Shall I look up the harbour? Want me to?", False),
        ("Nice. Want a reminder?", False),
        ("Noted. Should we plan the trip?", False),
        ("Do you want a berth or a buoy?", True),
        ("Which berth do you want?", True),
        ("需要我帮你查一下港口吗？", False),
        ("", False),
    ],
)
def test_an_offer_of_help_asks_for_no_facts(text: str, asks: bool) -> None:
    assert asks_for_facts(text) == asks
