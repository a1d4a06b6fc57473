"""Short answers to the assistant's questions: "Six." alone does not say of what."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from biem.adapters import contradiction
from biem.adapters.analyzers import RuleAnalyzer
from biem.domain.node import Hit, Node, new_id
from biem.domain.policies.context import ContextPolicy
from biem.domain.scope import Scope
from biem.engine.context.block import render
from biem.engine.context.picking import Picker
from tests.support.fakes import START

PICKER = Picker(contradiction.build(), RuleAnalyzer(), ContextPolicy())
REPLIES = [
    (
        "How many performances do we give each month?",
        ("How many performances do you give in a month?", "Six."),
        "We played in a school yesterday.",
    ),
    ("我们每个月演几场？", ("你们一个月演几场？", "六场。"), "昨天我们去了一所学校。"),
]


def node(text: str, source: str = "user", **values: Any) -> Node:
    return Node(
        **{"id": new_id(), "scope": Scope(), "text": text, "kind": "event", "status": "active", "layer": "short_term",
           "at": START, "created_at": START, "source": source, **values}
    )  # fmt: skip


def reply(asked: str, said: str, like: float = 0.6) -> Hit:
    """An answer that is like nothing, to a question that is like the one that the block is for."""
    why = {"likeness": 0.02, "asked_likeness": like}
    return Hit(node(said, at=START + timedelta(minutes=1)), 0.3, why, answers=node(asked, "assistant"))


@pytest.mark.req("C31", partly="short answers are told with their question")
@pytest.mark.parametrize(("question", "talk", "beside"), REPLIES)
def test_a_short_answer_counts_with_the_question_that_it_answers(
    question: str, talk: tuple[str, str], beside: str
) -> None:
    # Given a line that only says "Six." / When it is known what it answers / Then it is told, and first
    answer, other = reply(*talk), Hit(node(beside), 0.5, {"likeness": 0.15})
    alone = replace(answer, answers=None, why={"likeness": 0.02})
    assert [one.node.text for one in PICKER.pick([other, answer], question, 0.8)][:1] == [talk[1]]
    assert PICKER.pick([other, alone], question, 0.8)[:1] != [alone]
    assert PICKER.sureness([other, answer], question, 0.8) > PICKER.sureness([other, alone], question, 0.8)


@pytest.mark.req("C31", partly="short answers are told with their question")
def test_a_short_answer_is_shown_with_the_question() -> None:
    hits = [reply("Do you sing?", "Yes."), reply('Do you "drive"?\nNow?', "Yes."), reply("Do you sing?", "Yes.")]
    text = render(hits, ContextPolicy(), 1_000).text
    assert '"Yes." (asked: "Do you \'drive\'? Now?")' in text
    assert text.count('(asked: "Do you sing?")') == 1, "the same answer to the same question is told once"
    assert text.count('"Yes."') == 2, "the same answer to another question is another fact"
    assert "asked" not in render(hits, ContextPolicy(layout="bare"), 1_000).text


def test_a_whole_statement_is_told_without_the_question_before_it() -> None:
    # Given a statement with a subject and a topic, after a question that it does not answer / When it is chosen
    said = reply("A cup of cocoa, maybe?", "My locker key costs 12 euros a month.", 0.1)
    chosen = PICKER.pick([replace(said, why={"likeness": 0.6})], "What does my locker key cost?", 0.9)

    # Then it stands alone
    assert [one.answers for one in chosen] == [None]


@pytest.mark.parametrize(
    ("question", "before", "said", "beside"),
    [
        (
            "What make is our kiln?",
            "Our kiln won't fire any more.",
            "It's a Nabertherm, nine years old.",
            "We went to the pottery fair.",
        ),
        ("我们的窑是什么牌子的？", "我们的窑烧不起来了。", "它是纳博热的，用了九年。", "昨天我们去了陶艺市集。"),
    ],
)
def test_a_line_with_a_pronoun_counts_with_what_it_describes(
    question: str, before: str, said: str, beside: str
) -> None:
    # Given a line that does not name its thing / When it is known what it describes / Then it is likelier to answer
    known = Hit(node(said), 0.3, {"likeness": 0.1, "referred_likeness": 0.5}, refers_to=node(before))
    alone, other = replace(known, refers_to=None, why={"likeness": 0.1}), Hit(node(beside), 0.5, {"likeness": 0.15})
    assert [one.node.text for one in PICKER.pick([other, known], question, 0.8)][:1] == [said]
    assert PICKER.sureness([other, known], question, 0.8) > PICKER.sureness([other, alone], question, 0.8)
    # and a question of the assistant that names the thing is enough
    asked = replace(known, answers=node("What make is your kiln?", "assistant"))
    assert PICKER.pick([asked], question, None)[0].refers_to is None


def test_a_line_with_a_pronoun_is_shown_with_what_it_describes() -> None:
    known = Hit(node("It's a Nabertherm."), 0.3, {}, refers_to=node('The "kiln" broke.\nOh no.'))
    assert '"It\'s a Nabertherm." (of: "The \'kiln\' broke. Oh no.")' in render([known], ContextPolicy(), 1_000).text


def test_only_the_question_of_a_message_is_told_and_counts() -> None:
    # Given a reply that chats before it asks / Then what it chats of is no subject of the answer
    answer = reply("What a splendid way to spend a winter! How many looms have you got?", "Nine.")
    assert '"Nine." (asked: "How many looms have you got?")' in render([answer], ContextPolicy(), 1_000).text
    plain = reply("How many looms have you got?", "Nine.")
    for question in ("How many looms have I got?", "How do I spend the winter?"):
        assert PICKER.sureness([answer], question, 0.8) == PICKER.sureness([plain], question, 0.8)


def test_a_question_of_the_assistant_is_told_with_its_answer_only() -> None:
    # Given a question and its answer among the hits / Then the answer stands for both
    answer = reply("That is a big barn. How many looms have you got?", "Nine.")
    assert answer.answers is not None
    asked = Hit(answer.answers, 0.9, {"likeness": 0.9})
    assert PICKER.pick([asked, answer], "How many looms have I got?", None) == [answer]
    assert PICKER.pick([asked], "How many looms have I got?", None) == [asked]
