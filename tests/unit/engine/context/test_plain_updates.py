"""Updates in plain speech: only the new state is said, of what a pronoun or nothing at all names."""

import pytest

from biem.adapters import contradiction
from biem.adapters.analyzers import RuleAnalyzer
from biem.domain.policies.context import ContextPolicy
from biem.engine.context.lines import LineReader, RatedLine
from biem.engine.context.persons import FOREIGN
from biem.engine.context.picking import Picker
from biem.engine.context.plain_updates import PlainUpdates
from biem.engine.context.quantities import counts_on
from tests.unit.engine.context.measured_hits import hit, measured

PICKER = Picker(contradiction.build(), RuleAnalyzer(), ContextPolicy())
BESIDE = ("We watched the snow from the kitchen.", "Thanks for the recipe, it came out well.", "The tram was full.")


def first(question: str, *said: str) -> str:
    """The first line of a block when these were said in turn, each a week after the other, beside other talk."""
    days = [hit(text, days=7 * place) for place, text in enumerate(said)]
    hits = [*days, *(hit(text, 0.3, days=1) for text in BESIDE)]
    picked = PICKER.pick(measured(question, hits), question, None)
    return picked[0].node.text


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Three players are ill, so we're 11.", 11.0),
        ("He ate two, which leaves me fourteen.", 14.0),
        ("I'm down to 71, my trousers slip.", 71.0),
        ("It's gone up to 2.5k, sadly.", 2500.0),
        ("That makes a dozen.", None),
        ("They've got down to twenty-one now.", 21.0),
        ("They're two hundred in all.", 200.0),
        ("The gas is at 40.", None),
        ("We're 5 minutes late.", None),
        ("I'm at 12 Elm Road.", None),
    ],
)
def test_a_number_of_what_a_pronoun_names_is_read(text: str, count: float | None) -> None:
    assert counts_on(text) == count


@pytest.mark.parametrize(
    ("question", "older", "newer"),
    [
        ("How many singers do we have?", "About forty singers signed up.", "Nine can't make it, so we're 31."),
        ("How heavy am I?", "The scales say 88 kilos today.", "I'm down to 84, the stairs got easier."),
        ("How many chapters have I edited?", "I've edited eleven chapters.", "Five more today, which makes sixteen."),
    ],
)
def test_a_count_that_names_nothing_continues_the_one_before(question: str, older: str, newer: str) -> None:
    assert first(question, older, newer) == newer


@pytest.mark.parametrize(
    ("question", "older", "newer"),
    [
        (
            "At what time does rehearsal start?",
            "Rehearsal is at 19:30.",
            "We start half an hour earlier now, seven o'clock.",
        ),
        ("On which evening do we meet?", "We meet on Mondays at Olaf's.", "It's on Wednesdays from now on."),
        ("Who do I report to?", "I report to Olaf.", "They shuffled the teams, my boss is Greet now."),
        ("Who keeps the spare key?", "This month Olaf keeps the spare key.", "Greet's got the spare key from today."),
    ],
)
def test_another_time_or_person_is_told_in_place_of_the_one_before(question: str, older: str, newer: str) -> None:
    assert first(question, older, newer) == newer


@pytest.mark.parametrize(
    ("question", "older", "newer"),
    [
        ("At what time does rehearsal start?", "Rehearsal is at 19:30.", "The bakery opens at seven o'clock now."),
        ("Who do I report to?", "I report to Olaf.", "My sister's boss is Greet now."),
        ("Who keeps the spare key?", "Olaf keeps the spare key.", "Greet keeps the dogs from today."),
    ],
)
def test_another_time_or_person_for_something_else_stays_below(question: str, older: str, newer: str) -> None:
    assert first(question, older, newer) == older


def test_what_holds_until_later_holds_at_the_moment() -> None:
    said = ("Dr. Abara treats my back.", "Abara is away until spring; Dr. Lindqvist treats me in the meantime.")
    assert first("Which doctor treats my back at the moment?", *said) == said[1]
    assert first("Which doctor usually treats my back?", *said) == said[0]


def test_of_several_acts_a_question_in_the_past_tense_means_the_last() -> None:
    said = ("The grant proposal is going to Volkmar.", "Volkmar turned the proposal down. We've sent it to Hedlund.")
    assert first("Where did we send the grant proposal?", *said) == said[1]


def lines(question: str, *said: str) -> list[RatedLine]:
    reader = LineReader(contradiction.build(), RuleAnalyzer())
    hits = measured(question, [hit(text, days=place) for place, text in enumerate(said)])
    return reader.lines(hits, reader.question(question, hits)) or []


def test_a_noun_at_the_beginning_of_a_sentence_is_no_person() -> None:
    said = ("The soup is a cream of leek.", "Leek's got too dear. It's pumpkin instead.")
    assert lines("Which soup do we serve?", *said)[1].matter.persons == frozenset()
    assert lines("Which soup do we serve?", "The soup is pea.", said[1])[1].matter.persons == {"leek"}
    assert lines("Which soup do we serve?", said[0], "I met Leek.", said[1])[2].matter.persons == {"leek"}


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
        (
            "How often does Ida take her drops?",
            "Ida takes her drops every day.",
            "The nurse says every third day is enough drops.",
        ),
        ("How many weeks of notice do I have?", "I have eleven weeks of notice.", "After the merger it's seven weeks."),
        ("When is lights-out?", "Lights-out is at half past nine.", "They weren't sleepy, we turn in at ten instead."),
        ("Who is our treasurer?", "Olaf is our treasurer.", "Olaf wants to travel, so Greet stepped up as treasurer."),
    ],
)
def test_a_new_state_goes_before_the_one_that_it_does_not_name(question: str, older: str, newer: str) -> None:
    assert first(question, older, newer) == newer


def test_what_a_pronoun_means_may_stand_before_it_in_the_same_message() -> None:
    said = ("The wedding is on 14 June.", "Sorry, I misread the audit mail; it has to be done by 12 May.")
    assert first("When is the wedding?", *said) == said[0]


def test_a_pronoun_with_the_occasion_in_question_tells_what_it_is_now() -> None:
    question, reader = "What are we staging at Whitsun?", LineReader(contradiction.build(), RuleAnalyzer())
    texts = (
        "We're staging the Molnar at Whitsun.",
        "Nobody liked it, so it's the Goldoni at Whitsun.",
        "Nobody was free, so it's the quiz in autumn.",
    )
    hits = measured(question, [hit(text, days=place) for place, text in enumerate(texts)])
    asked = reader.question(question, hits)
    older, newer, other = reader.lines(hits, asked) or []
    updates = PlainUpdates((older, newer, other), asked)
    assert updates.continues(newer, older)
    assert not updates.continues(other, older)
