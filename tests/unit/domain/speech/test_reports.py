"""Reports of what an agent has done, and answers that tell nothing."""

import pytest

from biem.domain.speech.reports import (
    commands,
    is_report,
    knows_nothing,
    opens_another,
    reports_another_value,
    stands_for_itself,
)


@pytest.mark.parametrize(
    ("text", "reports"),
    [
        ("Booked: the round table, Sunday 18:15.", True),
        ("Done, I set the heater to 19 degrees.", True),
        ("The barge was full, so I reserved the small boat instead.", True),
        ("The heater is at 21 degrees now.", True),
        ("I've moved the rehearsal to the chapel.", True),
        ("已预订:江边厅,周日18:15。", True),
        ("好的,闹钟已改成六点半。", True),
        ("我换了小船,十点出发。", True),
        ("Reminder set for Sunday 10:00.", True),
        ("订了江边的旅馆,两晚。", True),
        ("是密码过期了,重置后已恢复。", True),
        ("The harbour rang: the barge is due on 14 May.", True),
        ("No berth was free, so the barge lies at Kiel.", True),
        ("船厂来电话说缺零件，交船改到十四号。", True),
        ("退了船票，换成火车。", True),
        ("I'll set the heater to 19 degrees.", False),
        ("You could set the heater to 19 degrees.", False),
        ("Perhaps the barge is at Kiel.", False),
        ("可以把闹钟改到六点半。", False),
        ("恭喜，船修好了！", False),
        ("You moved to Leeds.", False),
        ("Got it, I'll keep in mind that you row.", False),
        ("I've noted that you moved to Ghent.", False),
        ("Okay, I've made a note of that.", False),
        ("Set boundaries.", False),
        ("You've earned it.", False),
        ("Great, you live in Ghent now!", False),
        ("已记录您的地址。", False),
        ("您已经很努力了。", False),
        ("Shall I say that I booked it?", False),
    ],
)
def test_a_report_says_what_its_speaker_has_done(text: str, reports: bool) -> None:
    assert is_report(text) is reports


@pytest.mark.parametrize(
    ("text", "nothing"),
    [
        ("I don't have that on record.", True),
        ("I'm not sure, sorry.", True),
        ("没有查到相关记录。", True),
        ("It's plover-77-mint.", False),
        ("密码是plover。", False),
    ],
)
def test_who_does_not_know_answers_nothing(text: str, nothing: bool) -> None:
    assert knows_nothing(text) is nothing


@pytest.mark.parametrize(
    ("report", "said", "more"),
    [
        ("Friday at 10 then.", "The barge leaves on Friday at 10.", False),
        ("The barge is due at 10.", "The barge leaves at 10 on Friday", False),
        ("Moved to Friday at 11.", "The barge leaves on Friday at 10.", True),
        ("好的，改到周五下午三点。", "船周五下午三点走。", False),
        ("周五没有船，订了周六的。", "船周五下午三点走。", True),
    ],
)
def test_a_report_adds_a_number_a_day_or_a_name(report: str, said: str, more: bool) -> None:
    assert reports_another_value(report, said) is more


@pytest.mark.parametrize(
    ("text", "is_command"),
    [
        ("Move Friday's tour, we're six now.", True),
        ("It's too warm, set it to 19.", True),
        ("Could you find a berth?", True),
        ("把闹钟改成六点半", True),
        ("船票贵了，换一下吧。", True),
        ("码头换个近点的。", True),
        ("码头换了个近点的。", False),
        ("Order number is 5.", False),
        ("The barge leaves on Friday.", False),
        ("我周五坐船走。", False),
    ],
)
def test_a_command_is_an_imperative_or_a_request(text: str, is_command: bool) -> None:
    assert commands(text) is is_command
    assert stands_for_itself(text) is not is_command


def test_a_message_can_turn_to_another_matter() -> None:
    assert opens_another("Also, the piano was tuned.")
    assert opens_another("另外，钢琴调好了。")
    assert not opens_another("The piano was tuned, too.")
