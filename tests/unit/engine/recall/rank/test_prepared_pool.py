"""Candidates out of what is prepared: the nearest, the best by words, what stands around them, and the news."""

import numpy as np

from biem.engine.recall.rank.adjustments import candidates_of
from biem.engine.recall.rank.pool import Pool
from biem.engine.recall.rank.prepared_pool import PreparedPool
from biem.ports.readers import Turn, Turns
from tests.support.fakes import START

SIZE = 100


def turn(number: int, words: str = "", *, heir: str | None = None, seen: bool = True) -> Turn:
    """The further the number, the further its direction is from that of 0."""
    angle = number * np.pi / (2 * SIZE)
    return Turn(
        id=f"t{number}", ns="n", lexemes=tuple(words.split()),
        vector=np.array([np.cos(angle), np.sin(angle)], dtype=np.float32) if seen else None,
        kind="event", speaker="", conversation="c", at=START, write_seq=number, asks=False, matches=True,
        valid_to=None, superseded_by=heir,
    )  # fmt: skip


def talk(**others: Turn) -> Turns:
    """One conversation of a hundred turns."""
    turns = {f"t{number}": turn(number, f"word{number}") for number in range(SIZE)} | others
    return Turns(turns, [tuple(f"t{number}" for number in range(SIZE))], frozenset({"t0"}))


def at_hand(turns: Turns) -> PreparedPool:
    return PreparedPool(turns, {}, Pool(candidates_of(turns), {}, 0.0, 2))


QUERY = np.array([1.0, 0.0], dtype=np.float32)


def test_the_nearest_and_the_best_by_words_come_with_two_turns_on_each_side() -> None:
    # Given a long talk / When two of each kind may be candidates for a query near the first turn
    turns = talk()
    found = at_hand(turns).candidates(turns, QUERY, ["word50", "nowhere"], 2)

    # Then these are there with what was said around them, as stretches without a gap, and the opening is known
    assert set(found.by_id) == {"t0", "t1", "t2", "t3", "t48", "t49", "t50", "t51", "t52"}
    assert set(found.stretches) == {("t0", "t1", "t2"), ("t0", "t1", "t2", "t3"), ("t48", "t49", "t50", "t51", "t52")}
    assert found.openings == {"t0"}


def test_rare_words_say_more_than_common_ones() -> None:
    # Given a word that many turns have and one that a single turn has / When one candidate may be found by words
    turns = talk(**{f"t{n}": turn(n, "tea") for n in range(20, 40)}, t70=turn(70, "violin"))
    found = at_hand(turns).candidates(turns, None, ["tea", "violin"], 1)
    assert set(found.by_id) == {"t68", "t69", "t70", "t71", "t72"}


def test_news_and_what_replaced_a_candidate_are_always_there() -> None:
    # Given a turn that was replaced, and two messages that were written since
    before = talk(t0=turn(0, "word0", heir="t90"))
    later = Turns(
        {**before.by_id, "n1": turn(101, "news"), "n2": turn(102, "other", seen=False)},
        before.stretches,
        before.openings,
    )

    # When a query is near the replaced one / Then all three are candidates
    found = at_hand(before).candidates(later, QUERY, [], 1)
    assert set(found.by_id) == {"t0", "t1", "t2", "t90", "n1", "n2"}


def test_a_few_times_what_a_search_finds_is_taken_as_it_is() -> None:
    turns = talk()
    assert at_hand(turns).candidates(turns, QUERY, [], 12) is turns
    assert at_hand(turns).candidates(turns, QUERY, [], 11) is not turns


def test_vectors_of_another_embedder_and_none_at_all_leave_it_to_the_words() -> None:
    # Given a query of another dimension, or turns without vectors / When candidates are found / Then words decide
    turns = talk()
    other = np.ones(3, dtype=np.float32)
    assert set(at_hand(turns).candidates(turns, other, ["word9"], 1).by_id) == {"t7", "t8", "t9", "t10", "t11"}
    blind = Turns({key: turn(one.write_seq, "tea", seen=False) for key, one in turns.by_id.items()}, (), frozenset())
    assert set(at_hand(blind).candidates(blind, QUERY, ["tea"], 3).by_id) == {"t0", "t1", "t10"}  # by id
