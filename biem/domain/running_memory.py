"""What a conversation has on its mind: keywords it called up, and the few memories that serve its next reply.

Hippocampus H25 and H40–H43. One value a conversation, kept between its turns.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher

from biem.domain.concept import Recollection


@dataclass(frozen=True, slots=True)
class Running:
    """A memory held ready for the reply; `duration` counts the turns it has been there, from 1."""

    topic: str
    content: str
    duration: int = 1
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mind:
    """The state of one conversation. `version` grows with every turn that was saved."""

    keywords: tuple[str, ...] = ()
    """Oldest first, none twice."""
    running: tuple[Running, ...] = ()
    version: int = 0


def with_keywords(cached: Iterable[str], new: Iterable[str], *, most: int, kept: int) -> tuple[str, ...]:
    """The cache with new keywords at its end; when it has more than `most`, the last `kept` (≥ 1) stay."""
    fresh = tuple(dict.fromkeys(new))
    words = tuple(dict.fromkeys((*(word for word in cached if word not in fresh), *fresh)))
    return words[-kept:] if len(words) > most else words


def next_turn(
    running: Iterable[Running], found: Iterable[Recollection], *, turns: int, most: int, similarity: float
) -> tuple[Running, ...]:
    """One turn later: all items are a turn older, at `turns` they go, and new ones join unless they are alike (H40–42).

    Alike is a `SequenceMatcher` ratio of `similarity` or more with any item that is there. `most` is at least 1.
    """
    items = [
        Running(item.topic, item.content, item.duration + 1, item.sources)
        for item in running
        if item.duration + 1 < turns
    ]
    for new in found:
        if all(SequenceMatcher(None, item.content, new.memory).ratio() < similarity for item in items):
            items.append(Running(new.topic, new.memory, 1, new.sources))
    return tuple(items[-most:])
