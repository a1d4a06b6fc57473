"""Pools that were recorded rank as they did, and the fit finds the signal that speaks for evidence."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from benchmarks import _pools, ablation
from benchmarks._data import Conversation, Question, Turn
from benchmarks._listwise import FitPolicy, Lists, fit, wanted
from benchmarks._live import VARIANTS, Recording
from benchmarks._pools import Case, Recorder
from benchmarks.fit_ranking import Sets, judge, named, shares, vector
from biem.domain.policies.ranking import RankPolicy, SignalWeights
from biem.engine.query.question import Query
from biem.engine.recall.rank.pool import Candidate
from biem.engine.recall.rank.score import NAMES, rank

START = datetime(2024, 5, 1, 9, tzinfo=UTC)
HUB, SHORT = NAMES.index("hub"), NAMES.index("short")
PLAIN = RankPolicy(repeat=0.0, balance=0.0)


def conversation(number: int, questions: tuple[Question, ...], turns: int = 30) -> Conversation:
    said = tuple(
        Turn(f"t{place}", f"s{place // 10}", "Ana", f"word{place}", START + timedelta(minutes=place))
        for place in range(turns)
    )
    return Conversation(f"c{number}", "en", said, questions)


def question(*gold: str, before: int | None = None) -> Question:
    return Question("q", "What is it?", "x", tuple(frozenset({one}) for one in gold), frozenset({"s0"}), before)


def case(number: int, gold: int, random: np.random.Generator, *, before: int | None = None) -> Case:
    """Thirty candidates with noise in every signal, but `hub` is low and `short` high for the evidence."""
    asked = question(f"t{gold}", before=before)
    table = random.uniform(0, 1, (30, len(NAMES))).astype(np.float32)
    table[:, HUB], table[:, SHORT] = random.uniform(0.5, 1, 30), random.uniform(0, 0.5, 30)
    table[gold, HUB], table[gold, SHORT] = 0.1, 0.9
    return Case(
        conversation(number, (asked,)),
        asked,
        number,
        np.arange(30, dtype=np.int32),
        table,
        np.zeros(30, np.float32),
        np.zeros((0, 30), np.float32),
        np.zeros(30, np.float32),
        [f"word{place}" for place in range(30)],
    )


@pytest.fixture
def cases() -> list[Case]:
    random = np.random.default_rng(3)
    return [case(number, int(random.integers(30)), random) for number in range(20)]


def test_the_fit_finds_the_signals_that_speak_for_evidence(cases: list[Case]) -> None:
    # When weights are learned from pools where two signals tell and the others are noise
    weights = fit(cases, [1.0] * len(cases), FitPolicy())
    # Then those two weigh most, each with its sign, and evidence comes first
    assert set(np.argsort(-np.abs(weights))[:2].tolist()) == {HUB, SHORT}
    assert weights[HUB] < 0 < weights[SHORT]
    assert judge([(one, weights) for one in cases], PLAIN).recall_5 == 1.0


def test_scores_are_in_units_of_how_far_the_best_leads(cases: list[Case]) -> None:
    # Given two fits that differ in the lead alone
    few = fit(cases, [1.0] * len(cases), FitPolicy(lead=2.0))
    much = fit(cases, [1.0] * len(cases), FitPolicy(lead=6.0))
    # Then the weights are the same but for the unit, and the best leads by as much as was asked for
    assert np.allclose(much, 3 * few)
    leads = [np.ptp(one.table.astype(float) @ much) for one in cases]  # fewer than fifty: the last stands for it
    assert np.mean(leads) == pytest.approx(6.0, rel=1e-6)


def test_the_slopes_are_those_of_what_is_learned(cases: list[Case]) -> None:
    # Given any weights, and both things learned as numbers
    lists, policy = Lists(cases, [1.0] * len(cases)), FitPolicy(depths=((3, 1.0),), softness=0.7)
    at = np.random.default_rng(5).normal(size=len(NAMES))

    def loss(weights: np.ndarray) -> float:
        return -float(np.log(lists.probability(lists.rows @ weights)) @ (lists.wanted * lists.share[lists.question]))

    def missed(weights: np.ndarray) -> float:
        total = 0.0
        for number, one in enumerate(cases):
            scores = lists.rows[30 * number : 30 * number + 30] @ weights
            gold = int(one.gold[0][0])
            rival = np.sort(np.delete(scores, gold))[-3]
            total -= 1 / (1 + np.exp(-(scores[gold] - rival) / policy.softness)) / len(cases)
        return total

    # Then each slope is the difference quotient
    for column in range(0, len(NAMES), 5):
        step = np.zeros(len(NAMES))
        step[column] = 1e-5
        assert lists.likely(at)[column] == pytest.approx((loss(at + step) - loss(at - step)) / 2e-5, abs=1e-6)
        quotient = (missed(at + step) - missed(at - step)) / 2e-5
        assert lists.let_in(at, policy)[column] == pytest.approx(quotient, abs=1e-6)


def test_every_group_of_evidence_is_wanted_alike_and_so_is_each_of_its_members() -> None:
    assert wanted(4, [np.array([0]), np.array([1, 2]), np.array([], dtype=np.intp)]).tolist() == [0.5, 0.25, 0.25, 0.0]


def test_pools_without_evidence_teach_nothing(cases: list[Case]) -> None:
    lost = replace(cases[0], question=question("gone"))
    assert np.array_equal(
        fit([*cases, lost], [1.0] * 21, FitPolicy(steps=5)), fit(cases, [1.0] * 20, FitPolicy(steps=5))
    )
    with pytest.raises(ValueError, match="no question has evidence"):
        fit([lost], [1.0], FitPolicy())


def test_a_signal_that_says_the_same_of_all_gets_no_weight(cases: list[Case]) -> None:
    flat = [replace(one, table=np.where(np.arange(len(NAMES)) == 0, np.float32(1), one.table)) for one in cases]
    assert fit(flat, [1.0] * len(flat), FitPolicy())[0] == 0.0


def test_no_case_is_judged_by_weights_that_saw_its_fold_or_its_file(cases: list[Case]) -> None:
    # Given a second file in which the signals mean the opposite
    turned = [replace(one, table=one.table[:, ::-1].copy()) for one in cases]
    policy = FitPolicy(steps=30, recall_steps=10)
    sets = Sets({"one": cases, "other": turned}, policy, folds=4)
    # Then weights "from other sets" are those fitted on the other file alone
    alone = fit(turned, [1.0] * len(turned), policy)
    assert all(np.allclose(weights, alone) for _, weights in sets.from_others()["one"])
    # And those of a fold are fitted without its conversations
    held_out = [one for file in (cases, turned) for one in file if one.number % 4 != 1]
    fold = fit(held_out, [1.0] * len(held_out), policy)
    assert all(np.allclose(weights, fold) for one, weights in sets.cross_validated()["one"] if one.number % 4 == 1)


def test_sets_weigh_as_the_square_roots_of_their_sizes() -> None:
    each = shares({"large": 100, "small": 4, "none": 0})
    assert (each["large"] * 100, each["small"] * 4) == (10.0, 2.0)
    assert "none" not in each


def test_weights_are_named_and_numbered_the_same_way() -> None:
    weights = SignalWeights(hub=-1.25, bridge=0.5)
    assert named(vector(weights)) == weights


def test_nothing_later_than_the_question_is_an_answer() -> None:
    one = case(0, 20, np.random.default_rng(1), before=7)
    ranked = one.ranked(vector(SignalWeights()), PLAIN)
    assert sorted(ranked) == sorted(f"t{place}" for place in range(7))


def test_a_recorded_pool_ranks_as_the_live_one_did_and_survives_a_file(tmp_path: Path) -> None:
    # Given a pool ordered by the engine, with a change of scores that only the memory knows
    asked = question("t3")
    talk = conversation(0, (asked,))
    vectors = np.random.default_rng(2).normal(size=(31, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    candidates = [
        Candidate(f"id{place}", ("ana", f"word{place}", "tea"), vectors[place], "Ana", turn.session, place, turn.at)
        for place, turn in enumerate(talk.turns)
    ]
    recorder = Recorder(rank)
    ranked = recorder(
        Query("word3 and tea?", ["word3", "tea"], vectors[30]),
        candidates,
        {"Ana": ["ana"]},
        RankPolicy(),
        30,
        adjust=lambda scores: scores + np.arange(30) / 10,
    )
    held = recorder.case(talk, asked, 0, {f"id{place}": place for place in range(30)})
    assert held is not None
    # When it is written and read
    _pools.save(tmp_path / "pools.npz", [held, held], {"live": {"all on": 0.5}})
    (first, second), more = _pools.load(tmp_path / "pools.npz", [talk])
    # Then it gives the same answers
    live = [f"t{place}" for place in ranked.order][:20]
    weights = vector(RankPolicy().weights)
    assert held.ranked(weights, RankPolicy()) == live
    assert first.ranked(weights, RankPolicy()) == second.ranked(weights, RankPolicy()) == live
    assert more == {"live": {"all on": 0.5}}
    # And a question that found nothing has no pool
    assert recorder.case(talk, asked, 0, {}) is None


def test_pools_depend_on_all_that_decides_signals_and_not_on_their_weights(tmp_path: Path) -> None:
    # Given two files, and policies that differ in a constant of the signals or in a weight
    one, other = tmp_path / "one.jsonl", tmp_path / "other.jsonl"
    one.write_text(json.dumps({}))
    other.write_text(json.dumps({"a": 1}))
    policy = RankPolicy()
    # When pools are named / Then each change of signals gives another name
    keys = [
        _pools.key_of(one, "m", (None, None), policy),
        _pools.key_of(other, "m", (None, None), policy),
        _pools.key_of(one, "n", (None, None), policy),
        _pools.key_of(one, "m", (1, None), policy),
        _pools.key_of(one, "m", (None, None), replace(policy, nameless=0.0)),
    ]
    assert len(set(keys)) == 5
    # And a weight does not
    heavier = replace(policy, weights=replace(policy.weights, hub=0.0))
    assert keys[0] == _pools.key_of(one, "m", (None, None), heavier)


def test_the_ablation_shows_what_is_lost_and_names_what_helps_nowhere(cases: list[Case]) -> None:
    # Given a ranking by one useful signal and one that only disturbs
    live = {"all on": 1.0, "sampled": 0.9, "n": 10} | dict.fromkeys(VARIANTS, 0.8)
    held = Recording(cases, {"live": live, "stages": {}})
    off = dict.fromkeys(NAMES, 0.0)
    policy = replace(PLAIN, weights=SignalWeights(**{**off, "hub": -5.0, "reply": 0.5}))
    # When everything is switched off in turn
    rows = list(ablation.rows_of("made up", held, policy))
    by_name = {row["signal"]: row for row in rows}
    # Then the useful one is missed, and the one next to it is not
    assert by_name[""]["r10"] == 1.0
    assert by_name["hub"]["delta"] > 0.2
    assert by_name["activation"]["delta"] == pytest.approx(0.1)
    assert by_name["activation"]["n"] == 10
    # And what was off is switched on, and said to disturb as much as it does
    assert (by_name["hub"]["switched"], by_name["short"]["switched"]) == ("off", "on")
    assert by_name["short"]["delta"] == by_name["short"]["r10"] - 1.0 <= 0.0
    idle = ablation.helps_nowhere(rows)
    assert "hub" not in idle
    assert {"reply", "repetition", "balance"} <= set(idle)
