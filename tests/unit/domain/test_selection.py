"""Chain recall's weights, and choosing by them."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.domain.designs.selection import chain_weight, choose, choose_hits, occurrences
from biem.domain.node import Hit, Node, new_id
from biem.domain.policies.designs import TypedPolicy
from biem.domain.scope import Scope
from tests.support.fakes import START

DRAWS = 10_000
weights = st.dictionaries(st.sampled_from("abcdefghij"), st.floats(0.001, 1_000.0), max_size=10)


@pytest.mark.req("G18", "G19", partly="the count")
def test_every_channel_and_every_link_that_leads_to_a_memory_counts() -> None:
    # Given two channels that both have a; a and b are linked with x, and x with y
    links = {"a": "x", "b": "xx", "x": "yb", "y": ""}

    # When the chain is followed / Then x was met twice, b once more than its channel, and y at the second step
    met = occurrences(["ab", "ac"], lambda node: links.get(node, ""), hops=2)
    assert met == {"a": 2, "b": 2, "c": 1, "x": 2, "y": 1}
    assert occurrences(["ab", "ac"], lambda node: links.get(node, ""), hops=1) == {"a": 2, "b": 1, "c": 1, "x": 2}
    assert occurrences(["ab", "ac"], lambda node: links.get(node, ""), hops=0) == {"a": 2, "b": 1, "c": 1}


@pytest.mark.req("G19")
def test_three_paths_and_four_uses_weigh_twelve() -> None:
    # Given a memory that three candidates of different kinds are linked with
    met = occurrences([["k"], ["s"], ["e"]], lambda node: ["m"] if node in "kse" else [], hops=1)

    # When it was used four times / Then it weighs 12; unused it weighs as if used once
    assert met["m"] == 3
    assert chain_weight(met["m"], 4) == 12
    assert chain_weight(3, 0) == chain_weight(3, 1) == 3


def test_a_circle_ends_and_no_node_calls_itself() -> None:
    met = occurrences(["a"], {"a": "ab", "b": "a"}.__getitem__, hops=50)
    assert met == {"a": 2, "b": 1}


@pytest.mark.req("G20", "C28", partly="χ² of the first draw, and no repeats")
@pytest.mark.parametrize(("selection", "power"), [("weighted_random", 1), ("squared_norm", 2)])
def test_heavier_memories_are_drawn_more_often_in_proportion(selection: str, power: int) -> None:
    # Given weights, and ten thousand draws with one seed
    given_weights = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}
    random = Random(20261121)
    drawn = Counter(choose(given_weights, 1, selection, random)[0] for _ in range(DRAWS))

    # When the counts are compared with the shares / Then χ² stays below its 99.9 % quantile for three degrees
    total = sum(weight**power for weight in given_weights.values())
    expected = {key: DRAWS * weight**power / total for key, weight in given_weights.items()}
    chi_square = sum((drawn[key] - expected[key]) ** 2 / expected[key] for key in given_weights)
    assert chi_square < 16.27


@pytest.mark.req("G20")
def test_second_draws_follow_the_weights_of_what_is_left() -> None:
    # Given three weights / When two of them are drawn ten thousand times with one seed
    random = Random(7)
    pairs = Counter(
        frozenset(choose({"a": 1.0, "b": 1.0, "c": 2.0}, 2, "weighted_random", random)) for _ in range(DRAWS)
    )

    # Then none is drawn twice, P{a,b} = ¼·⅓ + ¼·⅓ = ⅙, and the other two pairs are equally likely
    assert all(len(pair) == 2 for pair in pairs)
    expected = {frozenset("ab"): DRAWS / 6, frozenset("ac"): DRAWS * 5 / 12, frozenset("bc"): DRAWS * 5 / 12}
    assert sum((pairs[key] - count) ** 2 / count for key, count in expected.items()) < 13.82


@given(weights, st.integers(0, 12), st.sampled_from(["top_k", "weighted_random", "squared_norm"]), st.integers())
def test_nothing_is_chosen_twice_and_the_same_seed_chooses_the_same(
    given_weights: dict[str, float], count: int, selection: str, seed: int
) -> None:
    # Given any weights / When it is chosen by a seed twice
    once = choose(given_weights, count, selection, Random(seed))

    # Then both are equal, without repeats, heaviest first, and as many as there can be
    assert once == choose(given_weights, count, selection, Random(seed))
    assert len(set(once)) == len(once) == min(count, len(given_weights))
    assert [given_weights[key] for key in once] == sorted((given_weights[key] for key in once), reverse=True)


def test_the_best_are_chosen_without_chance() -> None:
    assert choose({"a": 1.0, "b": 3.0, "c": 2.0, "d": 0.0}, 2, "top_k", Random(0)) == ["b", "c"]
    assert choose({"a": 1.0, "d": 0.0, "e": -1.0}, 5, "weighted_random", Random(0)) == ["a"]
    assert choose({}, 5, "squared_norm", Random(0)) == []


@pytest.mark.req("G21")
@given(
    st.lists(st.tuples(st.sampled_from(["knowledge", "skill", "emotion", "task", "event"]), st.floats(0.01, 1_000))),
    st.sampled_from(["top_k", "weighted_random", "squared_norm"]),
    st.integers(0, 9),
    st.integers(),
)
def test_at_least_three_kinds_where_three_have_candidates(
    memories: list[tuple[str, float]], selection: str, count: int, seed: int
) -> None:
    # Given memories of some kinds, of which one may outweigh all others
    kinds = {str(place): kind for place, (kind, _) in enumerate(memories)}
    given_weights = {str(place): weight for place, (_, weight) in enumerate(memories)}

    # When some are chosen / Then three kinds are among them, or as many as there are
    chosen = choose(given_weights, count, selection, Random(seed), kinds)
    assert len({kinds[key] for key in chosen}) >= min(3, count, len(set(kinds.values())))
    assert len(chosen) == min(count, len(memories))


def test_one_heavy_kind_leaves_two_places_to_others() -> None:
    # Given seven heavy memories of a kind, and a light one of three others each
    kinds = {**dict.fromkeys("abcdefg", "event"), "x": "skill", "y": "task", "z": "emotion"}
    heavy = {**dict.fromkeys("abcdefg", 1_000.0), "x": 0.1, "y": 0.2, "z": 0.3}

    # When the seven heaviest are chosen / Then the two heaviest of other kinds have a place
    chosen = choose(heavy, 7, "top_k", Random(0), kinds)
    assert set(chosen) == {"a", "b", "c", "d", "e", "z", "y"}


def test_hits_are_chosen_by_their_scores() -> None:
    # Given hits / When half of them are drawn / Then they come back best first
    def hit(score: float) -> Hit:
        node = Node(
            id=new_id(), scope=Scope(), text="x", kind="event", status="active", layer="short_term", at=START,
            created_at=START,
        )  # fmt: skip
        return Hit(node, score, {})

    hits = [hit(0.9), hit(0.5), hit(0.1), hit(0.0)]
    assert choose_hits(hits, 2, "top_k", Random(0)) == hits[:2]
    assert choose_hits(hits, 9, "squared_norm", Random(0)) == hits[:3]  # what scores nothing is never drawn


@pytest.mark.parametrize("wrong", [{"per_kind": 0}, {"hops": -1}, {"links": 0}, {"pool": 0}, {"selection": "dice"}])
def test_numbers_that_mean_nothing_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="typed"):
        TypedPolicy(**wrong)  # type: ignore[arg-type]
