"""Spreading activation over a graph, in the two variants of the designs.

Both get the neighbours of a node from the caller, strongest first; a node without links reaches only itself.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from itertools import accumulate

EPSILON = 1e-9
"""Tolerance for zero: 1 − 3 · 1/3 is not exactly 0 in floating point."""

ByWeight = Callable[[str], Iterable[tuple[str, float]]]
"""Neighbours of a node with the weight in [0, 1] of the edge, greatest weight first."""
ByStrength = Callable[[str], Iterable[tuple[str, int]]]
"""Neighbours of a node with the strength ≥ 1 of the edge, greatest strength first."""


def multiplicative(
    neighbours: ByWeight, seeds: Mapping[str, float], *, hops: int = 2, decay: float = 0.5
) -> dict[str, float]:
    """Activation in (0, 1] of the seeds and of all nodes within `hops`: along an edge a · decay · weight.

    The best of several paths counts: the result stays in [0, 1], a chain of weight 1 gives 1, 0.5, 0.25 also with its
    way back, and ten copies of one memory activate a neighbour no more than one. Seeds above 1 count as 1.
    """
    active = {node: min(1.0, value) for node, value in seeds.items() if value > EPSILON}
    front = active
    for _ in range(hops):
        reached: dict[str, float] = {}
        for node, value in front.items():
            carried = value * decay
            for other, weight in neighbours(node):
                arriving = carried * weight
                if arriving <= EPSILON:
                    break
                if arriving > active.get(other, 0.0) and arriving > reached.get(other, 0.0):
                    reached[other] = arriving
        active = {**active, **reached}
        front = reached
    return active


def subtractive(
    neighbours: ByStrength, seeds: Iterable[str] | Mapping[str, float], *, max_depth: int = 3
) -> dict[str, float]:
    """Activation > 0 of the keywords and of all nodes they reach: along an edge a − 1/strength.

    Each keyword starts with 1.0, or with its value in a mapping (at most 1); activations from different keywords and
    over different paths without repeated nodes add up, so that raising a strength never lowers any activation. By this
    rule an edge of strength 1 transmits nothing.
    """
    active: defaultdict[str, float] = defaultdict(float)
    starts = seeds if isinstance(seeds, Mapping) else dict.fromkeys(seeds, 1.0)
    for seed, start in starts.items():
        if start <= EPSILON:
            continue
        active[seed] += start
        paths: list[_Path] = [((seed,), start)]
        for _ in range(1, max_depth):
            paths = _longer(neighbours, paths, active)
        if max_depth > 0:
            _last_step(neighbours, paths, active)
    return dict(active)


_Path = tuple[tuple[str, ...], float]
"""The nodes from a keyword on, and the activation of the last."""


def _longer(neighbours: ByStrength, paths: Iterable[_Path], active: defaultdict[str, float]) -> list[_Path]:
    """All paths of one more edge with positive activation; it is added to `active`."""
    longer: list[_Path] = []
    for path, value in paths:
        for other, strength in neighbours(path[-1]):
            arriving = value - 1.0 / strength
            if arriving <= EPSILON:
                break
            if other not in path:
                active[other] += arriving
                longer.append(((*path, other), arriving))
    return longer


def _last_step(neighbours: ByStrength, paths: Iterable[_Path], active: defaultdict[str, float]) -> None:
    """As `_longer`, when the paths are not needed any more: all paths that end in one node are merged.

    Among 50 fully connected nodes, that is thousands of steps instead of a hundred thousand.
    """
    by_end: defaultdict[str, list[_Path]] = defaultdict(list)
    for found in paths:
        by_end[found[0][-1]].append(found)
    for end, arrivals in by_end.items():
        if len(arrivals) == 1:
            _longer(neighbours, arrivals, active)
            continue
        falling = sorted(-value for _, value in arrivals)
        sums = [0.0, *accumulate(falling)]
        gained: dict[str, float] = {}
        costs: dict[str, float] = {}
        for other, strength in neighbours(end):
            cost = 1.0 / strength
            carrying = bisect_left(falling, -cost - EPSILON)
            if not carrying:
                break
            costs[other] = cost
            gained[other] = -sums[carrying] - carrying * cost
        for path, value in arrivals:  # no path returns to a visited node
            for node in path:
                cost = costs.get(node, value)
                if value - cost > EPSILON:
                    gained[node] -= value - cost
        for node, total in gained.items():
            if total > EPSILON:
                active[node] += total
