"""The first line of a block, for statements told through the plugin with its defaults and the packaged embedder."""

from collections.abc import Iterator

import pytest

import biem
from biem import BIEMContextPlugin
from tests.support.fakes import HeldClock
from tests.support.life_workloads import ONLY_SLEEP
from tests.support.servers import Configure

BESIDE = ("We watched the snow from the kitchen.", "今天地铁特别挤。", "Thanks for the recipe, it came out well.")
"""Other talk, so that the lines are not all that is known."""


@pytest.fixture(scope="module")
def opened(settings: Configure) -> Iterator[tuple[biem.Memory, HeldClock]]:
    clock = HeldClock()
    with biem.connect(settings(sleep=ONLY_SLEEP), clock=clock) as memory:
        yield memory, clock


def block(opened: tuple[biem.Memory, HeldClock], question: str, *said: str) -> list[str]:
    """The lines for a question, asked after these messages, each in a conversation of its own."""
    memory, clock = opened
    own = memory.scope(user=f"{question} {said}"[:120])
    for text in (*BESIDE, *said):
        clock.advance(days=1)
        BIEMContextPlugin(own, conversation=f"day {clock.now():%Y %j}").record_user_message(text)
    assert own.flush(300)
    clock.advance(days=1)
    asked = BIEMContextPlugin(own, conversation="questions").recall_context(question)
    return [hit.node.text for hit in asked.hits]


@pytest.mark.req("C31", partly="newer values first")
@pytest.mark.parametrize(
    ("question", "former", "latter"),
    [
        ("What does my uncle do?", "My uncle Otis is a florist.", "Otis is through with flowers, he binds books now."),
        ("我舅舅是做什么的？", "我舅舅阿良开花店。", "阿良不开花店了，如今在装订古书。"),
        (
            "What do I write my notes with?",
            "I write my notes with Orbital.",
            "Orbital shut down, so it's Quillpad now.",
        ),
        (
            "Where do we rehearse?",
            "We rehearse in hall four.",
            "We lost hall four to the choir and play in the chapel for the rest of the year.",
        ),
        ("我在哪里打工？", "我周末在一家书店打工。", "书店关门了，周末改去花店帮忙。"),
        ("Who trains Ida?", "Ida's coach is called Nadia.", "Nadia went back to Lisbon, Joost is the new coach."),
        ("乐乐的钢琴老师是谁？", "乐乐的钢琴老师姓庄。", "庄老师搬走了，新的钢琴老师是林老师。"),
        ("Where do I live?", "I live in Linz.", "Our flat in Graz is finally ours."),
        ("Where do I live?", "I live in Rome.", "我上个月搬到波尔图了。"),
        ("Where are we going for the honeymoon?", "The honeymoon will take us to Porto.", "蜜月改去卑尔根了。"),
        ("蜜月去哪儿？", "我们蜜月去波尔图。", "Porto is off, our honeymoon is in Bergen now."),
        ("Who is my neighbour?", "英格丽是我的邻居。", "Ingrid is no longer my neighbour, Callum took over."),
        ("同学聚会是哪天？", "老同学聚会定在四月十八号。", "聚会往后拖了，改成五月二号。"),
        (
            "Which instrument does Noor play?",
            "My niece Noor plays the trumpet.",
            "Noor has swapped the trumpet for a saxophone.",
        ),
        ("小满学什么乐器？", "我侄女小满在学二胡。", "小满不拉二胡了，改弹古筝。"),
        (
            "Which version does the shop run on?",
            "The shop runs on Django 4.",
            "My colleague says hi, and the shop came up on Django 5 on Sunday without a hitch.",
        ),
        ("装修预算是多少？", "装修预算十二万。", "老公说钱不够，预算加到十五万了。"),
    ],
)
def test_what_was_said_later_of_the_same_goes_before_it(
    opened: tuple[biem.Memory, HeldClock], question: str, former: str, latter: str
) -> None:
    assert block(opened, question, former, latter)[0] == latter


@pytest.mark.req("C31", partly="a line about something else")
@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("When is my birthday?", "My birthday is on 14 May.", "My mother's birthday is on 5 September."),
        ("When is my mum's birthday?", "My mother's birthday is on 5 September.", "My birthday is on 14 May."),
        ("我妈的生日是哪天？", "我妈妈的生日是9月3日。", "我的生日是5月14日。"),
        ("我住在哪里？", "我住在杭州。", "我姐姐住在苏州。"),
        ("Where does my sister live?", "My sister lives in Aarhus.", "I sold my guidebook of Aarhus."),
        ("What's the code of the shed?", "The code of the shed is 7715.", "The code of the garage is 2260 now."),
        ("仓库的密码是多少？", "仓库的密码是7715。", "车库的密码改成2260了。"),
        ("When is Harrow due?", "Harrow is due on 5 August.", "Linden is now due on 5 August instead of 2 May."),
        ("How much is my rent?", "Every month my rent is 590 euros.", "My allowance went from 310 to 350 euros."),
        ("When do I see the dentist?", "I see the dentist on May 3.", "The hairdresser moved me to May 9 instead."),
        (
            "When is the rowing class?",
            "Our rowing class is on Monday at 10:00.",
            "Last year the rowing class was on Friday at 9:00.",
        ),
        ("雪松最晚哪天交？", "我看错表了，雪松5月26日到期。", "听说要把雪松改到6月8号。"),
        ("What number is my locker?", "My locker is number 12.", "The desk has been changed, it's number 41 now."),
        ("What's my name?", "Call me Jo, I run a bakery.", "My parrot is called Otter."),
        ("我叫什么名字？", "早安，我叫顾一帆，在无锡上班。", "双胞胎一个叫安安，一个叫宁宁。"),
        ("Where did I leave the umbrella?", "雨伞落在出租车上了。", "饭盒落在办公室了。"),
        ("What does my daughter study?", "My daughter studies law.", "Win lives with her daughter, who studies art."),
        ("What is my cat's name?", "I got a kitten, she's called Velvet.", "Orla's cat Thimble was sick on the rug."),
        (
            "What colour is the back gate?",
            "We settled on mint for the back gate.",
            "We got cold feet about mint; the front gate ended up brick red.",
        ),
        ("Who trains Ida?", "Ida's coach is called Nadia.", "Tove went back to Lisbon, Joost has her flat."),
        ("我现在有女朋友吗？", "我和小雅上周分手了。", "我同事开一辆菲亚特。"),
    ],
)
def test_what_was_said_later_of_another_stays_below(
    opened: tuple[biem.Memory, HeldClock], question: str, answer: str, other: str
) -> None:
    assert block(opened, question, answer, other)[0] == answer
