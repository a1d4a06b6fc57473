"""Corrections without a subject in a later conversation, and replies that only repeat what was said."""

from dataclasses import replace
from datetime import timedelta

import pytest

from biem.adapters import contradiction
from biem.adapters.analyzers import RuleAnalyzer
from biem.domain.policies.context import ContextPolicy
from biem.engine.context.block import render
from biem.engine.context.picking import LOOKED_AT, Picker
from tests.support.fakes import START
from tests.unit.engine.context.measured_hits import hit, measured

PICKER = Picker(contradiction.build(), RuleAnalyzer(), ContextPolicy())


def picked(question: str, *told: tuple[int, str]) -> list[str]:
    hits = measured(question, [hit(text, days=days) for days, text in told])
    return [one.node.text for one in PICKER.pick(hits, question, None)]


@pytest.mark.parametrize(
    ("told", "correction", "question"),
    [
        ("The glider is checked on 5 December.", "Correction: it's 6 December.", "When is the glider checked?"),
        ("The parade begins at 9:30.", "My mistake, it's 10:30.", "What time does the parade begin?"),
        ("滑翔机12月5号检修。", "更正一下，是12月6号。", "滑翔机什么时候检修？"),
        ("摊位押金是240元。", "刚才说错了，应该是260元。", "摊位押金多少钱？"),
    ],
)  # fmt: skip
def test_a_correction_without_a_subject_comes_first_where_one_statement_fits(
    told: str, correction: str, question: str
) -> None:
    # Given a statement and its correction three days later / Then both are told, the newer first
    assert picked(question, (0, told), (3, correction)) == [correction, told]
    # and it is not lifted after months
    assert picked(question, (0, told), (90, correction))[0] == told


@pytest.mark.parametrize(
    ("told", "other", "correction", "question"),
    [
        ("The concert is on 5 December.", "The dinner is on 9 December.", "Correction: it's 6 December.",
         "When is the concert?"),
        ("音乐会是12月5号。", "聚餐是12月9号。", "更正：是12月6号。", "音乐会什么时候？"),
    ],
)  # fmt: skip
def test_a_correction_that_fits_two_statements_claims_nothing(
    told: str, other: str, correction: str, question: str
) -> None:
    assert picked(question, (0, told), (0, other), (3, correction))[0] == told


def test_a_correction_stands_below_where_other_lines_were_not_looked_at() -> None:
    told, correction = "The glider is checked on 5 December.", "Correction: it's 6 December."
    others = [(0, f"Our {thing} is red.") for thing in ("barn", "boat", "tent", "lamp", "sofa", "vase") * 3]
    assert len(others) + 2 == LOOKED_AT
    shown = picked("When is the glider checked?", (0, told), (3, correction), *others)
    assert shown[0] == told
    assert correction in shown


def test_the_users_own_words_stand_above_a_reply_that_repeats_them() -> None:
    # Given a reply a minute later that is likelier to answer
    question, own, reply = "林老师家什么时候去？", "林老师家我们周六去。", "好的，林老师家周六去。"
    first, echo = hit(own, 0.5), hit(reply, 0.9, source="assistant", at=START + timedelta(minutes=1))
    assert PICKER.pick(measured(question, [echo, first]), question, None)[0].node.text == own


def test_what_a_line_refers_to_is_marked_in_its_language() -> None:
    before = hit("窑炉坏了。").node
    text = render([replace(hit("它是1200度的。"), refers_to=before)], ContextPolicy(), 1_000).text
    assert '"它是1200度的。" (指："窑炉坏了。")' in text
    text = render([replace(hit("三号。"), answers=hit("哪天？").node)], ContextPolicy(), 1_000).text
    assert '(回答："哪天？")' in text
