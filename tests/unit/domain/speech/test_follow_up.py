"""Questions that lean on the messages before them, in full; those that stand on their own stay as they are."""

import time

import pytest

from benchmarks.lives.scripted import BY_HAND, scripted
from biem.domain.speech.follow_up import as_meant
from biem.domain.speech.follow_up.dialogue import Meant
from tests.support.work import calls_of


def asked(*said: str) -> Meant:
    """The last of these messages, which the user and the assistant said in turn, as it is meant."""
    before = [(("user", "assistant")[place % 2], text) for place, text in enumerate(said[:-1])]
    return as_meant(said[-1], before)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (("When is my brother's birthday?", "On 12 March.", "And my sister's?"), "When is my sister's birthday?"),
        (("Where does Tom work?", "At Otto.", "What about Ida?"), "Where does Ida work?"),
        (("Where does Tom work?", "At Otto.", "Ida?"), "Where does Ida work?"),
        (("Where does Tom work?", "At Otto.", "And his wife?"), "Where does Tom's wife work?"),
        (("Where does Tom work?", "At Otto.", "And before that?"), "Where does Tom work before?"),
        (("When does the pool open on Saturday?", "At nine.", "And on Sunday?"), "When does the pool open on Sunday?"),
        (("What was the code of the till?", "2207.", "And of the alarm?"), "What was the code of the alarm?"),
        (("when is my brother's birthday", "On 12 March.", "ok and my sister's"), "when is my sister's birthday"),
        (("我弟哪天生日？", "三月十八。", "我姐呢？"), "我姐哪天生日？"),
        (("我生日在哪家店办？", "云居。", "那我妈呢？"), "我妈生日在哪家店办？"),
        (("小雨对什么过敏？", "花生。", "那她妹妹呢？"), "小雨妹妹对什么过敏？"),
        (("阿洁有什么不能吃的？", "虾。", "大鹏呢？"), "大鹏有什么不能吃的？"),
        (("周三几点放学？", "四点。", "那周五呢？"), "周五几点放学？"),
        (("我现在房租多少？", "两千八。", "以前呢？"), "以前我房租多少？"),
    ],
)
def test_a_part_alone_asks_the_last_question_of_it(said: tuple[str, ...], meant: str) -> None:
    assert asked(*said) == Meant(meant, sure=asked(*said).sure)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (("I have to plan dinner for Paz.", "Sure!", "What can't she eat?"), "What can't Paz eat?"),
        (("When is the party?", "On 12 March with Ida.", "How old is she?"), "How old is Ida?"),
        (("Who is my dentist?", "Dr Okafor.", "When do I see him?"), "When do I see Dr Okafor?"),
        (("When is Mum's operation?", "On 7 May, by Dr Lund.", "Does she take pills?"), "Does Mum take pills?"),
        (("Who's Tilda's teacher?", "Ms Fenn.", "Where does she live?"), "Where does Ms Fenn live?"),
        (("My sister is coming.", "Nice.", "Thanks! And what's her train?"), "What's my sister's train?"),
        (("Where do my parents live?", "In Bari.", "How old are they?"), "How old are my parents?"),
        (("我妹什么时候来？", "周五。", "她喜欢吃什么？"), "我妹喜欢吃什么？"),
        (("新来的帮工叫什么？", "小秦。", "一个月给他多少？"), "一个月给小秦多少？"),
        (("我女儿的老师姓什么？", "陶老师。", "她电话多少？"), "陶老师电话多少？"),
        (("我爸妈住哪儿？", "扬州。", "他们什么时候来？"), "我爸妈什么时候来？"),
        (("Where does Kim live?", "Oslo.", "她什么时候来？"), "Kim什么时候来？"),
        (("明天见 Linda。", "好的", "What does she like?"), "What does Linda like?"),
    ],
)
def test_a_pronoun_is_the_person_mentioned_last_who_may_be_meant(said: tuple[str, ...], meant: str) -> None:
    assert asked(*said) == Meant(meant, pronoun=True)


def test_a_dialogue_is_followed_from_question_to_question() -> None:
    said = ["When is my brother's birthday?", "On 12 March.", "And my sister's?", "3 June.", "Where does she live?"]
    assert asked(*said).text == "Where does my sister live?"
    said += ["In Halden.", "And what does she do?", "She is an optician.", "And my mother?"]
    assert asked(*said).text == "What does my mother do?"


@pytest.mark.parametrize(
    ("said", "meant", "about"),
    [
        (("Which hotel did we book in Paris?", "Rosalie.", "How much is it?"), "How much is the hotel in Paris?", ""),
        (
            ("Which hotel did we book in Paris?", "Rosalie.", "How much per night?"),
            "How much per night, the hotel in Paris?",
            "the hotel in Paris",
        ),
        (("Where does Lea study?", "In Graz.", "How much is a room there?"), "How much is a room in Graz?", ""),
        (("When does the plumber come?", "Monday.", "What will it cost?"), "What will the plumber cost?", ""),
        (("When is choir?", "On Thursdays.", "And the concert?"), "When is the concert?", ""),
        (
            ("Which e-bike did I buy?", "A Cube.", "And the lock code?"),
            "The lock code of the e-bike?",
            "the e-bike",
        ),
        (("国庆订的哪家酒店？", "云沙客栈。", "一晚多少钱？"), "国庆订的酒店，一晚多少钱？", "国庆订的酒店"),
        (("那台洗衣机什么牌子？", "美的。", "它保修多久？"), "那台洗衣机保修多久？", ""),
        (("老王在哪儿上班？", "在健身房当教练。", "那里年卡多少钱？"), "健身房年卡多少钱？", ""),
        (("我买的相机是什么牌子？", "富士。", "镜头呢？"), "我买的相机，镜头呢？", "我买的相机"),
    ],
)
def test_a_thing_or_place_is_put_in_but_may_not_be_told_so(said: tuple[str, ...], meant: str, about: str) -> None:
    assert asked(*said) == Meant(meant, about, sure=False)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (("When is my book fair?", "In May.", "What's the hotel called?"), "What's the hotel called, my book fair?"),
        (("Who's my GP?", "Dr Lind.", "Phone number?"), "The phone number of my GP?"),
        (("Where does my aunt live?", "In Visby.", "Birthday?"), "My aunt's birthday?"),
        (("When do we have our gig?", "In June.", "At which club?"), "At which club, our gig?"),
        (("What's the name of my band?", "Drift.", "Who sings?"), "Who sings, my band?"),
        (("When is my MRI?", "On Friday.", "Who's the doctor?"), "Who's the doctor, my MRI?"),
        (("妞妞在哪个小学？", "城南小学。", "班主任是谁？"), "妞妞在小学，班主任是谁？"),
        (("我在哪里办的游泳卡？", "水立方。", "教练姓什么？"), "我在办的游泳卡，教练姓什么？"),
        (("医生给我开了什么药？", "连花清瘟。", "怎么吃？"), "医生给我开了药，怎么吃？"),
        (("弟弟在读什么？", "技校。", "专业？"), "弟弟在读，专业？"),
    ],
)
def test_a_question_for_a_part_may_stand_on_its_own(said: tuple[str, ...], meant: str) -> None:
    found = asked(*said)
    assert (found.text.lower(), found.sure, found.stands) == (meant.lower(), False, True)
    # And a part that has its owner, or is none, does
    for other in (
        "What's the rent of the practice?",
        "How do I cook rice?",
        "Really?",
        "真的？",
        "怎么做红烧肉？",
        "今天天气怎么样？",
    ):
        assert asked(*said[:2], other) == Meant(other)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (("What car did I buy?", "A Corsa.", "For how much?"), "What car did I buy, for how much?"),
        (("What does my mum do?", "She's a vet.", "Dad too?"), "What does Dad do?"),
        (("Where does Siri live?", "In Visby.", "Birthday?", "9 May.", "And Per's?"), "Per's birthday?"),
        (("When does the course start?", "In May.", "The teacher's name?", "Henk.", "How long is it?"), "course"),
        (("我爸哪天生日？", "九月。", "妈妈的呢？"), "妈妈哪天生日？"),
        (("我妈是做什么的？", "裁缝。", "工资呢？"), "工资呢？"),
    ],
)
def test_what_was_said_last_is_taken_up(said: tuple[str, ...], meant: str) -> None:
    assert meant in asked(*said).text


@pytest.mark.parametrize(
    "message",
    [
        "What's the rent of the practice?",
        "What time is it?",
        "Is it going to rain?",
        "How do I cook rice?",
        "How old am I?",
        "What does Tom say about his boss?",
        "What does the Swiss relative get from her parents?",
        "And how is work going?",
        "Where is the key that I gave to my brother, does he have it?",
        "Does the lock close when it rains?",
        "Lovely evening, isn't it?",
        "Write a poem for her.",
        "She lives in Rome now.",
        "And thanks!",
        "and Liam shoes her every six weeks",
        "and the rest",
        "What about a joke?",
        "And my own?",
        "He asked me. What do I do with it?",
        "今天天气怎么样？",
        "我的护照什么时候到期？",
        "帮我写首诗",
        "她搬去罗马了。",
        "我住几楼？",
        "周会是几点，那个会在周几？",
        "我弟弟和他老婆什么时候来？",
        "春天要疏花，我该给谁打电话叫他来？",
    ],
)
def test_a_message_that_stands_on_its_own_or_asks_nothing_is_unchanged(message: str) -> None:
    for question, reply in (
        ("When is my sister's birthday?", "On 3 June."),
        ("Which hotel did we book in Paris?", "Rosalie, with Ida."),
        ("我姐哪天生日？", "六月三号。"),
        ("国庆订的哪家酒店？", "云沙客栈。"),
    ):
        assert asked(question, reply, message) == Meant(message)
    assert as_meant(message, []) == Meant(message)


def test_what_cannot_be_known_is_not_guessed() -> None:
    assert asked("Where is the key?", "In the shed.", "Where does she live?").text == "Where does she live?"
    assert asked("Where does my brother live?", "In Ulm.", "How old is she?").text == "How old is she?"
    assert asked("今天下雨吗？", "不下。", "她住哪儿？").text == "她住哪儿？"
    assert as_meant("Where does she live?", [("assistant", "Hello!")]).text == "Where does she live?"


def test_hardly_a_question_of_a_life_is_changed_by_another_one_before_it() -> None:
    # Given the questions of lives by hand, each of which stands on its own / When each follows another
    lives = [life for lang in ("en", "zh") for life in scripted(lang, "dev", BY_HAND / "everyday.txt")]
    pairs = [pair for life in lives for pair in zip(life.questions, life.questions[1:], strict=False)]
    full = [(after.text, asked(before.text, "OK.", after.text)) for before, after in pairs]
    changed = [text for text, found in full if found.text != text and not found.stands]
    # Then all but a few stay as they are, and few are asked otherwise where nothing answers them
    assert len(pairs) > 300
    assert len(changed) < len(pairs) / 100, changed
    assert sum(found.stands for _, found in full) < len(pairs) / 10


def test_long_messages_are_read_in_part() -> None:
    # Given messages of a megabyte / When one of them, and a question after them, is read
    long = "My sister and Ida and 小王在哪儿, " * 30_000
    begun = time.process_time()
    assert as_meant(long, [("user", "When?")]) == Meant(long)
    calls = calls_of(lambda: as_meant("Where does she live?", [("user", long), ("assistant", long)] * 10))
    # Then little work is done
    assert calls < 20_000
    assert time.process_time() - begun < 5.0
