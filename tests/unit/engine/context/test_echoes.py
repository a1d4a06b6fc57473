"""Lines of the assistant that only say a message of the user again, and those that guess about the user."""

from datetime import timedelta

import pytest

from biem.adapters import contradiction
from biem.adapters.analyzers import RuleAnalyzer
from biem.domain.node import Hit
from biem.domain.policies.context import ContextPolicy
from biem.engine.context.block import BlockReader, render
from biem.engine.context.lines import supposes
from biem.engine.context.picking import Picker
from tests.unit.engine.context.measured_hits import hit, measured

ANALYZER, POLICY = RuleAnalyzer(), ContextPolicy()
PICKER = Picker(contradiction.build(), ANALYZER, POLICY)


def shown(*hits: Hit) -> list[str]:
    block = render(hits, POLICY, 10_000, (), BlockReader((), ANALYZER.lexemes))
    return [one.node.text for one in block.hits]


@pytest.mark.parametrize(
    ("said", "echo", "answer"),
    [
        (
            "Our choir rehearses in the crypt.",
            "Understood, I'll remember that your choir rehearses in the crypt.",
            "Noted. The crypt is closed in August, where will the choir go?",
        ),
        ("My stall is number 18.", "Thanks for sharing, noted: your stall is number 18.", "Got it. 18 is near gate 3."),
        ("我们合唱团在地下室排练。", "好的，我记住了，你们合唱团在地下室排练。", "记下了。地下室八月装修，去哪儿唱？"),
        ("我的摊位是18号。", "收到，已记录：您的摊位是18号。", "知道了，18号摊位在3号门旁边，停车方便。"),
    ],
)  # fmt: skip
def test_an_acknowledgement_stands_in_a_block_only_with_content_of_its_own(said: str, echo: str, answer: str) -> None:
    # Given a message and replies that acknowledge it / Then the one that repeats it is left out, wherever it stands
    told, repeated, added = hit(said, 0.5), hit(echo, 0.6, source="assistant"), hit(answer, 0.5, source="assistant")
    assert shown(repeated, told, added) == [said, answer]
    # and it stays where the message itself is not shown, or where a person said it
    assert shown(repeated) == [echo]
    assert shown(told, hit(echo, 0.5)) == [said, echo]


@pytest.mark.parametrize(
    ("question", "told", "guess"),
    [
        ("Which ward am I a nurse on?", "They put me on the burns ward.", "I'd guess you nurse on the stroke ward."),
        ("What colour is my kayak?", "I painted the kayak green.", "The colour of your kayak might be red, I suppose."),
        ("我在哪个病房当护士？", "他们把我调到烧伤病房了。", "看来你多半在中风病房当护士。"),
        ("我的皮划艇是什么颜色？", "皮划艇我刷成绿的了。", "我估计你的皮划艇是红色的。"),
    ],
)  # fmt: skip
def test_a_guess_of_the_assistant_stands_below_what_the_user_said(question: str, told: str, guess: str) -> None:
    # Given a guess that is more like the question / Then what the user said is told first
    hits = measured(question, [hit(guess, 0.6, source="assistant"), hit(told, 0.5)])
    assert PICKER.pick(hits, question, None)[0].node.text == told


@pytest.mark.parametrize(
    ("text", "guess"),
    [
        ("Your aunt is probably a potter.", True),
        ("You might be a night person.", True),
        ("I take it the garage is yours.", True),
        ("您似乎住在海边。", True),
        ("You could visit the glass museum, it opens at ten.", False),
        ("You might want to book the ferry early.", False),
        ("The ferry leaves at ten.", False),
        ("您可以去看玻璃博物馆，十点开门。", False),
        ("The ferry leaves at ten. " * 8 + "You are probably early.", False),
    ],
)
def test_a_suggestion_or_a_long_answer_is_no_guess(text: str, guess: bool) -> None:
    assert supposes(hit(text, source="assistant").node) is guess
    assert not supposes(hit("You are probably early.", source="user").node)
    assert supposes(hit("阿宽说“下周搬家”", source="user").node)
    assert not supposes(hit("邮件里别说“收悉”", source="user").node)


@pytest.mark.parametrize(
    ("question", "said", "echo"),
    [
        (
            "Who looks after the accounts?",
            "The monthly accounts go to Rosalind at the parish office.",
            "Noted: Rosalind receives the monthly accounts.",
        ),
        (
            "How should recipes be written?",
            "Please write the recipes for gran in big letters.",
            "Understood, recipes for your gran in big letters.",
        ),
        ("菜谱要怎么写？", "给奶奶的菜谱请写成大字。", "好的，记住了，给奶奶的菜谱写成大字。"),
    ],
)
def test_a_message_takes_the_place_of_its_acknowledgement(question: str, said: str, echo: str) -> None:
    # Given a reply that only acknowledges / Then the message that it repeats is told, even if it is a request
    told = hit(said, 0.4)
    after = told.node.at + timedelta(minutes=1)
    hits = measured(question, [hit(echo, 0.6, source="assistant", at=after), told])
    assert [one.node.text for one in PICKER.pick(hits, question, None)] == [said]


def test_an_acknowledgement_of_what_was_replaced_is_not_told() -> None:
    # Given a reply to a message that holds no longer / Then only the messages are told, the newer first
    question, said = "Who cuts my hair?", "My hairdresser is called Benno."
    told, newer = hit(said, 0.5), hit("Benno moved away, Ysolde cuts my hair now.", 0.5, days=30)
    after = told.node.at + timedelta(minutes=1)
    echo = hit("Great, I've noted that your hairdresser is called Benno.", 0.6, source="assistant", at=after)
    picked = [one.node.text for one in PICKER.pick(measured(question, [echo, told, newer]), question, None)]
    assert picked[0] == newer.node.text
    assert echo.node.text not in picked
