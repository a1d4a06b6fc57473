"""Links between memories and concepts: their types, and the rules for creating and strengthening them.

An edge carries a `weight` in [0, 1] (BIEM) and an integer `strength` (Hippocampus); each kind of spreading reads its
own. Detecting a link again never lowers it; co-occurring again adds one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations
from typing import Literal

LinkType = Literal["temporal", "semantic", "causal", "mention", "cooccurrence"]
"""*temporal*: close in time; *semantic*: similar; *causal*: the source led to the target; *mentions*: memory →
concept; *cooccurrence*: concepts of one passage.
"""

SYMMETRIC: frozenset[LinkType] = frozenset({"semantic", "cooccurrence"})
"""Stored once per pair, with the smaller id as the source, so that a–b and b–a are the same edge."""
DIRECTED: frozenset[LinkType] = frozenset({"causal"})
"""Traversed along their direction only; all others in both."""

Key = tuple[str, str, LinkType]
"""Source, target, type: the identity of a link."""


@dataclass(frozen=True, slots=True)
class Link:
    """One edge of the graph. `weight` lies in [0, 1]; `strength` is at least 1."""

    source: str
    target: str
    type: LinkType
    weight: float
    strength: int
    created_at: datetime | None = None
    touched_at: datetime | None = None
    """When it was last detected, repeated or weakened."""

    @property
    def key(self) -> Key:
        """Its identity within its scope."""
        return (self.source, self.target, self.type)


@dataclass(frozen=True, slots=True)
class NewLink:
    """A link detected (`strength`: at least that much) or repeated (`add`: that much more); see `grown`.

    A co-occurrence is `NewLink(a, b, "cooccurrence", strength=0, add=1)`: 1 when new, else +1.
    """

    source: str
    target: str
    type: LinkType
    weight: float = 1.0
    strength: int = 1
    add: int = 0

    def __post_init__(self) -> None:
        if not 0.0 <= self.weight <= 1.0:
            raise ValueError(f"a link's weight lies in [0, 1], not {self.weight}")
        if self.strength < 0 or self.add < 0 or self.strength + self.add < 1:
            raise ValueError("a new link has a strength of at least 1")
        if self.type in SYMMETRIC and self.target < self.source:
            source, target = self.target, self.source
            object.__setattr__(self, "source", source)
            object.__setattr__(self, "target", target)

    @property
    def key(self) -> Key:
        """Its identity within its scope."""
        return (self.source, self.target, self.type)


def grown(old: tuple[float, int] | None, new: NewLink) -> tuple[float, int]:
    """Weight and strength after `new`: the maximum of old and new, then `add` on top."""
    weight, strength = old or (0.0, 0)
    return max(weight, new.weight), max(strength, new.strength) + new.add


def combined(links: Iterable[NewLink]) -> list[NewLink]:
    """One entry per key, with the same result as one by one in any order; links from a node to itself are dropped."""
    by_key: dict[Key, NewLink] = {}
    for link in links:
        if link.source == link.target:
            continue
        known = by_key.get(link.key)
        if known is not None:
            link = NewLink(
                *link.key, max(known.weight, link.weight), max(known.strength, link.strength), known.add + link.add
            )
        by_key[link.key] = link
    return list(by_key.values())


def strength_of(similarity: float) -> int:
    """⌊10 · similarity⌋, at least 1; 0.70 gives 7 although 0.7 · 10 may be below 7 in floating point."""
    return max(1, int(similarity * 10 + 1e-9))


def semantic_links(
    node: str, similarities: Iterable[tuple[str, float]], *, above: float, inclusive: bool = False
) -> list[NewLink]:
    """Links from `node` to nodes more similar than `above`; with `inclusive` (for topics) at least as similar."""
    return combined(
        NewLink(node, other, "semantic", min(1.0, similarity), strength_of(min(1.0, similarity)))
        for other, similarity in similarities
        if similarity > above or (inclusive and similarity == above)
    )


@dataclass(frozen=True, slots=True)
class Moment:
    """A memory in time; `seq`, its write sequence, orders memories of the same instant."""

    id: str
    at: datetime
    seq: int
    conversation: str = ""


def temporal_links(memory: Moment, others: Iterable[Moment], *, most: int, window_s: float) -> list[NewLink]:
    """Links to the `most` last memories of the same conversation less than `window_s` seconds before.

    Memories without a conversation count as one. Earlier means by (at, seq), independent of the order of arrival.
    """
    before = [
        other
        for other in others
        if other.id != memory.id
        and other.conversation == memory.conversation
        and (other.at, other.seq) < (memory.at, memory.seq)
        and (memory.at - other.at).total_seconds() < window_s
    ]
    before.sort(key=lambda other: (other.at, other.seq), reverse=True)
    return [NewLink(memory.id, other.id, "temporal") for other in before[:most]]


def meeting_links(concepts: Sequence[str]) -> list[NewLink]:
    """Co-occurrence of every pair of concepts of one passage, +1 each."""
    return combined(
        NewLink(a, b, "cooccurrence", strength=0, add=1) for a, b in combinations(dict.fromkeys(concepts), 2)
    )


def learned_links(useful: Sequence[str]) -> list[NewLink]:
    """Links learned from positive feedback on memories that were useful together, given in the order cause → effect.

    Each pair gets a causal link from the earlier to the later, +1 at each repetition, and its semantic link, which is
    traversed both ways, gets +1.
    """
    links: list[NewLink] = []
    for cause, effect in combinations(dict.fromkeys(useful), 2):
        links.append(NewLink(cause, effect, "causal", strength=0, add=1))
        links.append(NewLink(cause, effect, "semantic", weight=0.0, strength=0, add=1))
    return links


def redirected(links: Iterable[Link], old: Mapping[str, str]) -> list[NewLink]:
    """`links` after each node of `old` was replaced by another; no loops, equal links combined."""
    return combined(
        NewLink(
            old.get(link.source, link.source), old.get(link.target, link.target), link.type, link.weight, link.strength
        )
        for link in links
    )
