"""Whether turns that stand together belong together, and what becomes of structure that shows nothing."""

from dataclasses import replace

import numpy as np
import pytest

from biem.domain.policies.ranking import RankPolicy
from biem.engine.recall.rank.coherence import Coherence, coherence
from biem.engine.recall.rank.pool import Candidate, Pool
from biem.engine.recall.rank.score import NAMES, with_plain
from biem.engine.recall.rank.signals import signals
from biem.ports import Vectors
from tests.support.fakes import START
from tests.support.pools import HOTEL, POLICY, ranked, unit

TALKS, LENGTH = 6, 10


def _talks(seed: int = 1) -> Vectors:
    """Sixty turns of six talks, each about its own matter."""
    random = np.random.default_rng(seed)
    matters = random.normal(size=(TALKS, 16))
    rows = np.repeat(matters, LENGTH, axis=0) + random.normal(size=(TALKS * LENGTH, 16))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def _measured(vectors: Vectors, session: list[int], known: list[bool] | None = None) -> Coherence:
    numbers = np.array(session)
    following = np.array(
        [
            place + 1 if place + 1 < len(session) and session[place + 1] == session[place] else -1
            for place in range(len(session))
        ]
    )
    return coherence(vectors, np.array(known or [True] * len(session)), numbers, following)


SESSIONS = [talk for talk in range(TALKS) for _ in range(LENGTH)]


def test_turns_of_a_talk_are_more_alike_than_others() -> None:
    beside, session = _measured(_talks(), SESSIONS)
    assert beside is not None
    assert session is not None
    assert beside > 0.5
    assert session > 0.5


def test_shuffled_turns_and_random_labels_are_not() -> None:
    order = np.random.default_rng(2).permutation(TALKS * LENGTH)
    beside, session = _measured(_talks()[order], SESSIONS)
    assert beside is not None
    assert session is not None
    assert abs(beside) < 0.3
    assert abs(session) < 0.1


def test_the_means_are_those_of_all_pairs() -> None:
    # Given turns of which some have no vector / When they are compared / Then those without take no part
    vectors, known = _talks(), [place % 7 != 3 for place in range(TALKS * LENGTH)]
    vectors[~np.array(known)] = 0.0
    found = _measured(vectors, SESSIONS, known).session
    pairs = [(a, b) for a in range(len(known)) for b in range(a) if known[a] and known[b]]
    cosines = {pair: float(vectors[pair[0]] @ vectors[pair[1]]) for pair in pairs}
    inside = np.mean([value for (a, b), value in cosines.items() if SESSIONS[a] == SESSIONS[b]])
    across = np.mean([value for (a, b), value in cosines.items() if SESSIONS[a] != SESSIONS[b]])
    assert found == pytest.approx((inside - across) / np.std(list(cosines.values())), rel=0.15)


def test_what_cannot_be_compared_shows_nothing() -> None:
    none = Coherence(None, None)
    assert _measured(_talks()[:5], SESSIONS[:5]) == none
    assert _measured(np.tile(_talks()[:1], (60, 1)), SESSIONS) == none
    assert _measured(_talks(), list(range(TALKS * LENGTH))) == none
    assert _measured(_talks(), [0] * TALKS * LENGTH).session is None


def _pool(session: list[int], vectors: Vectors) -> list[Candidate]:
    return [
        Candidate(str(place), [f"word{place}"], vectors[place], "Ann", f"talk {session[place]}", place, START)
        for place in range(len(session))
    ]


def test_structure_that_shows_nothing_leaves_each_turn_to_itself() -> None:
    # Given the same turns in the order of their talks, and in none
    vectors = _talks()
    order = np.random.default_rng(4).permutation(TALKS * LENGTH)
    asked = replace(HOTEL, vector=vectors[0])
    column = {name: NAMES.index(name) for name in NAMES}

    def apart(rows: Vectors, name: str, policy: RankPolicy = POLICY) -> float:
        """How far what a signal says of turns is from what they say themselves."""
        table = ranked(asked, _pool(SESSIONS, rows), policy).signals
        return float(np.abs(table[:, column[name]] - table[:, column["sentence_dense"]]).mean())

    # When they are ranked / Then what stands around a turn counts in the one case, and hardly in the other
    for name in ("dense_around", "session_dense", "session_dense3"):
        assert apart(vectors, name) > 4 * apart(vectors[order], name)

    # And switched off it always does
    assert apart(vectors[order], "session_dense", replace(POLICY, coherent=0.0)) > 0.15


def test_plain_hits_are_kept_only_where_structure_shows_nothing() -> None:
    # Given the same turns in the order of their talks, and in none
    vectors = _talks()
    order = np.random.default_rng(4).permutation(TALKS * LENGTH)
    asked = replace(HOTEL, vector=vectors[0])

    # When what a plain search would go by is looked at / Then it has a say in the second case only
    for rows, kept in ((vectors, False), (vectors[order], True)):
        pool = Pool(_pool(SESSIONS, rows), {}, 0.0, 16)
        assert bool(signals(asked, pool, {}, POLICY).plain.any()) is kept


@pytest.mark.parametrize(
    ("shown", "kept"),
    [
        (Coherence(0.6, 0.2), False),
        (Coherence(0.6, None), False),
        (Coherence(-0.02, 0.16), True),
        (Coherence(0.6, 0.01), True),
        (Coherence(None, None), True),
    ],
    ids=["a dialogue", "one session", "notes under headings", "labels by chance", "bare facts"],
)
def test_plain_hits_are_kept_unless_all_structure_shows_that_it_counts(shown: Coherence, kept: bool) -> None:
    vectors = _talks()
    pool = Pool(_pool(SESSIONS, vectors), {}, 0.0, 16)
    vars(pool)["coherence"] = shown
    assert bool(signals(replace(HOTEL, vector=vectors[0]), pool, {}, POLICY).plain.any()) is kept


def test_a_fact_that_stands_alone_is_not_long_for_its_speaker() -> None:
    # Given facts without a speaker and a conversation, and a channel of no one in particular
    texts = ["a", "b c d e f g h", "i j"]
    alone, together = (
        [
            Candidate(text, text.split(), unit(1.0), "", talk or text, 9 * place, START)
            for place, text in enumerate(texts)
        ]
        for talk in ("", "channel")
    )

    # When their lengths are compared / Then only those of one conversation have others to be compared with
    assert Pool(alone, {}, 0.0, 1).longer_than_own.tolist() == [0.0, 0.0, 0.0]
    assert Pool(together, {}, 0.0, 1).longer_than_own[1] > 0.5


@pytest.mark.parametrize(
    ("plain", "kept", "expected"),
    [
        ([(14, 1.0), (11, 0.9), (0, 0.8), (12, 0.7)], 3, [0, 1, 2, 3, 4, 5, 6, 7, 11, 14, 8, 9, 10, 12, 13]),
        ([(14, 1.0), (9, 0.9)], 2, [0, 1, 2, 3, 4, 5, 6, 7, 9, 14, 8, 10, 11, 12, 13]),
        ([(14, 1.0)], 0, list(range(15))),
        ([], 3, list(range(15))),
    ],
    ids=["two come in", "the last stays", "switched off", "nothing is good by itself"],
)
def test_the_best_alone_stay_among_the_first_ten(
    plain: list[tuple[int, float]], kept: int, expected: list[int]
) -> None:
    scores = np.zeros(15)
    for place, value in plain:
        scores[place] = value
    assert with_plain(list(range(15)), scores, replace(POLICY, plain=kept)) == expected


def test_of_few_nothing_is_moved() -> None:
    assert with_plain([2, 0, 1], np.array([1.0, 0.5, 0.2]), POLICY) == [2, 0, 1]
