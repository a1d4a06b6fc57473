"""Phrases of time before what a clause says: since when it is so, when it came so, or only on what occasion."""

from datetime import UTC, datetime

import pytest

from biem.adapters.contradiction.rules import RuleContradictions
from biem.domain.conflict import Statement, Verdict
from biem.domain.policies.conflicts import ConflictPolicy

RULES = RuleContradictions()
POLICY = ConflictPolicy()

UPDATES = """
I work at Siemens | Since June I work at Bosch
I work at Siemens | Since June, I have been working at Bosch
I work at Siemens | I work at Bosch since June
Anna works at Bayer | Since 2024 Anna works at Merck
We live in Paris | As of last week we live in Lyon
We live in Paris | For the past two months we have been living in Lyon
My sister lives in Rome | Since the beginning of the year my sister lives in Milan
Our stand-up is at 9 | From Monday our stand-up is at 10
The meeting is at 3 pm | As of Monday the meeting is at 5 pm
My rent is 800 euros | From May on my rent is 900 euros
I study at Yale | As from September I study at Princeton
The office is in Berlin | Effective 1 July the office is in Munich
I am a nurse | These days I work as a teacher
I live in Berlin | Two weeks ago I moved to Hamburg
I live in Berlin | In March I moved to Hamburg
I live in Berlin | Over the summer I moved to Hamburg
I eat meat | Since January I do not eat meat
I run 3 km every day | Since this week I run 5 km every day
I take the bus to work | Since last month I take the train to work
My name is Dana and I work as a nurse at Mercy Hospital | As of today I work at the Royal Infirmary
I work as a nurse at Mercy Hospital | I got promoted to ward sister
Our team meeting is on Tuesdays at 9 | From Monday our team meeting is on Thursdays at 10
Tom drives a red Volvo | Tom sold the Volvo and bought a blue Skoda
I have a cat called Momo | I gave Momo to my sister
We have a dog called Rufus | We no longer have a dog, Rufus lives with Ella now
我在小米上班 | 六月起我在华为上班
我在小米上班 | 我从六月起在华为上班
我在小米上班 | 自今年三月以来我在华为工作
小明在百度上班 | 2024年起小明在阿里上班
我住在北京 | 上周起我们住在上海
我住在北京 | 从去年开始，我住在上海
我住在北京 | 两周前我搬到了上海
我住在北京 | 三月份我搬到上海了
我姐姐住在广州 | 年初起我姐姐住在深圳
我每天跑步三公里 | 这周开始我每天跑步五公里
例会是九点 | 从周一开始例会是十点
房租是三千元 | 从五月起房租是三千五百元
公司在北京 | 八月一日起公司在上海
我喝咖啡 | 从上周起我不喝咖啡了
我抽烟 | 从今天起我不抽烟了
我们用Jira | 从这个月起我们用Linear
我叫林晓，在小米做产品经理 | 从昨天起我在华为上班
我最喜欢的饮料是拿铁 | 我现在最喜欢的饮料是绿茶
我有一辆宝马 | 我把宝马卖了
我住在北京，养了一只叫团子的猫 | 我不养猫了
"""
COMING = """
I live in Berlin | From next month I will live in Rome
Our stand-up is at 9 | Starting next week our stand-up will be at 10
I work at Siemens | As of tomorrow I work at Bosch
我住在北京 | 下个月起我住在上海
例会在九点 | 下周起例会在十点
商店九点开门 | 下周一起商店十点开门
"""
OTHERWISE = """
We live in Paris | In summer we live in Nice
We live in Paris | On weekends we live in Nice
I work at Siemens | On Fridays I work at the library
I work at Siemens | On Fridays, I work at the library
I work at Siemens | From Monday to Friday I work at Bosch
I work at Siemens | Until June I worked at Bosch
I work at Siemens | In 2015 I worked at Bosch
I work at Siemens | Since June is quiet I work at night
I work at Siemens | Every winter I work at a ski resort
Our stand-up is at 9 | This week our stand-up is at 10
Our stand-up is at 9 | This week our stand-up moved to 10
Our stand-up is at 9 | Tomorrow our stand-up is at 10
Our stand-up is at 9 | On Friday our stand-up is at 11
I drink coffee | This week I don't drink coffee
I drink coffee | Today I don't drink coffee
I live in Berlin | Last year I lived in Rome
I live in Berlin | For two weeks I live in Rome
I live in Berlin | Since Monday I live in fear of the exam
I live in Berlin | Since June I live in a small flat
Bo works at Siemens | Since June Ann works at Bosch
Tom drives a red Volvo | Anna sold the Volvo
Tom drives a red Volvo | Tom sold the house
She has a dog | She gave the dog a bath
We have a game on Friday | We lost the game
Ann and Ben live in Rome | Ben no longer lives in Paris
My boss is Carol | Since yesterday my phone is broken
My phone is an iPhone | Since yesterday my phone is broken
My phone is black | My phone is broken
我住在北京 | 去年我住在上海
我住在北京 | 我去年住在上海
我住在北京 | 小时候我住在上海
我住在北京 | 周末我住在父母家
我在小米上班 | 昨天我在北京上班
我在小米上班 | 今天我在深圳上班
我在小米上班 | 周一到周五我在华为上班
我在小米上班 | 每周五我在图书馆工作
我在小米上班 | 暑假我在华为上班
我在小米上班 | 六月之前我在华为上班
我在小米上班 | 六月起我姐姐在华为上班
我们周一起床很早 | 我们周二起床很晚
我们周一开会 | 我们周一起去爬山
例会是九点 | 这周例会是十点
例会是九点 | 周五例会是十一点
我喝咖啡 | 这周我不喝咖啡
我喝咖啡 | 今天我不喝咖啡
我每天跑步三公里 | 上周日我跑步十公里
"""


def lines(table: str) -> list[str]:
    """Each line is a pair."""
    return table.strip().splitlines()


def judged(line: str) -> Verdict | None:
    """What the rules say of two statements of one person."""
    older, newer = (Statement(text, "Bo") for text in line.split(" | "))
    return RULES.compare(older, newer, 0.7, least=POLICY.record_confidence)


@pytest.mark.req("B40", "C9", partly="phrases of time before the clause")
@pytest.mark.parametrize("line", lines(UPDATES))
def test_what_is_so_since_some_time_is_an_update_of_what_was_said_before(line: str) -> None:
    # Given what was said before / When it is said that another thing is so since, or came so then / Then it is news
    verdict = judged(line)
    assert verdict is not None
    assert verdict.kind == "update" or "nurse" in line


@pytest.mark.parametrize("line", lines(COMING))
def test_what_will_be_so_is_recorded_and_retires_nothing_yet(line: str) -> None:
    # Given what holds / When something else is announced for a time to come / Then a person is asked, no rule acts
    verdict = judged(line)
    assert verdict is not None
    assert verdict.confidence < POLICY.act_confidence


@pytest.mark.parametrize("line", lines(OTHERWISE))
def test_what_was_so_or_is_so_on_occasion_contradicts_nothing_that_is_so(line: str) -> None:
    # Given what is so / When another thing is said of another time, some days or another user / Then it is no conflict
    assert judged(line) is None


@pytest.mark.parametrize(
    ("newer", "month", "acts"),
    [
        ("From May our rent is 900 euros", 3, False),
        ("From May our rent is 900 euros", 5, True),
        ("From May our rent is 900 euros", 7, True),
        ("From February our rent is 900 euros", 11, False),
        ("From May 2027 our rent is 900 euros", 7, False),
        ("From May 2025 our rent is 900 euros", 3, True),
        ("Since May our rent is 900 euros", 3, True),
        ("Since last May our rent is 900 euros", 3, True),
        ("从五月起我们的房租是900元", 3, False),
        ("从五月起我们的房租是900元", 6, True),
        ("12月起我们的房租是900元", 11, False),
        ("从去年五月起我们的房租是900元", 3, True),
    ],
)
def test_a_coming_month_is_distinguished_from_a_past_one_by_when_it_was_said(
    newer: str, month: int, *, acts: bool
) -> None:
    # Given a rent, and another one from a month on / When it is said in this month of 2026
    older = "Our rent is 800 euros" if newer.isascii() else "我们的房租是800元"
    said = Statement(newer, "Bo", datetime(2026, month, 10, tzinfo=UTC))
    verdict = RULES.compare(Statement(older, "Bo"), said, 0.7)

    # Then the old rent is retired only if that month has begun
    assert verdict is not None
    assert (verdict.confidence >= POLICY.act_confidence) is acts


def test_of_two_starts_of_one_thing_the_later_said_counts() -> None:
    # Given that both say since when / When they name another place / Then the newer is an update; else it is none
    assert judged("Since 2010 I live in Berlin | Since 2015 I live in Munich") is not None
    assert judged("Since 2010 I live in Berlin | Since 2015 I live in Berlin") is None
    assert judged("I work at Bosch | Since June I work at Bosch") is None
