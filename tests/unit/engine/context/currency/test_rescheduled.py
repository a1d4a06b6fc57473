"""Texts that say of an event that it was moved, put off or called off."""

from dataclasses import replace

import pytest

from biem.adapters import contradiction
from biem.adapters.analyzers import RuleAnalyzer
from biem.domain.policies.context import ContextPolicy
from biem.engine.context.currency.rescheduled import tells_of_move
from biem.engine.context.picking import Picker
from tests.unit.engine.context.measured_hits import hit, measured

PICKER = Picker(contradiction.build(), RuleAnalyzer(), ContextPolicy())


@pytest.mark.parametrize(
    ("older", "newer", "asked"),
    [
        (
            "The beekeeping course in Elm Hall starts on 4 May.",
            "Course pushed to the week after.",
            "When does it start?",
        ),
        ("The roofers come on the 12th with the crane.", "Bad news: roofers delayed, no crane.", "When do they come?"),
        ("We sign for the allotment on Monday.", "Had to postpone the signing until Friday.", "When do we sign?"),
        ("Parents' evening is on the 8th.", "Ugh, parents' evening is off.", "When is the parents' evening?"),
        ("The tuner's booked for the 3rd.", "The tuner had to move us to the 9th.", "When does the tuner come?"),
        ("The regatta on the lake is on 9 June.", "They've brought the regatta forward.", "When is the regatta?"),
        ("My eye operation is on 3 June.", "Operation's been put back ten days.", "When is my eye surgery?"),
        ("苗圃验收安排在15号下午。", "验收又往后拖了，说是20号以后。", "苗圃验收是什么时候？"),
        ("龙舟赛定在5月9号。", "龙舟赛提前了两天。", "龙舟赛是哪天？"),
        ("胃镜约的是6号。", "医生把胃镜推到下周了。", "我什么时候做胃镜？"),
        ("The harvest supper is on Sunday.", "They split up, so no supper after all.", "When is the supper?"),
        ("My hearing consult is in a week, 3pm.", "hearing consult is a no go, they closed", "When is my consult?"),
        ("跟阿芳说好31号看船队的live，票我请", "阿芳要回老家，live泡汤了", "31号有约吗？"),
        ("团建敲定了，2月7号去千岛湖", "团建没了，预算被砍", "团建是哪天？"),
    ],
)
def test_an_event_that_was_moved_may_be_named_by_fewer_words(older: str, newer: str, asked: str) -> None:
    assert tells_of_move(newer, older, asked, asks_time=True)


@pytest.mark.parametrize(
    ("older", "newer", "asked"),
    [
        ("The choir concert is on 9 May.", "The school concert moved to 20 May.", "When is the choir concert?"),
        ("My eye operation is on 3 June.", "Tom's operation was postponed again.", "When is my eye operation?"),
        ("The audit is on Monday.", "Last year's audit report was delayed.", "When is the audit?"),
        ("The move is on 6 July.", "We moved the sofa into the cellar.", "When is the move?"),
        ("The tax webinar is on the 17th.", "The webinar recording was moved to the archive.", "When is the webinar?"),
        ("The roofers come on the 12th.", "It got pushed to Friday.", "When do the roofers come?"),
        ("龙舟赛定在5月9号。", "隔壁镇的龙舟赛推迟了。", "龙舟赛是哪天？"),
        ("家长会在周四晚上。", "家长会的照片挪到新相册了。", "家长会是哪天？"),
    ],
)
def test_another_event_is_not_meant(older: str, newer: str, asked: str) -> None:
    assert not tells_of_move(newer, older, asked, asks_time=True)


def test_only_a_cancellation_matters_to_a_question_for_a_place() -> None:
    older, asked = "The regatta on Elm Lake is on 9 June.", "Where is the regatta?"
    assert tells_of_move("Regatta called off, the lake is too low.", older, asked, asks_time=False)
    assert not tells_of_move("Regatta moved to the 16th.", older, asked, asks_time=False)


def picked(question: str, *said: str) -> list[str]:
    """The lines of a block when these were said, each a week after the other."""
    hits = [hit(text, days=7 * place) for place, text in enumerate(said)]
    return [one.node.text for one in PICKER.pick(measured(question, hits), question, 1.0)]


@pytest.mark.parametrize(
    ("question", "plan", "moved"),
    [
        (
            "When does the ledger migration happen?",
            "The migration of the ledger to the new cluster is set for 18 April, 02:00, about 40 minutes.",
            "Migration pushed back a week because of the public holidays.",
        ),
        ("苗圃验收是什么时候？", "苗圃验收安排在15号下午。", "验收又往后拖了，说是20号以后。"),
    ],
)
def test_where_an_event_was_moved_the_later_line_is_first_and_the_plan_below_it(
    question: str, plan: str, moved: str
) -> None:
    assert picked(question, plan, "The dog has a new basket.", moved)[:2] == [moved, plan]


def test_of_two_events_with_that_name_the_last_mentioned_one_is_meant() -> None:
    choir, school = "The choir concert is on 9 May.", "The school concert is on 20 May."
    assert picked("When is the choir concert?", choir, school, "Concert moved to the week after.")[0] == choir


def test_an_event_that_was_moved_to_another_place_has_its_former_time() -> None:
    plan = "The beekeeping course starts on 4 May."
    assert picked("When does the course start?", plan, "Course moved to the town hall.")[0] == plan


def test_what_may_be_moved_is_not_first() -> None:
    plan = "The beekeeping course starts on 4 May."
    assert picked("When does the course start?", plan, "We might have to move the course.")[0] == plan


def test_a_disputed_line_is_followed_by_the_one_that_disputes_it() -> None:
    question = "Which fuel does the ferry take?"
    told, disputing = hit("The ferry takes diesel."), hit("Grandma's recipe needs three eggs.", days=7)
    plain = measured(question, [told, disputing])
    assert [one.node.id for one in PICKER.pick(plain, question, 1.0)] == [told.node.id]
    disputed = [replace(one, why={**one.why, "disputed_by": disputing.node.id}) for one in plain[:1]]
    lines = PICKER.pick([*disputed, plain[1]], question, 1.0)
    assert [one.node.id for one in lines] == [told.node.id, disputing.node.id]
