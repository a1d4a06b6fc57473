"""How far the searches look where the vector index does not know a condition: further only where that is needed.

When a memory held, its energy and its sentiment are asked of what was found. Mostly nearly all of that meets them, and
four times as many candidates would be read and ranked for the same answer.
"""

from collections.abc import Iterable

from biem.engine.search import Found
from biem.ports.turns import Turns


def suffices(found: Found, turns: Turns, limit: int) -> bool:
    """Whether of each search that found `limit` memories, and so may find more, at least half meet the conditions."""
    return all(2 * _met(way, turns) >= len(way) for way in (found.dense, found.words, found.text) if len(way) >= limit)


def _met(found: Iterable[str], turns: Turns) -> int:
    return sum(key in turns.by_id and turns.by_id[key].matches for key in found)
