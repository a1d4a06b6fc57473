"""What changes an order next to the signals: links, conflicts, and what holds no more."""

import math
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest

from biem.domain.conflict import Dispute
from biem.domain.policies.ranking import RankPolicy
from biem.domain.policies.recall import RecallPolicy
from biem.engine.query.question import Query
from biem.engine.recall.rank.adjustments import Adjustments
from biem.engine.recall.rank.pool import Candidate, Found
from biem.engine.recall.rank.score import rank
from biem.ports import Vector
from biem.ports.readers import Turn, Turns
from tests.support.fakes import START

POLICY = RecallPolicy(activation_weight=0.5, conflict_penalty=1.0, superseded_penalty=3.0)


def turn(key: str, *, minute: int = 0, **values: Any) -> Turn:
    row: dict[str, Any] = {
        "ns": "n", "lexemes": (key,), "vector": None, "kind": "knowledge", "speaker": "", "conversation": "",
        "at": START + timedelta(minutes=minute), "write_seq": minute, "asks": False, "matches": True,
        "valid_to": None, "superseded_by": None,
    } | values  # fmt: skip
    return Turn(id=key, **row)


def ordering(*turns: Turn, found: Found | None = None, now: datetime = START, **more: Any) -> Adjustments:
    given = Turns({one.id: one for one in turns}, more.get("stretches", ()), more.get("openings", frozenset()))
    former = more.get("former", False)
    times = more.get("times", ())
    return Adjustments(given, found or Found(), more.get("conflicts", {}), POLICY, now, times=times, former=former)


def adjusted(made: Adjustments, **scores: float) -> dict[str, float]:
    """Scores after adjusting, by id."""
    before = np.array([scores[one.id] for one in made.candidates])
    return dict(zip([one.id for one in made.candidates], made.adjusted(before).tolist(), strict=True))


def test_neighbours_have_consecutive_places_and_stretches_are_apart() -> None:
    # Given two stretches that overlap, and one of another conversation
    made = ordering(
        *(turn(key, minute=n, conversation="c") for n, key in enumerate("abcde")),
        turn("x", minute=2, conversation="d"),
        turn("fact"),
        stretches=[("a", "b", "c"), ("b", "c", "d"), ("x",)],
        openings=frozenset({"a"}),
    )

    # When their places are looked at
    place = {one.id: one.seq for one in made.candidates}

    # Then a to d are neighbours and no one else is
    assert [place[key] - place["a"] for key in "abcd"] == [0, 1, 2, 3]
    assert all(abs(place[one] - place[other]) > 2 for one in ("e", "x", "fact") for other in "abcd")
    assert [one.id for one in made.candidates if one.opening] == ["a"]
    assert len({one.conversation for one in made.candidates}) == 3  # a fact stands for itself


@pytest.mark.req("X1", partly="spreading and conflicts change the order")
def test_links_raise_and_open_conflicts_lower_a_score_and_why_says_so() -> None:
    # Given a memory that links lead to, and one in an open conflict
    made = ordering(
        turn("led"),
        turn("doubted"),
        found=Found(activation={"led": 0.6}),
        conflicts={"doubted": [Dispute(0.5, "elsewhere"), Dispute(0.4)]},
    )

    # When the scores are adjusted / Then by their weights
    assert adjusted(made, led=1.0, doubted=1.0) == pytest.approx({"led": 1.3, "doubted": 0.5})
    assert made.why("led") == {"activation": pytest.approx(0.3)}
    assert made.why("doubted") == {"conflict": pytest.approx(-0.5), "disputed_by": "elsewhere", "disputed_since": ""}


@pytest.mark.req("C9", partly="what nobody has decided")
def test_of_two_that_disagree_the_newer_is_shown_first_and_the_other_says_by_what_it_is_disputed() -> None:
    # Given a memory that a newer one disputes, and that one yet another
    made = ordering(
        turn("old", minute=1),
        turn("new", minute=2),
        turn("newest", minute=3),
        conflicts={"new": [Dispute(0.8, "newest")], "old": [Dispute(0.5, "new")], "newest": [Dispute(0.8)]},
    )

    # When the oldest matches best / Then the newest is first all the same, the others follow, and nothing is left out
    scores = adjusted(made, old=5.0, new=1.0, newest=0.0)
    assert scores == pytest.approx({"newest": 5.0, "old": 4.5, "new": 4.2})
    assert made.why("old") == {"conflict": pytest.approx(-0.5), "disputed_by": "new", "disputed_since": ""}
    assert all(made.is_answer(place) for place in range(3))


def test_what_is_disputed_only_in_part_says_which() -> None:
    made = ordering(turn("old"), turn("new"), conflicts={"old": [Dispute(0.8, "new", claim="周三上课")]})
    adjusted(made, old=5.0, new=1.0)

    assert made.why("old")["disputed_claim"] == "周三上课"


def test_as_of_a_day_before_it_was_disputed_a_memory_stands() -> None:
    # Given a memory that something disputes that was said later / When asked as of before / Then nothing was against it
    dispute = Dispute(0.8, "new", START + timedelta(hours=1))
    made = ordering(turn("old"), turn("new"), conflicts={"old": [dispute]})
    assert adjusted(made, old=5.0, new=1.0) == pytest.approx({"old": 5.0, "new": 1.0})


@pytest.mark.req("C9", partly="the penalty in recall")
def test_what_replaced_a_memory_inherits_its_score_and_the_replaced_falls() -> None:
    # Given a message replaced by a fact that was replaced in turn
    ended = START - timedelta(days=1)
    made = ordering(
        turn("old", kind="event", valid_to=ended, superseded_by="middle"),
        turn("middle", valid_to=ended, superseded_by="new"),
        turn("new"),
    )

    # When the oldest matches best / Then the newest has its score, and only the replaced fact is no answer
    scores = adjusted(made, old=5.0, middle=1.0, new=0.5)
    assert scores["new"] == pytest.approx(5.0)
    assert scores["old"] == pytest.approx(2.0)
    assert {one.id: made.is_answer(place) for place, one in enumerate(made.candidates)} == {
        "old": True,
        "middle": False,
        "new": True,
    }
    assert made.why("new") == {"inherited": pytest.approx(4.5)}


@pytest.mark.req("B28", partly="beside its sources")
def test_a_digest_stands_behind_those_of_its_sources_that_speak_for_themselves() -> None:
    # Given a digest of four memories: one is no candidate, one holds no more, and one stands only next to an answer
    made = ordering(
        turn("digest", sources=["a", "b", "gone", "ended", "beside"]),
        turn("a"),
        turn("b"),
        turn("ended", valid_to=START - timedelta(days=1)),
        turn("beside", matches=False),
    )

    # When it matches best / Then it comes right after the two that speak
    scores = adjusted(made, digest=5.0, a=4.0, b=2.0, ended=1.0, beside=0.0)
    assert scores["a"] > scores["b"] > scores["digest"] > scores["b"] - 0.01
    assert made.why("digest") == {"repeats": pytest.approx(-3.0, abs=0.01)}

    # And where none of them does, or it matches less, it keeps its score
    alone = ordering(turn("digest", sources=["a", "gone"]), turn("other"))
    assert adjusted(alone, digest=5.0, other=1.0)["digest"] == pytest.approx(5.0)
    below = ordering(turn("digest", sources=["a"]), turn("a"))
    assert adjusted(below, digest=1.0, a=4.0)["digest"] == pytest.approx(1.0)


def test_as_of_an_earlier_instant_nothing_had_ended_yet() -> None:
    # Given a fact that ended yesterday / When it is asked for as of the day before / Then it stands
    ended = START - timedelta(days=1)
    made = ordering(turn("old", valid_to=ended, superseded_by="new"), turn("new"), now=ended - timedelta(hours=1))
    assert adjusted(made, old=5.0, new=0.5) == pytest.approx({"old": 5.0, "new": 0.5})
    assert all(made.is_answer(place) for place in range(2))


@pytest.mark.req("C9", partly="what held at a time that the question names")
def test_asked_of_a_time_what_held_to_its_end_is_neither_replaced_nor_disputed() -> None:
    # Given a fact that was replaced, and one that was disputed, on the last day of a month
    ended = START - timedelta(days=20)
    turns = [
        turn("old", at=START - timedelta(days=40), valid_to=ended, superseded_by="new"),
        turn("said", at=START - timedelta(days=40)),
        turn("new", at=ended),
    ]
    conflicts = {"said": [Dispute(0.8, "new", ended)]}

    def asked(first: int, last: int) -> Adjustments:
        span = (START - timedelta(days=first), START - timedelta(days=last))
        return ordering(*turns, conflicts=conflicts, times=[span])

    # When a question names days before that / Then both stand, and the one still says until when
    then = asked(30, 25)
    assert adjusted(then, old=5.0, said=4.0, new=0.5) == pytest.approx({"old": 5.0, "said": 4.0, "new": 0.5})
    assert all(then.is_answer(place) for place in range(3))
    assert then.why("old") == {"held_until": ended.isoformat()}

    # And not where it names days on which they ended, or before they were said
    for first, last in ((25, 15), (10, 5), (60, 50)):
        other = adjusted(asked(first, last), old=5.0, said=4.0, new=0.5)
        assert other["new"] == pytest.approx(5.0)
        assert other["old"] == pytest.approx(2.0)
        assert other["said"] < 4.0


def test_asked_what_was_before_it_stands_right_behind_what_is() -> None:
    # Given a fact that was replaced and matches best, and one that ended without a successor
    ended = START - timedelta(days=1)
    turns = [
        turn("old", valid_to=ended, superseded_by="new"),
        turn("new"),
        turn("gone", valid_to=ended),
        turn("other"),
    ]
    made = ordering(*turns, former=True)

    # When a question says that it asks for what was before / Then all may be told, what holds first
    scores = adjusted(made, old=5.0, new=0.5, gone=2.0, other=1.0)
    assert scores["new"] == pytest.approx(5.0)
    assert 4.9 < scores["old"] < 5.0
    assert scores["gone"] == pytest.approx(2.0)
    assert all(made.is_answer(place) for place in range(4))
    assert made.why("old") == {"held_until": ended.isoformat()}

    # And else only what holds
    assert sum(ordering(*turns).is_answer(place) for place in range(4)) == 2


def test_context_is_no_answer() -> None:
    # Given a turn that is there only next to another one / When answers are chosen / Then it is none
    made = ordering(turn("beside", matches=False))
    assert not made.is_answer(0)


def test_cosines_that_hardly_differ_do_not_overrule_the_one_turn_that_has_the_word() -> None:
    # Given many turns of nearly the same meaning, of which the least alike has the word that is asked for
    query = np.array([1.0, 0.0], dtype=np.float32)
    turns = [Candidate(str(n), ("filler", f"other{n}"), _toward(0.40), "", str(n), 10 * n, START) for n in range(20)]
    turns.append(Candidate("exact", ("filler", "wanted"), _toward(0.39), "", "x", 1_000, START))

    # When they are ranked / Then it comes first
    ranked = rank(Query("wanted", ["wanted"], query), turns, {"": []}, RankPolicy())
    assert turns[ranked.order[0]].id == "exact"


def _toward(cosine: float) -> Vector:
    return np.array([cosine, math.sqrt(1 - cosine**2)], dtype=np.float32)
