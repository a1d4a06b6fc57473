"""Why a hit is there, for people: true to the signals."""

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from biem.adapters.analyzers import RuleAnalyzer
from biem.domain.policies.ranking import RankPolicy, SignalWeights
from biem.domain.policies.recall import RecallPolicy
from biem.engine.recall.rank import reasons as phrases
from biem.engine.recall.rank.pool import Found
from biem.engine.recall.rank.ranker import Answer, Ranker
from biem.engine.recall.rank.score import rank
from biem.ports.readers import Turn, Turns
from tests.support.fakes import START, WordEmbedder

ANALYZER, EMBEDDER = RuleAnalyzer(), WordEmbedder()
DEFAULT = RankPolicy()
TALK = (
    ("Ann", "I am allergic to peanuts"),
    ("Bob", "The train to Oslo was late"),
    ("Ann", "We had soup for lunch"),
    ("Bob", "My bicycle needs new brakes"),
    ("Ann", "Li Ming moved to Hamburg in May"),
    ("Bob", "The garden is full of snails"),
)


def turn(number: int, speaker: str, text: str, **values: Any) -> Turn:
    said = f"{speaker}: {text}"
    vector = EMBEDDER.embed([said], "passage")[0]
    return Turn(
        str(number), "ns", ANALYZER.lexemes(said), vector, "event", speaker, f"talk{number}",
        START + timedelta(days=number), number, False, True, None, None,
    )._replace(**values)  # fmt: skip


def answer(question: str, policy: RankPolicy = DEFAULT, *, together: bool = False, **changes: Any) -> Answer:
    """`together`: the turns are two conversations of three turns each."""
    turns = [turn(number, speaker, text) for number, (speaker, text) in enumerate(TALK)]
    stretches: list[tuple[str, ...]] = []
    if together:
        turns = [
            one._replace(
                conversation=f"talk{place // 3}", at=START + timedelta(days=2 - 2 * (place // 3), minutes=place)
            )
            for place, one in enumerate(turns)
        ]
        stretches = [tuple(one.id for one in turns[start : start + 3]) for start in (0, 3)]
    answerer = Ranker(ANALYZER, EMBEDDER.similarity, RecallPolicy(), policy)
    asked = answerer.asked(question)
    vectors = EMBEDDER.embed(asked.texts, "query")
    found = Found(vector=vectors[0], parts=list(vectors[1:]), **changes)
    pool = Turns({one.id: one for one in turns}, stretches, frozenset())
    return answerer.answer(asked, pool, found, {}, now=START + timedelta(days=90), top_k=5, order=rank)


def best(found: Answer) -> tuple[str, float, tuple[str, ...]]:
    """Text of the first, its score above the pool's mean, and its reasons."""
    place = found.ranked.order[0]
    key = found.ordering.candidates[place].id
    lead = float(found.ranked.scores[place] - np.mean(found.ranked.scores))
    return TALK[int(key)][1], lead, found.reasons(place, found.likeness(found.vectors([key])).get(key))


def written(question: str, words: dict[str, str], terms: Iterable[str]) -> list[str]:
    """These terms as the phrases of an answer to this question show them."""
    return phrases.Reasons(answer(question).ranked, question, words, (), chinese=True)._written(terms)


def without(*signals: str) -> RankPolicy:
    return replace(RankPolicy(), weights=replace(SignalWeights(), **dict.fromkeys(signals, 0.0)))


@pytest.mark.parametrize(
    ("question", "text", "reason", "signals"),
    [
        ("Who is allergic to peanuts?", "I am allergic to peanuts", "has your words: allergic, peanuts",
         ("sentence_words", "words_around", "session_words")),
        ("Where did Li Ming move?", "Li Ming moved to Hamburg in May", "names Li Ming",
         ("sentence_words", "words_around", "session_words")),
        ("What did Ann say on 9 May 2026?", "We had soup for lunch", "said on the day you ask about", ("day",)),
    ],
)  # fmt: skip
def test_without_the_cause_that_it_names_a_hit_falls(
    question: str, text: str, reason: str, signals: tuple[str, ...]
) -> None:
    if "day" in signals:
        day = START + timedelta(days=2)
        question = f"What did Ann say on {day.day} {day:%B} {day.year}?"
    # Given the best hit of a question and what it rests on
    told, lead, reasons = best(answer(question))
    assert told == text
    assert reason in reasons
    assert len(reasons) <= 3

    # When the signals of one reason have no weight / Then it stands lower, and the reason is not named
    found = answer(question, without(*signals))
    place = next(p for p in found.ranked.order if TALK[int(found.ordering.candidates[p].id)][1] == text)
    assert float(found.ranked.scores[place] - np.mean(found.ranked.scores)) < lead
    assert reason not in found.reasons(place, None)


def test_a_link_is_named_and_without_it_the_hit_falls() -> None:
    # Given a memory that links lead to / When they do not / Then it stands lower and says nothing of it
    linked, alone = (answer("What grows outside?", activation=found) for found in ({"5": 1.0}, {}))
    place = next(p for p, one in enumerate(linked.ordering.candidates) if one.id == "5")
    assert "linked with another hit" in linked.reasons(place, None)
    assert linked.ranked.scores[place] > alone.ranked.scores[place]
    assert "linked with another hit" not in alone.reasons(place, None)


def test_a_chinese_question_has_chinese_reasons() -> None:
    _, _, reasons = best(answer("谁对 peanuts 过敏？"))
    assert any("peanuts" in reason for reason in reasons)
    assert all(any("\u4e00" <= c <= "\u9fff" for c in reason) for reason in reasons)


EVERY = (
    "Who is allergic to peanuts?", "Was the train late?", "What did Bob say about his bicycle?", "What did Ann eat?",
    "When did Li Ming move to Hamburg?", "What is in the garden?", "What was said on 9 May 2026?",
    "谁对 peanuts 过敏？",
)  # fmt: skip


@pytest.mark.parametrize("together", [False, True])
def test_no_phrase_names_what_does_not_lift_its_hit(together: bool) -> None:
    # Given every phrase of every hit of several questions, in a talk where the words of some stand in the turn before
    seen = set()
    for question in EVERY:
        found = answer(question, together=together)
        for place in found.ranked.order:
            key = found.ordering.candidates[place].id
            lead = float(found.ranked.scores[place] - np.mean(found.ranked.scores))
            worded = bool(set(found.asked.words).intersection(found.turns[key].lexemes))
            behind = phrases.signals_of(found.ranked.pool, place, worded=worded)
            for cause in causes(found.reasons(place, found.likeness(found.vectors([key])).get(key))):
                # When the signals behind one have no weight / Then the hit stands lower above the others
                fallen = answer(question, without(*behind[cause]), together=together)
                [same] = [p for p, one in enumerate(fallen.ordering.candidates) if one.id == key]
                assert float(fallen.ranked.scores[same] - np.mean(fallen.ranked.scores)) < lead, (question, key, cause)
                seen.add(cause)
    assert seen >= {"meaning", "words", "speaker", "beside" if together else "day"}


def test_what_names_something_of_the_question_comes_before_likeness() -> None:
    # Given a hit that has the question's words and means much the same / Then it says so in this order
    _, _, told = best(answer("Who is allergic to peanuts?", together=True))
    assert told[0] == "has your words: allergic, peanuts"
    assert told[1:] in [("close in meaning to what you ask",), ("from a conversation about it",)]


def test_neighbours_of_what_was_asked_show_the_words_around_them() -> None:
    # Given a turn without a word of the question, between turns that have some
    found = answer("Who is allergic to peanuts?", together=True)
    [place] = [p for p, one in enumerate(found.ordering.candidates) if one.id == "1"]
    assert "said around your words: allergic, peanuts" in found.reasons(place, None)

    # When each stands alone / Then it was said around nothing
    alone = answer("Who is allergic to peanuts?")
    assert all("around" not in told for place in alone.ranked.order for told in alone.reasons(place, None))


def test_a_speaker_is_no_word_and_a_part_of_a_word_is_not_shown_beside_it() -> None:
    # Given a question that names who speaks / Then the hit was said by Bob and does not name him
    _, _, told = best(answer("What did Bob say about his bicycle?"))
    assert told[:2] == ("has your words: bicycle", "said by Bob, whom you name")
    # Given index terms that are parts of others, or overlap / Then they are shown as the question writes them
    words = {"旅": "旅", "旅馆": "旅馆", "葡萄": "葡萄", "萄牙": "萄牙"}
    assert written("葡萄牙的旅馆？", words, words) == ["旅馆", "葡萄牙"]
    # Given index terms of words that ask / Then they are no reason, unless they also stand elsewhere
    for question, terms, shown in (
        ("什么时候出发？", ["什么", "么时", "时候", "候出", "出发"], ["出发"]),
        ("几号出发？", ["几号", "号出", "出发"], ["出发"]),
        ("那时候去哪里？", ["时候", "哪里"], ["时候"]),
    ):
        assert written(question, {term: term for term in terms}, terms) == shown


def causes(told: tuple[str, ...]) -> list[str]:
    """The causes of phrases, by the words with which they begin."""
    same = {"same": "meaning", "names": "words", "around": "beside"}
    begins = [
        (same.get(name, name), text.partition("{}")[0])
        for language in phrases._PHRASES.values()
        for name, text in language.items()
        if same.get(name, name) in phrases._SIGNALS
    ]
    return [cause for one in told for cause, begin in begins if one.startswith(begin)]


def test_the_docs_list_every_phrase_in_both_languages() -> None:
    page = (Path(__file__).parents[5] / "docs" / "concepts.md").read_text(encoding="utf-8")
    section = page.split("### Why a hit is there")[1].split("### ")[0]
    rows = [[cell.strip() for cell in row.split("|")[1:4]] for row in section.splitlines() if row.startswith("| ")]
    listed = {(english, chinese) for english, chinese, _ in rows}
    for name, english in phrases._PHRASES["en"].items():
        both = [re.escape(text).replace(r"\{\}", ".+") for text in (english, phrases._PHRASES["zh"][name])]
        assert any(all(map(re.fullmatch, both, row)) for row in listed), english
