"""A change that one clause tells openly takes effect, though other clauses give reasons; what only sounds like one
does not."""

from datetime import UTC, datetime, timedelta

import pytest

from biem.adapters.contradiction import build
from biem.domain.conflict import Statement, Verdict
from biem.domain.policies.conflicts import ConflictPolicy

RULES = build()
POLICY = ConflictPolicy()
AT = datetime(2026, 3, 2, 9, tzinfo=UTC)

ENDS = (
    ("I row with the Tuesday crew.", "My shoulder's had it, I've quit the Tuesday crew."),
    ("We print our labels on a Brother.", "The Brother died, so labels come out of a Zebra these days."),
    ("I'm on the night bus rota.", "They've taken me off the night bus rota, finally."),
    ("Our forum runs on Discourse.", "We've moved the forum from Discourse to Flarum."),
    ("I take honey in my porridge.", "No more honey in my porridge, doctor's orders."),
    ("My swimming teacher is Mr Aldous.", "Aldous has retired and Ms Kerr has the group."),
    ("Our gardener is Zofia.", "Zofia has gone back to Lublin, Piet mows for us now."),
    ("We're flying to Malta in June.", "The Malta trip is off, the hotel went under."),
    ("I brew with a moka pot.", "I've swapped the moka pot for an AeroPress."),
    ("我在城北健身房练拳。", "离得太远，城北健身房退了。"),
    ("我早饭吃燕麦。", "燕麦吃腻了，现在改吃包子。"),
    ("我在二队打后卫。", "教练把我从后卫调到前锋了。"),
    ("我们六月去马耳他。", "马耳他不去了，酒店倒闭了。"),
)
NUMBERS = (
    ("The sauna session starts at 6.", "They've brought the sauna session forward to 5."),
    ("My dose is 20 mg.", "The doctor has cut my dose to 10."),
    ("The mooring costs 300 a month.", "The mooring went up, it's 340 now."),
    ("Our stand-up is on Tuesday.", "The stand-up has been moved to Thursday."),
)
STATES = (
    ("The kiln is broken.", "Good news, the kiln's working again."),
    ("The footbridge is closed.", "They've reopened the footbridge at last."),
    ("The visa for Ghana hasn't come.", "The Ghana visa finally came."),
    ("三号窑坏了。", "师傅来过，三号窑修好了。"),
    ("我的驾照还没办下来。", "驾照今天拿到了。"),
)
NAMES = (
    ("Our choir is called Larksong.", "We've renamed the choir Highwater."),
    ("我们读书群叫“夜航船”。", "群改名了，现在叫“早班车”。"),
)
PLACES = (("I keep the ladder in the hallway.", "I've moved the ladder to the shed."),)
CORRECTIONS = (
    ("The ferry leaves at 8:40.", "Misread the board, it's 8:14."),
    ("My aunt lives in Turku.", "Wrong town, sorry, she's in Oulu."),
    ("陶艺课是12号。", "手滑，21号。"),
    ("外甥女对猕猴桃过敏。", "说错了，过敏的是菠萝。"),
)
INNOCENT = (
    # asked, planned, refused, heard, joked
    ("I row with the Tuesday crew.", "Should I quit the Tuesday crew?"),
    ("I row with the Tuesday crew.", "I'm thinking of quitting the Tuesday crew."),
    ("Our forum runs on Discourse.", "According to Jo, we've moved the forum from Discourse to Flarum."),
    ("Our forum runs on Discourse.", "When I retire we'll move the forum from Discourse to Flarum."),
    ("我早饭吃燕麦。", "要不要把燕麦停了？"),
    ("我在城北健身房练拳。", "听说城北健身房倒闭了。"),
    # of another person, thing, part, day, or long ago
    ("I row with the Tuesday crew.", "My brother has quit the Tuesday crew."),
    ("We print our labels on a Brother.", "The till was a Brother, it's been replaced with a Zebra."),
    ("The sauna session starts at 6.", "They've brought the pool session forward to 5."),
    ("I take honey in my porridge.", "No honey in my porridge today, the jar was empty."),
    ("I brew with a moka pot.", "Ten years ago I swapped the percolator for a moka pot."),
    ("Our stand-up is on Tuesday.", "The client's stand-up has been moved to Thursday."),
    ("The north gate is open till nine.", "The south gate now closes at eight."),
    ("我早饭吃燕麦。", "我妹燕麦吃腻了，现在改吃包子。"),
    ("我们这届社长是小涂。", "上届社长卸任了。"),
    ("我的键盘是静电容的。", "键盘换了套键帽。"),
    # as before
    ("I keep the ladder in the hallway.", "Took the ladder out of the hallway to paint, it's back there now."),
    ("我微信头像是只猫。", "头像换成过狗，今天又换回猫了。"),
    ("The museum guide is Ines.", "A stand-in is there instead of Ines while she's away."),
    # one of several
    ("We have bees, ducks and a goat.", "The ducks are gone, a fox came."),
)
NOT_CORRECTED = (
    ("The ferry leaves at 8:40.", "Sorry, that was meant for another chat."),
    ("The ferry leaves at 8:40.", "Something else I got wrong: the train is at 9:15."),
    ("我生日是3月9号。", "另外昨天说的会议日期写错了，是11月12号。"),
)


def verdict(older: str, newer: str, *, follows: bool = False) -> Verdict | None:
    later = Statement(newer, "user", AT + (timedelta(minutes=1) if follows else timedelta(days=12)), follows)
    return RULES.compare(Statement(older, "user", AT), later, 0.7, least=POLICY.record_confidence)


def acts(found: Verdict | None) -> bool:
    return (
        found is not None
        and found.kind != "duplicate"
        and found.aligned
        and not found.partial
        and found.confidence >= POLICY.act_confidence
    )


@pytest.mark.parametrize("pair", [*ENDS, *NUMBERS, *STATES, *NAMES, *PLACES], ids=" | ".join)
def test_a_change_that_a_clause_tells_openly_takes_effect(pair: tuple[str, str]) -> None:
    assert acts(verdict(*pair))


@pytest.mark.parametrize("pair", CORRECTIONS, ids=" | ".join)
def test_a_correction_right_after_takes_effect_beside_its_excuse(pair: tuple[str, str]) -> None:
    assert acts(verdict(*pair, follows=True))


@pytest.mark.parametrize("pair", INNOCENT, ids=" | ".join)
def test_what_only_sounds_like_a_change_retires_nothing(pair: tuple[str, str]) -> None:
    assert not acts(verdict(*pair))


@pytest.mark.parametrize("pair", NOT_CORRECTED, ids=" | ".join)
def test_a_correction_of_something_else_retires_nothing(pair: tuple[str, str]) -> None:
    assert not acts(verdict(*pair, follows=True))


def test_a_clause_of_several_is_a_verdict_about_a_part() -> None:
    found = verdict("客厅铺的是羊毛地毯，书房一直没有装修完。", "羊毛地毯扔了。")
    assert found is not None
    assert found.partial
    assert found.claim == "客厅铺的是羊毛地毯"
