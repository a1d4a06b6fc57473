"""What counts, measures or names another thing is neither retired nor disputed; another number of the same thing is."""

from datetime import UTC, datetime, timedelta

import pytest

from biem.adapters.contradiction import build
from biem.domain.conflict import Statement, Verdict
from biem.domain.policies.conflicts import ConflictPolicy

RULES = build()
POLICY = ConflictPolicy()
SAID = datetime(2026, 5, 6, tzinfo=UTC)


def judged(older: str, newer: str, *, follows: bool = False) -> Verdict | None:
    apart = timedelta(seconds=40) if follows else timedelta(days=9)
    after = Statement(newer, "user", SAID + apart, follows=follows, changed=4.0)
    return RULES.compare(Statement(older, "user", SAID, changed=-3.0), after, 0.8, least=POLICY.record_confidence)


def by_a_rule(older: str, newer: str, *, follows: bool = False) -> Verdict | None:
    found = judged(older, newer, follows=follows)
    return None if found is None or found.rule == "succession" else found


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The budget of the Osprey trial is 70,000 euros", "Then 22,500 euros are left for Osprey now"),
        ("苔原项目的预算是七十万", "这样苔原还剩二十二万"),
        ("苔原的年会来了四十个人", "这样苔原还剩二十二万"),
        ("In the morning I take 20 mg of nadolol", "Evening nadolol was raised to 40"),
        ("The cabin is 80 a night", "The sauna has put its price up, it's 120 a night now"),
        ("师傅让我每刨四十分钟歇一下", "现在刨好 17 块板了"),
        ("新来的学徒叫阿桐，下周二上班", "阿桐周二到周五都在"),
        ("Opened issue 512 for the exporter", "Opened issue 518 for the importer now"),
        ("开了工单 73，报打印机卡纸", "开了工单 79，改成报网络"),
        ("The kayak goes to Brandt's yard", "Upped the kayak's tyre pressure to 12"),
        ("My call with the Osaka office is at 9", "The Tromso call was moved to 2 pm"),
    ],
)
def test_a_rule_neither_retires_nor_disputes_another_quantity(older: str, newer: str) -> None:
    assert by_a_rule(older, newer) is None


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The budget of the Osprey trial is 70,000 euros", "Then 22,500 euros are left for Osprey now"),
        ("苔原项目的预算是七十万", "这样苔原还剩二十二万"),
        ("Of 80,000, so 31,400 euros are left.", "Nine are painted, so eleven are left of the 20."),
        ("Opened issue 512 for the exporter", "Opened issue 518 for the importer now"),
        ("开了工单 73，报打印机卡纸", "开了工单 79，改成报网络"),
    ],
)
def test_the_rest_of_a_total_and_the_next_of_a_series_are_no_later_state(older: str, newer: str) -> None:
    assert judged(older, newer) is None


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The budget of the Osprey trial is 70,000 euros", "The Osprey trial's budget was cut to 55,000 euros"),
        ("苔原项目的预算是七十万", "苔原的预算只剩五十五万了"),
        ("仓库里有18箱蜡烛", "仓库的蜡烛只剩6箱了"),
        ("My nadolol is 20 mg", "My nadolol was raised to 40 mg"),
        ("The cabin is 80 a night", "The cabin is 95 a night now"),
        ("阿桐周二上班", "阿桐改到周五上班了"),
        ("每月25号结账", "结账日改到每月27号了"),
        ("My call with Osaka is at 9", "The Osaka call was moved to 10"),
    ],
)
def test_another_number_of_the_same_thing_takes_effect(older: str, newer: str) -> None:
    found = by_a_rule(older, newer)
    assert found is not None
    assert found.aligned
    assert found.confidence >= POLICY.act_confidence


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("儿子在泰州当焊工。", "我搬到泰州跟儿子住了，在海陵区。"),
        ("房东是尹阿姨，住隔壁楼。", "住云杉酒店，有江景阳台。"),
        ("My home alarm system is called Kestrel", "I moved to a house in Elm Row"),
        ("现在带的班组叫北斗。", "北斗推迟了，六月九号开工。"),
        ("我每天早上去码头练咏春。", "咏春的教练换人了，新来的姓邬。"),
        ("Okay, I've made an entry about that.", "I have no entry about that."),
        (
            "I saw a red kite with a broken wing on the way to the mill.",
            "I saw a grey gull with a broken wing on the way to the mill.",
        ),
    ],
)
def test_a_value_of_another_person_attribute_or_event_is_not_recorded(older: str, newer: str) -> None:
    assert by_a_rule(older, newer) is None


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I sold the mill in Hull, Kestrel Yarns is in Whitby.", "Actually I'm back on oat milk, one glass a day."),
        ("Patience is a gift.", "Sorry, I have it clear now."),
        ("Two trays for the fair. Plum.", "No, Harriet's is in my notebook."),
        ("可以问问码头附近的旅馆。", "已经很不错了。"),
    ],
)
def test_a_reply_with_a_subject_corrects_nothing_that_was_just_said(older: str, newer: str) -> None:
    assert by_a_rule(older, newer, follows=True) is None


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The rehearsal is in the boathouse", "wait, in the chapel"),
        ("Our ferry is the Solveig", "actually the Ragnhild"),
        ("排练在船坞", "不对，在礼拜堂"),
    ],
)
def test_a_value_alone_corrects_what_was_just_said(older: str, newer: str) -> None:
    found = by_a_rule(older, newer, follows=True)
    assert found is not None
    assert found.rule.startswith("corrected")
