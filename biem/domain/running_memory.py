"""Running memory of a conversation: the keywords it evoked, and the few memories prepared for its next reply.

After Hippocampus. One value per conversation, stored between its turns.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher

from biem.domain.concept import Recollection


@dataclass(frozen=True, slots=True)
class Running:
    """A memory prepared for the reply; `duration` counts its turns, from 1."""

    topic: str
    content: str
    duration: int = 1
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunningMemory:
    """The state of one conversation. `version` grows with every saved turn."""

    keywords: tuple[str, ...] = ()
    """Oldest first, without repeats."""
    running: tuple[Running, ...] = ()
    version: int = 0


def with_keywords(cached: Iterable[str], new: Iterable[str], *, most: int, kept: int) -> tuple[str, ...]:
    """The cache with new keywords at its end; beyond `most` keywords, only the last `kept` (≥ 1) stay."""
    fresh = tuple(dict.fromkeys(new))
    words = tuple(dict.fromkeys((*(word for word in cached if word not in fresh), *fresh)))
    return words[-kept:] if len(words) > most else words


def next_turn(
    running: Iterable[Running], found: Iterable[Recollection], *, turns: int, most: int, similarity: float
) -> tuple[Running, ...]:
    """The items of the next turn: all are a turn older, those of `turns` turns are removed, and new ones join unless
    too similar.

    Too similar is a `SequenceMatcher` ratio of `similarity` or more with any present item. `most` is at least 1.
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
