"""A change of another person's value, or of another thing, changes nothing; the same change of its own subject does."""

from datetime import UTC, datetime, timedelta

import pytest

from biem.adapters import contradiction
from biem.domain.conflict import Statement, Verdict
from biem.domain.policies.conflicts import ConflictPolicy

RULES = contradiction.build()
POLICY = ConflictPolicy()
SAID = datetime(2026, 5, 6, tzinfo=UTC)


def verdict(older: str, newer: str) -> Verdict | None:
    before, after = Statement(older, at=SAID), Statement(newer, at=SAID + timedelta(days=9))
    return RULES.compare(before, after, None, least=POLICY.record_confidence)


@pytest.mark.req("C31", partly="nothing is decided or recorded about another subject")
@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("We live in Truro.", "We are not moving to Bude after all."),
        ("我们住在泉州。", "我们不搬去漳州了。"),
        ("I drive a Seat Ibiza.", "I bought a new toaster, a Dualit."),
        ("我开宝来。", "我买了台新烤箱，美的的。"),
        ("I take 75 mg of venlafaxine.", "My uncle's dose was raised to 150 mg."),
        ("我每天吃30毫克文拉法辛。", "我舅舅的药加到60毫克了。"),
        ("My pottery class costs 18 a session.", "The pool raised its price to 41 from next month."),
        ("水费每月60块。", "暖气费涨到130了。"),
        ("My DELF exam is on 3 June.", "The DALF was moved to 11 June."),
        ("我的日语考试在6月3号。", "德语改到6月11号了。"),
        ("My friend Ruth from church lives in Leer.", "My friend Ruth from college has moved to Aurich."),
        ("The cellar's door is oak.", "The attic's door was replaced, it's steel now."),
        ("我女儿练射箭。", "我干女儿不练射箭了，现在练攀岩。"),
        ("车间的闸门密码是6120。", "仓库的闸门密码改成8855了。"),
        ("My audition is on Thursday.", "I dreamt that my audition was moved to Monday."),
        ("我的试镜在星期四。", "昨天夜里梦到我的试镜改到了星期一。"),
        ("我不喝茶。", "“我现在喝茶了。”我同桌跟我说。"),
        ("My niece's birthday is on 5 April.", "My niece's birthday party is on the 9th now."),
    ],
)
def test_a_change_of_something_else_is_not_recorded(older: str, newer: str) -> None:
    assert verdict(older, newer) is None


@pytest.mark.parametrize("newer", ["Today only, my tea break is at 4.", "This week only, my tea break is at 4."])
def test_what_holds_on_one_occasion_only_ends_nothing(newer: str) -> None:
    found = verdict("My tea break is at 3:30.", newer)
    assert found is None or not found.aligned


@pytest.mark.req("C31", partly="an update takes effect")
@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Our housewarming is on 6 June.", "We had to put the housewarming off, it will be on 12 September."),
        ("The heating bill is 61 pounds a month.", "The heating went up to 72."),
        ("The heating bill is 61 a month.", "The heating went up to 72 pounds."),
        ("我女儿上三年级。", "上次口误，我女儿上四年级。"),
        ("I live in Bude.", "I don't live in Bude any more, I live in Truro."),
    ],
)
def test_a_change_of_the_same_takes_effect(older: str, newer: str) -> None:
    found = verdict(older, newer)
    assert found is not None
    assert found.aligned
    assert found.confidence >= POLICY.act_confidence


@pytest.mark.parametrize(
    ("text", "persons", "others"),
    [
        ("My ex Gerald moved to Dundee with his new girlfriend.", {"me.ex"}, {"me", "me.girlfriend"}),
        ("My mother in law lives in Poole.", {"me.mother-in-law"}, {"me.mother"}),
        ("My stepdaughter can't eat fish.", {"me.stepdaughter"}, {"me.daughter"}),
        ("My eldest does judo.", {"me.son", "me.daughter"}, {"me"}),
        ("My elder son does judo.", {"me.son"}, {"me", "me.elderson"}),
        ("My wife's elder sister is a judge.", {"me.wife.sister"}, {"me.wife", "me.sister"}),
        ("前女友的生日是四月。", {"me.ex-girlfriend"}, {"me.girlfriend"}),
        ("表哥给猫改名了。", {"me.cousin"}, {"me.cat"}),
        ("老婆换老板了，新老板姓佟。", {"me.wife", "me.wife.boss"}, {"me.boss"}),
        ("我岳母搬到湖州去了。", {"me.mother-in-law"}, {"me.mother"}),
        ("我给猫换了粮。", {"me"}, set()),
    ],
)
def test_relatives_of_relatives_and_former_partners_are_persons_of_their_own(
    text: str, persons: set[str], others: set[str]
) -> None:
    found = RULES.matter(text).persons
    assert persons <= found
    assert not others & found


def test_which_of_the_sisters_of_a_relative_is_read() -> None:
    assert RULES.matter("My wife's elder sister is a judge.").which == {"#elder"}


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The cellar's door is oak.", "The cellar's door was changed to steel."),
        ("My mother's operation is on Monday.", "Mum's operation got pushed to Thursday."),
        ("车间的闸门密码是6120。", "车间的闸门密码改成8855了。"),
        ("My audition is on Thursday.", "My audition was moved to Monday, could you note that?"),
    ],
)
def test_the_same_change_of_its_own_subject_is_recorded(older: str, newer: str) -> None:
    assert verdict(older, newer) is not None
