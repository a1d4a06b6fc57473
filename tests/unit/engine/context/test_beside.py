"""Later lines that do not answer: of another owner, of another one of several, and those that assert nothing."""

import pytest

from tests.unit.engine.context.test_other_subjects import first


@pytest.mark.req("C31", partly="a line about another person")
@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How much do I weigh?", ("I weigh 81 kilos.", "My granddad is down to 69 kilos now.")),
        ("Which bank am I with?", ("I'm with Lloyds.", "My stepson changed banks, he's with Monzo now.")),
        ("What's my badge number?", ("My badge number is 4410.", "That is my husband's new badge number: 5523.")),
        ("Do I eat meat?", ("I eat meat.", "Tomasz said he doesn't eat meat any more.")),
        ("Which class am I in?", ("I'm in class B.", "Yusuf is in class D now.")),
        ("What do I study?", ("I study geology.", "Ines told me that she has changed from geology to law.")),
        ("Who is my mentor?", ("My mentor is called Astrid.", "Astrid's mentor is a man called Bram now.")),
        (
            "Where does my aunt live?",
            ("My aunt lives in Split and my uncle in Zadar.", "My uncle has left Zadar, he lives in Rijeka now."),
        ),
        ("Where does my aunt Rosa live?", ("My aunt Rosa lives in Split.", "My other aunt, Vera, has moved to Pula.")),
        ("我外甥上什么大学？", ("我外甥在河海大学读书。", "我侄女转学了，现在在东南大学。")),
        ("What's my phone number?", ("My phone number is 0664 12.", "My landlady has a new phone number: 0699 77.")),
        ("我的电话是多少？", ("我的电话是66412345。", "我房东换电话了，现在是69977123。")),
        ("What am I allergic to?", ("I'm allergic to nickel.", "No, wrong: the cat is allergic to turkey.")),
        (
            "What is Nora in?",
            (
                "My niece Nora is in the scouts, my niece Edda is in the chess club.",
                "Edda left the chess club for the fire brigade.",
            ),
        ),
        ("我女儿练什么？", ("我女儿练射箭。", "我干女儿不练射箭了，现在练攀岩。")),
        ("Who is my best man?", ("My best man is Rafael.", "In the novel the baker's best friend was called Otto.")),
    ],
)
def test_what_another_person_has_stays_below_what_is_the_users(question: str, said: tuple[str, ...]) -> None:
    assert first(question, *said) == said[0]


@pytest.mark.req("C31", partly="a line about something else")
@pytest.mark.parametrize(
    ("question", "said"),
    [
        (
            "What is the combination of the bike lock?",
            ("The combination of the bike lock is 118.", "The suitcase's combination was changed to 904."),
        ),
        (
            "When does the chemist on Abbey Road open?",
            ("The chemist on Abbey Road opens at 8:30.", "The barber opens at 10 now."),
        ),
        (
            "When does my ferry to Bari leave?",
            (
                "My outbound ferry to Bari leaves at 21:00.",
                "The return ferry from Bari was changed, it leaves at 6:30 now.",
            ),
        ),
        (
            "Where is my tent?",
            ("My tent is in the loft.", "The kids' canoe is no longer in the loft, it's in the shed now."),
        ),
    ],
)
def test_another_thing_stays_below_what_is_asked_for(question: str, said: tuple[str, ...]) -> None:
    assert first(question, *said) == said[0]


@pytest.mark.req("C31", partly="a line that decides nothing")
@pytest.mark.parametrize(
    ("question", "said"),
    [
        (
            "Where do we spend New Year?",
            ("We spend New Year in Tromsø.", "Should we go to Bodø at New Year? I can't decide."),
        ),
        ("When is my audition?", ("My audition is on Thursday.", "I dreamt that my audition was moved to Monday.")),
        ("How long is my hair?", ("My hair is 40 cm long.", "I'd like to have it 15 cm long by May.")),
        ("Who am I engaged to?", ("I'm engaged to Mirko.", "Joke at lunch: I'm engaged to my coffee machine now.")),
        ("我打呼噜吗？", ("我不打呼噜。", "医生问我现在打不打呼噜。")),
        ("How do I like my steak?", ("I like my steak rare.", "My uncle believes I like my steak well done.")),
        ("我怎么吃面？", ("我吃面不放醋。", "我舅舅觉得我吃面放三勺醋。")),
        ("我的试镜是哪天？", ("我的试镜在星期四。", "昨天夜里梦到试镜改到星期一了。")),
        ("我的腰围是多少？", ("我的腰围是九十厘米。", "我想年底前减到八十厘米。")),
        ("我的火车是哪天？", ("我的火车是星期四。", "我嫂子以为我的火车是星期二。")),
        ("我住哪儿？", ("我住在沈阳。", "要是搬到珠海，冬天就不用穿棉袄了。")),
    ],
)
def test_what_is_not_so_or_only_weighed_stays_below(question: str, said: tuple[str, ...]) -> None:
    assert first(question, *said) == said[0]


@pytest.mark.req("C31", partly="newer values first")
@pytest.mark.parametrize(
    ("question", "said"),
    [
        (
            "Which app do I use for notes?",
            ("I use Notion for my notes.", "I switched to Bear.", "I'm back on Notion, Bear lost half of my notes."),
        ),
        ("What am I reading?", ("I'm reading Emma.", "Finished Emma, I've started Ivanhoe.")),
        (
            "Which laptop do I have?",
            ("My laptop is a ThinkPad.", "My old laptop broke, so I bought a Framework laptop."),
        ),
        ("When is the seminar?", ("The seminar is on Friday.", "The seminar is on Monday now, could you remind me?")),
        ("我儿子的教练是谁？", ("我儿子的教练是姚教练。", "放假以后我儿子的教练换成了阮教练。")),
        (
            "When is my physio?",
            ("My physio is on Tuesday.", "My boss needs me on Tuesday, so my physio is on Friday now."),
        ),
        (
            "When is my fitting?",
            ("My fitting is on Monday.", "The tailor has changed his hours, my fitting is on Friday now."),
        ),
        (
            "When is my viola lesson?",
            ("My viola lesson is on Monday.", "Ms Roth says she can't do Monday, the viola lesson is on Friday now."),
        ),
    ],
)
def test_a_real_change_comes_first_all_the_same(question: str, said: tuple[str, ...]) -> None:
    assert first(question, *said) == said[-1]
