"""Questions without a question mark, and within greetings, thanks, emoji and lead-ins."""

import pytest

from biem.domain.speech.plain_question import plain_question, with_question_mark


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("what do i do for a living", "?"),
        ("hey, where's the spare key", "?"),
        ("which department of the hospital am i in these days", "?"),
        ("on what day is my scan", "?"),
        ("do i have a cat", "?"),
        ("does petra like coriander", "?"),
        ("Is Marek a smoker", "?"),
        ("anything on friday", "?"),
        ("who looks after the dog", "?"),
        ("I'm at the shop. what size does my son wear", "?"),
        ("我住哪里", "？"),
        ("我对什么过敏", "？"),
        ("我银行卡丢了 该打哪个电话", "？"),
        ("他是做什么的", "？"),
        ("周五有没有安排", "？"),
        ("儿子几岁了", "？"),
        ("蛋糕是订了还是没订", "？"),
        ("我對什麼過敏", "？"),
    ],
)
def test_they_get_one(text: str, mark: str) -> None:
    assert with_question_mark(text) == text + mark


@pytest.mark.parametrize(
    "text",
    [
        "I moved to Leith",
        "what i need is a new bike",
        "when i was young we had goats",
        "Had lunch with Petra",
        "thanks, that is all",
        "Where do I live?",
        "do i have a cat.",
        "what a day! I'm off",
        "how is it going? I moved to Leith",
        "我搬到青浦了",
        "没什么大事",
        "他什么都吃",
        "几个朋友来家里吃饭",
        "我住哪里？",
        "他问我什么时候走，我说周五走",
        "",
        "？",
        "😀",
        "x" * 10_000,
    ],
)
def test_what_is_no_question_or_has_a_mark_stays(text: str) -> None:
    assert with_question_mark(text) is text


def test_ten_megabytes_are_read_at_once() -> None:
    for text in ("what do i do " * 800_000, f"{'x' * 10_000_000}.", "我" * 3_000_000):
        assert with_question_mark(text) is text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hey, quick question: what do I do for a living?", "what do I do for a living?"),
        ("What's my dentist called? Thanks!", "What's my dentist called?"),
        ("Hi! Who is Petra? Cheers", "Who is Petra?"),
        ("where do i live 😅", "where do i live?"),
        ("Can you tell me, which bus do I take?", "which bus do I take?"),
        ("I forgot, what's my blood type", "what's my blood type?"),
        ("btw what's my shoe size", "what's my shoe size?"),
        ("你好，请问我住哪里？", "我住哪里？"),
        ("我住哪里？ 谢谢！", "我住哪里？"),
        ("帮我看一下，我对什么过敏 😂", "我对什么过敏？"),
        ("我忘了，车位是几号？", "车位是几号？"),
        ("对了，我哥住哪", "我哥住哪？"),
        ("I'm at the shop. What size does my son wear?", "What size does my son wear?"),
        ("filling in a form. what's my passport number", "what's my passport number?"),
        ("Who is our vet? The cat is ill!", "Who is our vet?"),
        ("When does Dr. Lind see my daughter? Need it for the school.", "When does Dr. Lind see my daughter?"),
        ("我在超市呢。我穿多大码的鞋？", "我穿多大码的鞋？"),
        ("我妈生日是哪天？急用。", "我妈生日是哪天？"),
    ],
)
def test_a_question_is_taken_out_of_what_surrounds_it(text: str, expected: str) -> None:
    assert plain_question(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "And my sister's?",
        "Thanks!",
        "I moved to Leith. Thanks!",
        "Hey, I moved to Leith",
        "My sister is coming on Friday. What can't she eat?",
        "I'm packing for Bergen. What should I take?",
        "I found the receipt. When did I buy that lamp?",
        "Who is the roofer? And what did I say about the roof?",
        "When does Dr. Lind see my daughter?",
        "我妈要来。她不能吃什么？",
        "我周五去上海。住哪个酒店？",
        "How are you?",
        "请问",
        "在吗？",
        "对了，我搬到青浦了。",
        "😅",
        "",
        "Where is it? " * 1_000,
    ],
)
def test_what_asks_nothing_or_says_more_stays(text: str) -> None:
    assert plain_question(text) == text
