"""Spreading activation: the tables of both designs, and what holds for every graph."""

from collections.abc import Callable, Iterator, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.domain.spreading import EPSILON, multiplicative, subtractive

Edges = dict[tuple[str, str], float]

nodes = st.sampled_from("abcdefg")
pairs = st.tuples(nodes, nodes).filter(lambda pair: pair[0] < pair[1])
weighted = st.dictionaries(pairs, st.floats(0.0, 1.0), max_size=15)
strengthened = st.dictionaries(pairs, st.integers(1, 12), max_size=15)
seeds = st.dictionaries(nodes, st.floats(0.0, 1.0), max_size=4)


def undirected(edges: Mapping[tuple[str, str], float]) -> Callable[[str], list[tuple[str, float]]]:
    """Both ways along each edge, greatest first."""
    table: dict[str, list[tuple[str, float]]] = {}
    for (a, b), value in edges.items():
        table.setdefault(a, []).append((b, value))
        table.setdefault(b, []).append((a, value))
    return lambda node: sorted(table.get(node, []), key=lambda found: -found[1])


def strong(edges: Mapping[tuple[str, str], int]) -> Callable[[str], list[tuple[str, int]]]:
    both = undirected({pair: float(strength) for pair, strength in edges.items()})
    return lambda node: [(other, int(strength)) for other, strength in both(node)]


def chain(*strengths: int) -> Callable[[str], list[tuple[str, int]]]:
    """a – b – c – … with these strengths."""
    return strong({("abcdefgh"[place], "abcdefgh"[place + 1]): value for place, value in enumerate(strengths)})


# -- multiplicative ----------------------------------------------------------------------------------------------------


@pytest.mark.req("B45", partly="the seeds are chosen by recall")
def test_a_chain_of_weight_one_gives_one_a_half_a_quarter_and_then_nothing() -> None:
    # Given a chain of weight 1 / When its first node is activated
    neighbours = undirected({("a", "b"): 1.0, ("b", "c"): 1.0, ("c", "d"): 1.0})

    # Then activation halves per hop for two hops
    assert multiplicative(neighbours, {"a": 1.0}) == {"a": 1.0, "b": 0.5, "c": 0.25}
    assert multiplicative(neighbours, {"a": 1.0}, hops=0) == {"a": 1.0}
    assert multiplicative(neighbours, {"a": 0.8}, hops=1, decay=0.25) == {"a": 0.8, "b": 0.2}


@pytest.mark.req("B2", "B17", partly="the arithmetic")
def test_of_several_ways_the_best_counts() -> None:
    # Given two ways to d, and a second seed on the way
    neighbours = undirected({("a", "b"): 0.9, ("b", "d"): 1.0, ("a", "c"): 0.5, ("c", "d"): 1.0})

    # When the ends are activated / Then nothing adds up, and a seed keeps what it has
    assert multiplicative(neighbours, {"a": 1.0, "c": 0.1}) == pytest.approx(
        {"a": 1.0, "b": 0.45, "c": 0.25, "d": 0.225}
    )


@pytest.mark.req("C2", partly="multiplicative")
@given(edges=weighted, start=seeds, hops=st.integers(0, 4))
def test_the_multiplicative_result_lies_in_zero_to_one_and_keeps_its_seeds(
    edges: Edges, start: dict[str, float], hops: int
) -> None:
    # Given any graph and seeds / When they spread
    found = multiplicative(undirected(edges), start, hops=hops)

    # Then all values are in (0, 1], and no seed has less than before
    assert all(0.0 < value <= 1.0 for value in found.values())
    assert all(found[node] >= value for node, value in start.items() if value > EPSILON)


@given(edges=weighted, start=seeds, hops=st.integers(0, 4))
def test_the_multiplicative_result_is_the_best_product_over_all_walks(
    edges: Edges, start: dict[str, float], hops: int
) -> None:
    # Given any graph / When every walk is gone one by one
    neighbours = undirected(edges)
    best: dict[str, float] = {}

    def walk(node: str, value: float, left: int) -> None:
        if value > EPSILON:
            best[node] = max(best.get(node, 0.0), value)
            if left:
                for other, weight in neighbours(node):
                    walk(other, value * 0.5 * weight, left - 1)

    for node, value in start.items():
        walk(node, value, hops)

    # Then that is the result
    assert multiplicative(neighbours, start, hops=hops) == pytest.approx(best)


# -- subtractive -------------------------------------------------------------------------------------------------------


@pytest.mark.req("H26")
def test_a_keyword_that_stands_alone_has_activation_one() -> None:
    # Given nothing around it / When it spreads / Then it is itself
    assert subtractive(chain(), ["a"]) == {"a": 1.0}
    assert subtractive(chain(), []) == {}


@pytest.mark.req("H27")
@pytest.mark.parametrize(
    ("strengths", "expected"),
    [
        ((2,), {"b": 0.5}),
        ((4, 4, 4), {"b": 0.75, "c": 0.5, "d": 0.25}),
        ((1,), {}),
        ((3, 3, 3), {"b": 2 / 3, "c": 1 / 3}),
        ((10,), {"b": 0.9}),
    ],
)
def test_an_edge_costs_one_by_its_strength(strengths: tuple[int, ...], expected: dict[str, float]) -> None:
    # Given a chain / When its first node is activated / Then each edge takes its price and nothing leaks by rounding
    assert subtractive(chain(*strengths), ["a"]) == pytest.approx({"a": 1.0, **expected})


@pytest.mark.req("H28")
def test_activation_stops_at_the_greatest_depth() -> None:
    # Given five strong edges in a row / When the first node is activated
    found = subtractive(chain(100, 100, 100, 100, 100), ["a"])

    # Then three steps are gone, or as many as asked for
    assert found == pytest.approx({"a": 1.0, "b": 0.99, "c": 0.98, "d": 0.97})
    for depth in range(6):
        assert len(subtractive(chain(100, 100, 100, 100, 100), ["a"], max_depth=depth)) == depth + 1


@pytest.mark.req("H29")
def test_activations_of_keywords_and_of_paths_add_up() -> None:
    # Given a node that two keywords reach, one of them over two paths
    neighbours = strong({("a", "d"): 2, ("b", "d"): 4, ("a", "c"): 10, ("c", "d"): 5})

    # When both are activated
    found = subtractive(neighbours, ["a", "b"], max_depth=2)

    # Then it has 0.5 and 0.9 − 0.2 from the one, 0.75 from the other
    assert found["d"] == pytest.approx(0.5 + 0.7 + 0.75)
    assert subtractive(neighbours, {"a": 0.6}, max_depth=1) == pytest.approx({"a": 0.6, "d": 0.1, "c": 0.5})


def every_path(
    neighbours: Callable[[str], list[tuple[str, int]]], seed: str, start: float, max_depth: int
) -> Iterator[tuple[str, float]]:
    def go(path: tuple[str, ...], value: float) -> Iterator[tuple[str, float]]:
        yield path[-1], value
        if len(path) <= max_depth:
            for other, strength in neighbours(path[-1]):
                if other not in path and value - 1 / strength > EPSILON:
                    yield from go((*path, other), value - 1 / strength)

    if start > EPSILON:
        yield from go((seed,), start)


@pytest.mark.req("C2", partly="subtractive")
@given(edges=strengthened, start=seeds, depth=st.integers(0, 4))
def test_the_subtractive_result_is_the_sum_over_all_paths(
    edges: dict[tuple[str, str], int], start: dict[str, float], depth: int
) -> None:
    # Given any graph / When every path is gone one by one
    expected: dict[str, float] = {}
    for seed, value in start.items():
        for node, arriving in every_path(strong(edges), seed, value, depth):
            expected[node] = expected.get(node, 0.0) + arriving

    # Then their sum is the result
    assert subtractive(strong(edges), start, max_depth=depth) == pytest.approx(expected, abs=1e-8)


@pytest.mark.req("H33")
@given(
    edges=strengthened, start=st.sets(nodes, max_size=3), pair=pairs, more=st.integers(1, 5), depth=st.integers(1, 3)
)
def test_a_stronger_edge_never_lowers_an_activation(
    edges: dict[tuple[str, str], int], start: set[str], pair: tuple[str, str], more: int, depth: int
) -> None:
    # Given any graph / When one edge becomes stronger, or arises
    before = subtractive(strong(edges), start, max_depth=depth)
    after = subtractive(strong({**edges, pair: edges.get(pair, 0) + more}), start, max_depth=depth)

    # Then every node has at least what it had
    assert all(after[node] >= value - 1e-9 for node, value in before.items())


@pytest.mark.req("X12", partly="the arithmetic")
@given(edges=strengthened, a=nodes, b=nodes)
def test_what_reaches_there_reaches_back(edges: dict[tuple[str, str], int], a: str, b: str) -> None:
    # Given any undirected graph / When it is walked from either end / Then both give the other the same
    there, back = subtractive(strong(edges), [a]), subtractive(strong(edges), [b])
    assert there.get(b, 0.0) == pytest.approx(back.get(a, 0.0), abs=1e-8)


def test_a_dense_neighbourhood_is_walked_in_a_few_thousand_steps() -> None:
    # Given 51 nodes all linked strongly to each other
    everyone = [f"{number:02d}" for number in range(51)]
    table = {node: [(other, 9) for other in everyone if other != node] for node in everyone}
    asked: list[str] = []

    def neighbours(node: str) -> list[tuple[str, int]]:
        asked.append(node)
        return table[node]

    # When one is activated
    found = subtractive(neighbours, [everyone[0]])

    # Then each of the others has one path of 1 edge, 49 of 2 and 49 · 48 of 3, and not 2,500 nodes were asked but 110
    expected = 8 / 9 + 49 * 7 / 9 + 49 * 48 * 6 / 9
    assert found["17"] == pytest.approx(expected)
    assert len(asked) <= 110
