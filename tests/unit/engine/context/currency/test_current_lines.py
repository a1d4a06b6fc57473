"""Which line tells how things are now, by its persons, its occasion and the tense of the question."""

import pytest

from biem.adapters import contradiction
from biem.adapters.analyzers import RuleAnalyzer
from biem.domain.policies.context import ContextPolicy
from biem.engine.context.lines import LineReader, RatedLine
from biem.engine.context.persons import FOREIGN
from biem.engine.context.picking import Picker
from tests.unit.engine.context.measured_hits import hit, measured

PICKER = Picker(contradiction.build(), RuleAnalyzer(), ContextPolicy())
BESIDE = ("We watched the snow from the kitchen.", "Thanks for the recipe, it came out well.", "The tram was full.")


def first(question: str, *said: str) -> str:
    """The first line of a block when these were said in turn, each a week after the other, beside other talk."""
    days = [hit(text, days=7 * place) for place, text in enumerate(said)]
    hits = [*days, *(hit(text, 0.3, days=1) for text in BESIDE)]
    picked = PICKER.pick(measured(question, hits), question, None)
    return picked[0].node.text


def test_of_several_acts_a_question_in_the_past_tense_means_the_last() -> None:
    said = ("The grant proposal is going to Volkmar.", "Volkmar turned the proposal down. We've sent it to Hedlund.")
    assert first("Where did we send the grant proposal?", *said) == said[1]


def lines(question: str, *said: str) -> list[RatedLine]:
    reader = LineReader(contradiction.build(), RuleAnalyzer())
    hits = measured(question, [hit(text, days=place) for place, text in enumerate(said)])
    return reader.lines(hits, reader.question(question, hits)) or []


def test_a_reason_with_the_words_of_the_question_is_of_its_own_person() -> None:
    said = "Olaf is still on the early rota, so I eat alone these days."
    (line,) = lines("Which rota am I on?", said)
    assert (line.said, line.owners) == ("Olaf is still on the early rota", frozenset({"olaf"}))
    assert line.foreign == FOREIGN


@pytest.mark.parametrize(
    ("question", "older", "newer"),
    [
        (
            "Who answers the phone?",
            "Olaf answers the phone.",
            "Olaf is off; Greet answers the phone for the time being.",
        ),
        ("Who is our treasurer?", "Olaf is our treasurer.", "Olaf wants to travel, so Greet stepped up as treasurer."),
    ],
)
def test_a_new_state_goes_before_the_one_that_it_does_not_name(question: str, older: str, newer: str) -> None:
    assert first(question, older, newer) == newer


def test_what_a_pronoun_means_may_stand_before_it_in_the_same_message() -> None:
    said = ("The wedding is on 14 June.", "Sorry, I misread the audit mail; it has to be done by 12 May.")
    assert first("When is the wedding?", *said) == said[0]
