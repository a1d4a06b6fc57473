"""Every signal of the ranking says what it is named for, and can be switched off."""

from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest

from biem.domain.policies.ranking import SignalWeights
from biem.engine.query.question import Query, Sentence
from biem.engine.recall.rank.pool import Candidate
from biem.engine.recall.rank.score import NAMES
from tests.support.fakes import START
from tests.support.pools import ASIDE, FAR, HALF, HOTEL, NEAR, OFF, OTHERS, POLICY, X, query, ranked, turn, unit

Case = tuple[Query, list[Candidate]]


def _words_around(more: bool) -> Case:
    return HOTEL, [turn(X, "it was lovely", 1), turn("n", "the paris hotel" if more else "the old barn", 2)]


def _reply(more: bool) -> Case:
    return HOTEL, [turn("q", "which hotel in paris", 1, asks=more), turn(X, "the lilac", 2)]


def _session_words(more: bool) -> Case:
    where = "one" if more else "two"
    return HOTEL, [turn(X, "the lilac", 1), turn("y", "paris hotel", 9, conversation=where)]


def _dense_around(more: bool) -> Case:
    return HOTEL, [turn(X, "the lilac", 1, HALF), turn("n", "yes", 2, NEAR if more else FAR), *OTHERS]


def _hub(more: bool) -> Case:
    crowd = [turn(f"t{number}", "talk", 10 * number, ASIDE) for number in range(4)]
    return HOTEL, [turn(X, "the lilac", 90, ASIDE if more else NEAR), *crowd]


def _session_dense(more: bool) -> Case:
    return HOTEL, [turn(X, "the lilac", 1, HALF), turn("n", "yes", 9, NEAR if more else FAR), *OTHERS]


def _session_dense3(more: bool) -> Case:
    session = [turn(X, "the lilac", 1, NEAR), turn("n", "yes", 9, HALF), turn("m", "no", 19, HALF if more else FAR)]
    return HOTEL, [*session, *OTHERS]


def _several() -> Query:
    first = Sentence(["old", "barn"], NEAR, asked=False)
    return query("old barn paris hotel", NEAR, [first, Sentence(["paris", "hotel"], unit(0, 1, 0), asked=True)])


def _sentence_dense(more: bool) -> Case:
    return _several(), [turn(X, "the lilac", 1, unit(0, 1, 0.2) if more else ASIDE), *OTHERS]


def _sentence_words(more: bool) -> Case:
    return _several(), [turn(X, "a hotel" if more else "a barn", 1), turn("y", "paris hotel", 9), *OTHERS]


def _longer(more: bool) -> Case:
    return HOTEL, [turn(X, "so " * (30 if more else 3), 1), *OTHERS]


def _longer_than_own(more: bool) -> Case:
    own, other = ("well", "well " * 40) if more else ("well " * 40, "well")
    return HOTEL, [turn(X, "so " * 9, 1), turn("a", own, 5), turn("b", other, 9, speaker="Bob")]


def _short(more: bool) -> Case:
    return HOTEL, [turn(X, "so" if more else "so " * 20, 1), *OTHERS]


def _opening(more: bool) -> Case:
    return HOTEL, [turn(X, "hello", 1, opening=more), *OTHERS]


def _opening_to_machine(more: bool) -> Case:
    answer = turn("a", "a lilac", 2, speaker="assistant" if more else "Bob")
    return HOTEL, [turn(X, "hello", 1, opening=True), answer, *OTHERS]


def _speaker(more: bool) -> Case:
    return query("what did bob eat"), [turn(X, "soup", 1, speaker="Bob" if more else "Ann"), *OTHERS]


def _machine(more: bool) -> Case:
    return HOTEL, [turn(X, "soup", 1, speaker="assistant" if more else "Ann"), *OTHERS]


def _dated(text: str, more: bool) -> Case:
    inside = turn("inside", "soup", 9, at=datetime.fromisoformat("2026-03-05T12:00:00Z"))
    at = "2026-03-05T09:00:00Z" if more else "2026-01-03T09:00:00Z"
    return query(text), [turn(X, "soup", 1, at=datetime.fromisoformat(at)), inside, *OTHERS]


def _when(more: bool) -> Case:
    return _dated("what did I eat in March", more)


def _day(more: bool) -> Case:
    return _dated("what did I eat on March 5", more)


def _bridge(more: bool) -> Case:
    seed = turn("seed", "paris hotel called lilac", 9)
    return query("paris hotel price"), [turn(X, "lilac price" if more else "old price", 1), seed, *OTHERS]


def _standing(**fields: Any) -> Callable[[bool], Case]:
    """A pool whose turn has these fields, or not."""
    return lambda more: (HOTEL, [turn(X, "the lilac", 1, **(fields if more else {})), *OTHERS])


def _older(more: bool) -> Case:
    days = 0 if more else 60
    return HOTEL, [turn(X, "the lilac", 1, at=START - timedelta(days=days)), *OTHERS]


def _written_before(more: bool) -> Case:
    return HOTEL, [turn(X, "the lilac", 1, later=0 if more else 5), *OTHERS]


CASES: dict[str, Callable[[bool], Case]] = {
    "words_around": _words_around, "reply": _reply, "session_words": _session_words, "dense_around": _dense_around,
    "hub": _hub, "session_dense": _session_dense, "session_dense3": _session_dense3,
    "sentence_dense": _sentence_dense, "sentence_words": _sentence_words, "longer": _longer,
    "longer_than_own": _longer_than_own, "short": _short, "opening": _opening,
    "opening_to_machine": _opening_to_machine, "speaker": _speaker,
    "machine": _machine, "when": _when, "day": _day, "bridge": _bridge,
    "importance": _standing(importance=5.0), "frequency": _standing(accesses=9), "energetic": _standing(energy=0.8),
    "recent": _older, "mirror": _written_before,
}  # fmt: skip


def test_every_signal_has_its_case() -> None:
    assert set(CASES) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_more_of_a_signal_moves_the_score_its_way(name: str) -> None:
    # Given only this signal counts, and two pools that differ in what it measures
    weight = asdict(SignalWeights())[name] or 1.0  # what is off by default still measures
    only = replace(POLICY, weights=replace(OFF, **{name: weight}))

    # When both are ranked
    less, more = (
        found.scores[[one.id for one in pool].index(X)]
        for pool, found in (
            (pool, ranked(asked, pool, only)) for asked, pool in (CASES[name](False), CASES[name](True))
        )
    )

    # Then the score moves by the sign of its weight
    assert (more - less) * weight > 1e-3


@pytest.mark.req("X1", partly="BM25")
@pytest.mark.parametrize("name", NAMES)
def test_a_weight_of_zero_switches_just_this_signal_off(name: str) -> None:
    # Given a pool in which the signal speaks
    asked, pool = CASES[name](True)
    weights = asdict(POLICY.weights)
    weights[name] = weights[name] or 1.0
    with_it = ranked(asked, pool, replace(POLICY, weights=SignalWeights(**weights)))

    # When its weight is 0
    without = ranked(asked, pool, replace(POLICY, weights=replace(POLICY.weights, **{name: 0.0})))

    # Then every score lacks its part and nothing else, and no reason names it
    part = with_it.signals[:, NAMES.index(name)] * weights[name]
    assert without.scores == pytest.approx(with_it.scores - part)
    assert np.abs(part).max() > 1e-3
    assert all(name not in without.why(index) for index in range(len(pool)))
    assert any(name in with_it.why(index) for index in range(len(pool)))


@pytest.mark.parametrize(("of_program", "value"), [(0, 0.0), (1, 0.5), (2, 1.0), (3, 1.0)])
def test_what_opens_a_talk_counts_as_far_as_a_program_takes_part(of_program: int, value: float) -> None:
    # Given four turns, some of them a program's / When the first is looked at / Then half of them is all it takes
    speakers = ["assistant"] * of_program + ["Ann"] * (4 - of_program)
    pool = [turn(f"t{at}", "so", at, speaker=speaker, opening=at == 0) for at, speaker in enumerate(reversed(speakers))]
    found = ranked(HOTEL, pool).signals[:, NAMES.index("opening_to_machine")]
    assert found.tolist() == [value, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("text", ["what did we eat on 5 May", "5月5日吃了什么"])
def test_a_date_without_a_year_favours_the_newest_year_and_does_not_lose_the_others(text: str) -> None:
    # Given the same said on 5 May of two years, and on another day after each
    said = {
        "old": "2025-05-05T12:00:00Z",
        "old, beside": "2025-07-20T12:00:00Z",
        "new": "2026-05-05T12:00:00Z",
        "new, beside": "2026-07-20T12:00:00Z",
    }
    pool = [turn(key, "soup", 10 * n, at=datetime.fromisoformat(at)) for n, (key, at) in enumerate(said.items())]

    # When a user asks about 5 May / Then the newest comes first, and the older one next
    found = ranked(query(text), pool, replace(POLICY, weights=replace(OFF, when=1.0, day=1.0)))
    assert [pool[place].id for place in found.order][:2] == ["new", "old"]
    assert found.scores[0] > found.scores[1] + 0.5


def test_of_a_question_whose_words_no_one_said_its_time_decides() -> None:
    # Given one turn of the day that is asked for, unlike the question, and a later one like it
    day, other = (datetime.fromisoformat(f"2026-{month}-01T12:00:00Z") for month in ("05", "06"))
    pool = [turn("that day", "the rash", 1, FAR, at=day), turn("another", "the barn", 20, NEAR, at=other), *OTHERS]
    # When a question names the day and nothing that was said / Then what was said that day is shown first
    found = ranked(query("what did I write on 1 May?", NEAR), pool, POLICY)
    assert pool[found.order[0]].id == "that day"
