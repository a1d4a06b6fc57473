"""What a query pins down, and what the default recall drops because of it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.adapters.analyzers import RuleAnalyzer
from biem.domain.anchors import anchor_score, binding, is_rival, names_a_bound, shares_anchor
from biem.domain.fields import Fields
from biem.domain.policies.aim import AimPolicy, FieldWeights
from biem.domain.scope import Scope
from biem.engine.recall.rank.anchors import NO_ANCHORS, Anchors
from biem.errors import StoreUnavailable
from biem.ports.aim import Anchored
from biem.ports.readers import Turn, Turns
from biem.telemetry import Telemetry

SCOPE = Scope(user="anchors")
ANALYZER = RuleAnalyzer()
words = st.lists(st.sampled_from(["a", "b", "C", "10M", "v2"]), max_size=4).map(tuple)
fields = st.builds(Fields, numbers=words, names=words, definitions=words, symbols=words)


@pytest.mark.req("A11")
@pytest.mark.parametrize(
    ("asked", "held", "score"),
    [
        (Fields(numbers=("10M",), names=("Ada",)), Fields(numbers=("10M", "3"), names=("ada", "Bo")), 1.0),
        (Fields(numbers=("10M",)), Fields(numbers=("10K", "10"), names=("10M",)), 0.0),
        (Fields(numbers=("10M", "128K")), Fields(numbers=("128K",)), 0.5),
        (Fields(numbers=("10M",), names=("Ada",)), Fields(names=("Ada",)), 2.0 / 5.0),
        (Fields(), Fields(numbers=("10M",)), 0.0),
    ],
)
def test_the_anchor_score_is_the_weighted_share_of_what_is_asked(asked: Fields, held: Fields, score: float) -> None:
    assert anchor_score(asked, held, FieldWeights()) == pytest.approx(score)


@given(asked=fields, held=fields)
def test_an_anchor_score_lies_in_the_unit_interval_and_is_full_for_the_same(asked: Fields, held: Fields) -> None:
    assert 0.0 <= anchor_score(asked, held, FieldWeights()) <= 1.0
    assert anchor_score(asked, asked, FieldWeights()) == (1.0 if asked != Fields() else 0.0)
    assert not (is_rival(asked, held) and shares_anchor(asked, held))


@pytest.mark.req("C11", "X27", partly="which numbers name one thing")
@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("10M tokens 的模型", ("10M",)),
        ("Who paid $99 for 3 kg?", ("$99", "3kg")),
        ("the 128K and the 10 models", ("128K",)),
        ("order 4815162342", ("4815162342",)),
        ("last 3 days", ()),
        ("5月2号和 2024-05-02 的事", ()),
        ("What happened in May 2023 at 15:30?", ()),
        ("两周前说了什么", ()),
    ],
)
def test_times_and_plain_counts_bind_nothing(query: str, numbers: tuple[str, ...]) -> None:
    assert binding(ANALYZER.analyze(query).fields, "exact").numbers == numbers


@pytest.mark.parametrize(
    ("asked", "rival", "stranger"),
    [
        (Fields(numbers=("10M",)), Fields(numbers=("128K",)), Fields(numbers=("3kg",))),
        (Fields(numbers=("176cm",)), Fields(numbers=("163cm",)), Fields(numbers=("176",))),
        (Fields(numbers=("13239951802",)), Fields(numbers=("13239951803",)), Fields(numbers=("12345",))),
        (Fields(symbols=("v1.2",)), Fields(symbols=("v1.3",)), Fields(symbols=("a@b.org",))),
        (Fields(symbols=("a@b.org",)), Fields(symbols=("c.d@e.com",)), Fields(symbols=("α",))),
    ],
)
def test_a_rival_says_another_value_of_the_same_kind(asked: Fields, rival: Fields, stranger: Fields) -> None:
    assert is_rival(asked, rival)
    assert not is_rival(asked, stranger)
    assert not is_rival(asked, asked)
    assert not is_rival(asked, Fields())


@pytest.mark.parametrize(
    ("query", "bound"),
    [
        ("身高160cm以下的人", True),
        ("runs of more than 5 km", True),
        ("the 5 km run", False),
        ("10M tokens 的模型", False),
    ],
)
def test_a_bound_is_recognised(query: str, bound: bool) -> None:
    assert names_a_bound(query) is bound


class Known:
    """The part of `AimRecords` that knows fields."""

    def __init__(self, **held: Anchored) -> None:
        self.held = held
        self.asked = 0
        self.failure: Exception | None = None

    def anchors(self, scopes: Sequence[Scope], ids: Sequence[str]) -> Mapping[str, Anchored]:
        self.asked += 1
        if self.failure:
            raise self.failure
        return {key: self.held[key] for key in ids if key in self.held}


def anchors(known: Known, **policy: Any) -> Anchors:
    return Anchors(
        records=known,  # type: ignore[arg-type]
        analyzer=ANALYZER,
        policy=replace(AimPolicy(), **policy),
        telemetry=Telemetry(),
    )


@pytest.fixture
def known() -> Known:
    """What was asked for, another value, no value, and a text that no one analysed yet."""
    return Known(
        asked=Anchored(Fields(numbers=("10M",)), None, 3),
        other=Anchored(Fields(numbers=("128K",)), None, 1),
        none=Anchored(Fields(), None, 0),
        fresh=Anchored(Fields(), "It reads 10M tokens", 0),
    )


IDS = ("asked", "other", "none", "fresh")
QUERY = "10M tokens 的模型"


@pytest.mark.req("X1", partly="anchors")
@pytest.mark.req("C11", partly="how strict the default recall is")
@pytest.mark.parametrize(
    ("which", "dropped"),
    [("off", set()), ("rival", {"other"}), ("exact", {"other", "none"}), ("all", {"other", "none"})],
)
def test_each_filter_drops_what_it_says(known: Known, which: str, dropped: set[str]) -> None:
    assert anchors(known, anchor_filter=which).of(SCOPE, QUERY, IDS).dropped == dropped


def test_nothing_is_dropped_where_no_one_has_it_or_it_is_a_bound_or_long_talk(known: Known) -> None:
    judge = anchors(known)
    for query in ("12M tokens", "超过10M的模型", QUERY + " and then we spoke of ships and shoes and sealing wax and" +
                  " cabbages and kings while pigs with wings looked boiling hot from seas"):  # fmt: skip
        assert judge.of(SCOPE, query, IDS).dropped == frozenset()


def test_a_question_of_seventeen_terms_is_talk_and_one_of_sixteen_looks_something_up(known: Known) -> None:
    words, dropped = (
        "ships shoes wax cabbages kings pigs wings seas boats hats nails doors lamps roads clocks trees",
        {},
    )
    for count in range(16):
        query = " ".join([QUERY, *words.split()[:count]])
        dropped[len(set(ANALYZER.lexemes(query)))] = anchors(known).of(SCOPE, query, IDS).dropped
    assert dropped[16] == {"other"}
    assert dropped[17] == frozenset()


def test_records_are_asked_only_about_queries_with_anchors_and_an_outage_drops_nothing(known: Known) -> None:
    judge = anchors(known)
    assert judge.of(SCOPE, "Where is the hotel in May 2023?", IDS) == NO_ANCHORS
    assert judge.of(SCOPE, QUERY, ()) == NO_ANCHORS
    assert known.asked == 0
    known.failure = StoreUnavailable("down")
    assert judge.of(SCOPE, QUERY, IDS) == NO_ANCHORS


@pytest.mark.parametrize(
    ("query", "text"),
    [("zqbbk?", "Ann waits\nzqbbk: the kite\nBob rests"), ("INV-0114", "paid INV-0114"), ("苗", "种了苗")],
)
def test_who_looks_a_word_up_gets_the_memories_that_say_it(query: str, text: str) -> None:
    # Given one memory that says a word and one that does not
    at = datetime(2026, 3, 2, tzinfo=UTC)
    turns = {
        key: Turn(key, "ns", ANALYZER.lexemes(said), None, "event", "Ann", "c", at, 1, False, True, None, None)
        for key, said in {"says": text, "not": "the kite waits by the bridge"}.items()
    }
    talk = Turns(turns, [], frozenset())
    for known in (down := Known(), Known()):
        down.failure = StoreUnavailable("down")
        # When the word is looked up / Then that memory is raised above all others
        assert anchors(known).of(SCOPE, query, ["says", "not"], talk).gains == {"says": 8.0}
    # And a question of several words is none
    assert anchors(Known()).of(SCOPE, f"Who says {query} on the bridge", ["says", "not"], talk).gains == {}
    assert anchors(Known()).of(SCOPE, "谁的苗在桥上", ["says", "not"], talk).gains == {}


def test_a_weight_raises_matches_the_younger_the_more(known: Known) -> None:
    gains = anchors(known, anchor_weight=0.5).of(SCOPE, QUERY, IDS).gains
    assert gains == pytest.approx({"asked": 0.5 * 0.8**3, "fresh": 0.5})


def test_an_answer_to_an_identifier_stays_though_it_has_its_own() -> None:
    # Given an invoice, the answer that names its successor, and another one that no one answered
    held = {
        key: Anchored(Fields(symbols=(f"INV-{number}",)), None, 0)
        for key, number in {"a": 114, "b": 115, "c": 99}.items()
    }
    at = datetime(2026, 3, 2, tzinfo=UTC)
    turns = {
        key: Turn(key, "ns", (), None, "event", speaker, "c", at, place, False, True, None, None)
        for place, (key, speaker) in enumerate((("a", "Bob"), ("b", "Ann"), ("c", "Bob")))
    }
    judge, talk = anchors(Known(**held)), Turns(turns, [("a", "b"), ("c",)], frozenset())
    # When each is asked for / Then the answer comes with what it answers, and nothing else with it
    assert judge.of(SCOPE, "Which invoice replaced INV-114?", "abc", talk).dropped == {"c"}
    assert judge.of(SCOPE, "INV-115", "abc", talk).dropped == {"a", "c"}
    assert judge.of(SCOPE, "INV-99", "abc", talk).dropped == {"a", "b"}
    # And who asks for exactly that gets no answers to it
    exact = anchors(Known(**held), anchor_filter="exact")
    assert exact.of(SCOPE, "Which invoice replaced INV-114?", "abc", talk).dropped == {"b", "c"}
