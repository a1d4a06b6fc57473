"""The last word on a recall: the reranker, and chance."""

from collections.abc import Sequence
from random import Random

import pytest

from biem.config import Settings
from biem.domain.node import Hit, Hits, Node, new_id
from biem.domain.policies.recall import RerankPolicy
from biem.domain.scope import Scope
from biem.engine.recall.rerank import HYBRID, Choice, Chooser
from biem.errors import InvalidInput, RerankerUnavailable
from biem.telemetry import Span, Telemetry
from tests.support.fakes import START


class Judge:
    """The port `Reranker`: longer texts are better; or it fails."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, list[str], float]] = []
        self.failure: RerankerUnavailable | None = None

    def rerank(self, query: str, texts: Sequence[str], timeout_s: float) -> list[float]:
        self.asked.append((query, list(texts), timeout_s))
        if self.failure is not None:
            raise self.failure
        return [min(1.0, len(text) / 10) for text in texts]

    def close(self) -> None:
        """Holds nothing."""


def hit(text: str, score: float, speaker: str = "") -> Hit:
    node = Node(
        id=new_id(), scope=Scope(), text=text, kind="event", status="active", layer="short_term", at=START,
        created_at=START, speaker=speaker,
    )  # fmt: skip
    return Hit(node, score, {"dense": score})


def found(*scores: float) -> Hits:
    """Hits whose texts grow as their scores fall."""
    return Hits([hit("x" * place, score) for place, score in enumerate(scores, 1)], degraded=("redis",), mode="strict")


def chooser(judge: Judge | None, **policy: float) -> Chooser:
    return Chooser(
        reranker=judge,
        policy=RerankPolicy(**policy),  # type: ignore[arg-type]
        random=Random(1),
        telemetry=Telemetry(),
    )


def lengths(hits: Hits) -> list[int]:
    return [len(one.node.text) for one in hits]


@pytest.mark.req("G48", partly="off by default")
def test_without_a_reranker_hits_are_only_cut() -> None:
    # Given none / When hits are chosen / Then the best stay as they were, and no more are read than wanted
    hits = found(0.9, 0.8, 0.7)
    assert chooser(None).wanted(HYBRID, 2) == 2
    chosen = chooser(None).choose("q", hits, HYBRID, 2)
    assert lengths(chosen) == [1, 2]
    assert (chosen.degraded, chosen.mode, chosen.selection, chosen.seed) == (("redis",), "strict", "top_k", None)


@pytest.mark.req("G48", partly="switched on: exactly one call")
def test_a_reranker_is_asked_once_and_decides_among_the_best() -> None:
    # Given five hits of which the reranker sees three
    judge = Judge()
    asked = chooser(judge, top_n=3, timeout_s=0.7)
    assert asked.wanted(HYBRID, 2) == 3

    # When they are chosen / Then it was asked once; its order counts, the others follow, and scores still fall
    chosen = asked.choose("q", found(0.9, 0.8, 0.7, 0.6, 0.1), HYBRID, 4)
    assert judge.asked == [("q", ["x", "xx", "xxx"], 0.7)]
    assert lengths(chosen) == [3, 2, 1, 4]
    assert [one.score for one in chosen] == [0.3, 0.2, 0.1, 0.1]
    assert chosen[0].why == {"dense": 0.7, "rerank": 0.3}
    assert "reranker" not in chosen.degraded


def test_it_reads_who_said_what_and_no_more_than_it_can() -> None:
    judge = Judge()
    chooser(judge, text_chars=8).choose("q", Hits([hit("hello world", 0.5, "Ann"), hit("b", 0.4)]), HYBRID, 2)
    assert judge.asked[0][1] == ["Ann: hel", "b"]


def test_one_hit_needs_no_order() -> None:
    judge = Judge()
    assert lengths(chooser(judge).choose("q", found(0.5), HYBRID, 3)) == [1]
    assert chooser(judge).choose("q", found(), HYBRID, 3) == []
    assert judge.asked == []


@pytest.mark.req("G48", "X49", partly="a failure falls back to the rule, and costs one call")
def test_a_reranker_that_fails_is_named_and_left_alone() -> None:
    # Given one that fails / When recall goes on
    judge = Judge()
    judge.failure = RerankerUnavailable("down")
    asked = chooser(judge)
    first = asked.choose("q", found(0.9, 0.8), HYBRID, 2)
    second = asked.choose("q", found(0.9, 0.8), HYBRID, 2)

    # Then the rule's order stands both times, the answer says so, and the second did not wait
    assert lengths(first) == lengths(second) == [1, 2]
    assert first.degraded == second.degraded == ("redis", "reranker")
    assert len(judge.asked) == 1


def test_it_is_asked_again_when_its_pause_is_over() -> None:
    judge = Judge()
    judge.failure = RerankerUnavailable("down")
    asked = chooser(judge, pause_s=0.0)
    asked.choose("q", found(0.9, 0.8), HYBRID, 2)
    judge.failure = None
    assert lengths(asked.choose("q", found(0.9, 0.8), HYBRID, 2)) == [2, 1]


def test_it_is_left_alone_for_as_long_as_it_asks() -> None:
    judge = Judge()
    judge.failure = RerankerUnavailable("429", pause_s=3_600.0)
    asked = chooser(judge, pause_s=0.0)
    asked.choose("q", found(0.9, 0.8), HYBRID, 2)
    asked.choose("q", found(0.9, 0.8), HYBRID, 2)
    assert len(judge.asked) == 1


def test_its_time_is_its_own_span() -> None:
    # Given a caller that listens / When a reranker is asked / Then its span is there, and without one none is
    telemetry, spans = Telemetry(), list[Span]()
    telemetry.attach(spans.append)
    for judge in (None, Judge()):
        asked = Chooser(reranker=judge, policy=RerankPolicy(), random=Random(1), telemetry=telemetry)
        asked.choose("q", found(0.9, 0.8), HYBRID, 2)
    assert [span.name for span in spans] == ["biem.recall.rerank"]


# -- chance ------------------------------------------------------------------------------------------------------------


@pytest.mark.req("C28", partly="recall")
@pytest.mark.parametrize("selection", ["weighted_random", "squared_norm"])
def test_hits_are_drawn_with_a_seed_that_the_answer_tells(selection: str) -> None:
    # Given twelve hits to draw four from
    scores = [0.9 - place / 20 for place in range(12)]
    asked = chooser(None)
    assert asked.wanted(Choice(selection=selection), 4) == 12

    # When they are drawn / Then the seed told draws them again, and other seeds draw others
    drawn = asked.choose("q", found(*scores), Choice(selection=selection), 4)
    assert drawn.selection == selection
    assert drawn.seed is not None
    again = asked.choose("q", found(*scores), Choice(selection=selection, seed=drawn.seed), 4)
    assert lengths(again) == lengths(drawn)
    others = {tuple(lengths(asked.choose("q", found(*scores), Choice(selection=selection), 4))) for _ in range(20)}
    assert len(others) > 5
    assert lengths(drawn) == sorted(lengths(drawn))  # best first


@pytest.mark.req("C28")
def test_chance_is_off_by_default_and_comes_from_the_generator_handed_in() -> None:
    # Given two choosers whose generators are seeded alike, and hits to choose four of
    scores = [0.9 - place / 20 for place in range(12)]
    one, other = chooser(None), chooser(None)

    # When nothing is said / Then the best four are the answer, and there is no seed to tell
    best = one.choose("q", found(*scores), HYBRID, 4)
    assert (lengths(best), best.selection, best.seed) == ([1, 2, 3, 4], "top_k", None)

    # And of what is drawn, one after the other, both draw the same, and tell the seed of each
    for selection in ("weighted_random", "squared_norm", "weighted_random"):
        drawn, again = (asked.choose("q", found(*scores), Choice(selection=selection), 4) for asked in (one, other))
        assert (lengths(drawn), drawn.seed) == (lengths(again), again.seed)
        assert (drawn.selection, drawn.seed is None) == (selection, False)


def test_the_caller_may_ask_for_no_chance_at_all() -> None:
    chosen = chooser(None).choose("q", found(0.9, 0.8, 0.7), Choice(selection="top_k", seed=4), 2)
    assert (lengths(chosen), chosen.seed) == ([1, 2], None)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"profile": "elephant"}, "hybrid, aim"),
        ({"selection": "dice"}, "weighted_random"),
        ({"seed": True}, "seed"),
        ({"seed": 1.5}, "seed"),
        ({"per_kind": 0}, "per_kind"),
        ({"per_kind": 101}, "per_kind"),
        ({"per_kind": True}, "per_kind"),
    ],
)
def test_choices_that_mean_nothing_are_refused_with_what_there_is(wrong: dict[str, object], says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        Choice(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [{"top_n": 0}, {"timeout_s": 0.0}, {"pause_s": -1.0}, {"text_chars": 0}])
def test_numbers_that_mean_nothing_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="rerank"):
        Settings(rerank=RerankPolicy(**wrong))  # type: ignore[arg-type]
