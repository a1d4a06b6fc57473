"""Selection among weighted memories: chain recall and weighted random selection.

    weight = occurrences · use count, where occurrences are the channels and links that led to the memory

A draw never takes a memory twice, and the same seed draws the same memories in every process.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from random import Random

from biem.domain.node import Hit

LEAST_KINDS = 3
"""Minimum number of kinds among the chosen, where as many have candidates."""


def occurrences(
    channels: Iterable[Sequence[str]], linked: Callable[[str], Iterable[str]], *, hops: int
) -> dict[str, int]:
    """How many channels and links led to each memory, in the order of discovery.

    Each channel that lists a memory counts once. Then every memory found adds one to each memory it is `linked` with,
    and so do the newly found ones, for `hops` rounds. No memory counts for itself.
    """
    met: Counter[str] = Counter()
    for channel in channels:
        met.update(dict.fromkeys(channel, 1))
    front = list(met)
    for _ in range(hops):
        reached: dict[str, None] = {}
        for node in front:
            for other in dict.fromkeys(linked(node)):
                if other != node:
                    if other not in met:
                        reached[other] = None
                    met[other] += 1
        front = list(reached)
    return dict(met)


def chain_weight(occurred: int, use_count: int) -> int:
    """Occurrences × use count. Creation is the first use, so that unused memories can be recalled."""
    return occurred * max(1, use_count)


def choose(
    weights: Mapping[str, float],
    count: int,
    selection: str,
    random: Random,
    kinds: Mapping[str, str] | None = None,
) -> list[str]:
    """At most `count` keys of positive weight, without repeats, heaviest first.

    `top_k` takes the heaviest (ties by order), `weighted_random` draws by weight and `squared_norm` by its square. With
    `kinds`, at least `LEAST_KINDS` kinds are included where as many have a candidate and `count` allows it: the last
    places then go to missing kinds.
    """
    power = 2.0 if selection == "squared_norm" else 1.0
    left = {key: weight**power for key, weight in weights.items() if weight > 0 and weight**power > 0}
    wanted = min(LEAST_KINDS, count, len({kinds[key] for key in left})) if kinds else 0
    chosen: list[str] = []
    seen: set[str] = set()
    while left and len(chosen) < count:
        allowed = left
        if kinds and count - len(chosen) <= wanted - len(seen):
            allowed = {key: weight for key, weight in left.items() if kinds[key] not in seen}
        key = max(allowed, key=allowed.__getitem__) if selection == "top_k" else _drawn(allowed, random)
        chosen.append(key)
        del left[key]
        if kinds:
            seen.add(kinds[key])
    return sorted(chosen, key=lambda key: -weights[key])


def _drawn(weights: Mapping[str, float], random: Random) -> str:
    """One key with the probability of its share."""
    keys = list(weights)
    return random.choices(keys, cum_weights=list(accumulate(weights.values())))[0]


def choose_hits(hits: Sequence[Hit], count: int, selection: str, random: Random) -> list[Hit]:
    """At most `count` hits chosen by their scores, best first."""
    by_id = {hit.node.id: hit for hit in hits}
    return [by_id[key] for key in choose({hit.node.id: hit.score for hit in hits}, count, selection, random)]
