"""Reports of what an agent has done, and answers that tell nothing."""

import pytest

from biem.domain.speech.reports import is_report, knows_nothing


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
