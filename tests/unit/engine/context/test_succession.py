"""Later lines that say how things are now, in words that no rule knows."""

import dataclasses
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from biem.adapters import contradiction
from biem.adapters.analyzers import RuleAnalyzer
from biem.adapters.embedders.change import change_odds
from biem.domain.node import Hit, Node, new_id
from biem.domain.policies.context import ContextPolicy
from biem.domain.scope import Scope
from biem.engine.context.picking import Picker
from tests.support.fakes import START

PICKER = Picker(contradiction.build(), RuleAnalyzer(), ContextPolicy())


def line(text: str, score: float, likeness: float, day: int, changed: float | None, **values: Any) -> Hit:
    node = Node(
        **{"id": new_id(), "scope": Scope(), "text": text, "kind": "event", "status": "active", "layer": "short_term",
           "at": START + timedelta(days=day), "created_at": START, "source": "user", **values}
    )  # fmt: skip
    why: dict[str, float | str] = {"likeness": likeness}
    return Hit(node, score, why if changed is None else {**why, "changed": changed})


def told(question: str, alike: float, one: Hit, other: Hit) -> list[str]:
    pair = [dataclasses.replace(a, alike={b.node.id: alike}) for a, b in ((one, other), (other, one))]
    return [hit.node.text for hit in PICKER.pick(pair, question, None)]


CHANGES = [
    (
        "Where do we rehearse?",
        "We rehearse in hall four.",
        "We lost hall four to the choir and play in the chapel for the rest of the year.",
    ),
    ("我在哪里打工？", "我周末在一家书店打工。", "书店关门了，周末改去花店帮忙。"),
    ("诗会什么时候办？", "诗会五月三号开始。", "场地漏水，日子往后推到十一号。"),
]


@pytest.mark.parametrize(("question", "older", "newer"), CHANGES)
def test_a_change_in_other_words_goes_before_what_it_changes(question: str, older: str, newer: str) -> None:
    # Given a later line that is like an earlier one and tells of a change / Then it is the first line
    assert told(question, 0.45, line(older, 0.95, 0.7, 0, -3.0), line(newer, 0.3, 0.2, 30, 2.5))[0] == newer


@pytest.mark.parametrize(("question", "older", "newer"), CHANGES)
def test_without_a_direction_the_rules_decide_alone(question: str, older: str, newer: str) -> None:
    # Given the same lines of an embedder without a direction / Then the earlier stays first: no rule knows the words
    assert told(question, 0.45, line(older, 0.95, 0.7, 0, None), line(newer, 0.3, 0.2, 30, None))[0] == older


@pytest.mark.parametrize(("question", "older", "newer"), CHANGES)
def test_a_line_that_is_unlike_the_earlier_one_changes_nothing(question: str, older: str, newer: str) -> None:
    # Given the same lines / When their vectors say that they are about different things / Then the earlier stays first
    assert told(question, 0.0, line(older, 0.95, 0.7, 0, -3.0), line(newer, 0.3, 0.0, 30, -4.0))[0] == older


@pytest.mark.parametrize(
    ("question", "older", "newer", "other"),
    [
        (
            "Who trains Ida?",
            "Ida's coach is called Nadia.",
            "Nadia went back to Lisbon, Joost is the new coach.",
            "Tove went back to Lisbon, Joost has her flat.",
        ),
        (
            "乐乐的钢琴老师是谁？",
            "乐乐的钢琴老师姓庄。",
            "庄老师搬走了，新的钢琴老师是林老师。",
            "杜阿姨搬走了，住进来的是林叔叔。",
        ),
    ],
)
def test_a_line_about_another_person_succeeds_one_whose_value_it_names(
    question: str, older: str, newer: str, other: str
) -> None:
    # Given a later line that tells what became of the person in the earlier one / Then it is the first line
    assert told(question, 0.45, line(older, 0.95, 0.7, 0, -3.0), line(newer, 0.3, 0.2, 30, 2.5))[0] == newer
    # When it tells of a person of whom the earlier one says nothing / Then the earlier stays first
    assert told(question, 0.45, line(older, 0.95, 0.7, 0, -3.0), line(other, 0.3, 0.2, 30, 2.5))[0] == older


def test_a_thing_without_its_modifier_may_be_the_one_of_several() -> None:
    # Given a line about the back gate, and a later one about the gate / Then the later one is the first line
    question, older = "What colour is the back gate?", "We settled on mint for the back gate."
    newer = "We got cold feet about mint; the gate ended up brick red."
    assert told(question, 0.45, line(older, 0.95, 0.7, 0, -3.0), line(newer, 0.3, 0.2, 30, 2.5))[0] == newer
    # When the later one is about the front gate / Then the earlier stays first
    other = newer.replace("the gate", "the front gate")
    assert told(question, 0.45, line(older, 0.95, 0.7, 0, -3.0), line(other, 0.3, 0.2, 30, 2.5))[0] == older


def test_in_a_dialogue_of_people_the_rules_decide_alone() -> None:
    # Given a change in a dialogue of two people, for which the weights were not fitted / Then the earlier stays first
    question, older, newer = CHANGES[0]
    before = line(older, 0.95, 0.7, 0, -3.0, speaker="Ida")
    assert told(question, 0.45, before, line(newer, 0.3, 0.2, 30, 2.5, speaker="Ida"))[0] == older


def test_hearsay_and_the_assistant_succeed_nothing() -> None:
    # Given a rumour and an assistant's line about the same / Then the user's own earlier statement stays first
    older = line("The fence is ochre.", 0.9, 0.6, 0, -3.0)
    rumour = line("My neighbour says the fence is petrol in the end.", 0.3, 0.5, 30, 2.5)
    guess = line("So the fence is petrol in the end.", 0.3, 0.5, 30, 2.5, source="assistant", speaker="assistant")
    for later in (rumour, guess):
        assert told("What colour is the fence?", 0.8, older, later)[0] == older.node.text


def test_only_packaged_models_read_changes() -> None:
    # Given an embedder without a direction / Then nothing is read; the packaged one gives a number a text
    assert change_odds("another-model") is None
    odds = change_odds("multilingual-e5-small-q4@1571fc98+centred-ac370b")
    assert odds is not None
    assert odds(np.zeros((3, 384), dtype=np.float32)).shape == (3,)
