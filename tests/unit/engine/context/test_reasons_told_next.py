"""Reasons that were told in the message after the one that they explain."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from biem.adapters import contradiction
from biem.adapters.analyzers import RuleAnalyzer
from biem.domain.policies.context import ContextPolicy
from biem.engine.context.picking import Picker
from tests.support.fakes import START
from tests.unit.engine.context.measured_hits import hit, measured

PICKER = Picker(contradiction.build(), RuleAnalyzer(), ContextPolicy())
LEFT = "We've left the Tuva platform, the last booking through it was on Sunday."
WHY = "They wanted twenty per cent, and that eats all we earn."
OFF = "我们从途蛙平台下架了。"
FEE = "他们把佣金提到了百分之二十二，实在不划算。"
OTHERS = ["My sister is allergic to shellfish.", "院子里养了三只母鸡", "I work at the harbour office."]


def told(question: str, said: Sequence[str], *, minutes: float = 1, source: str = "user") -> list[str]:
    """The lines for a question, of two messages of one conversation, this far apart, and of others."""
    talk = [
        hit(text, conversation="c", at=START + timedelta(minutes=minutes * place), source=source if place else "user")
        for place, text in enumerate(said)
    ]
    others = [hit(text, days=day, conversation=f"d{day}") for day, text in enumerate(OTHERS, start=2)]
    return [one.node.text for one in PICKER.pick(measured(question, [*talk, *others]), question, 0.8)]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Why did we leave the Tuva platform?", [LEFT, WHY]),
        ("How come we left Tuva?", [LEFT, WHY]),
        ("途蛙平台我们怎么就下架了？", [OFF, FEE]),
        ("我们为什么从途蛙下架？", [OFF, FEE]),
    ],
)
def test_the_reason_told_next_follows_what_it_explains(question: str, said: list[str]) -> None:
    assert told(question, said)[:2] == said


@pytest.mark.parametrize(
    ("question", "said"), [("When did we leave Tuva?", [LEFT, WHY]), ("途蛙下架了吗？", [OFF, FEE])]
)
def test_another_question_gets_no_reason(question: str, said: list[str]) -> None:
    assert told(question, said) == said[:1]


@pytest.mark.parametrize(
    ("minutes", "source"), [(600, "user"), (1, "assistant"), (-1, "user")], ids=["later", "assistant", "before"]
)
def test_what_is_no_continuation_is_not_shown(minutes: float, source: str) -> None:
    assert WHY not in told("Why did we leave the Tuva platform?", [LEFT, WHY], minutes=minutes, source=source)


def test_a_message_with_its_reason_is_shown_alone() -> None:
    given = "We've left the Tuva platform because they wanted twenty per cent."
    assert told("Why did we leave the Tuva platform?", [given, "Now I'm off to bed."]) == [given]
