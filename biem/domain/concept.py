"""Concepts, after Hippocampus: values, sampling of conversation, selection and merging of items.

A concept has items (statements about it, each with its source memories); links join concepts that co-occur.
"""

import hashlib
import math
import uuid
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from random import Random

from biem.domain.merging import information
from biem.domain.text import sha256

_SPAN = 20
"""A snippet ends when it spans this many times its maximum length in the write sequence, with other conversations'
memories.
"""


@dataclass(frozen=True, slots=True)
class Message:
    """A stored memory as input of building. `seq` is its write sequence, `received_at` when it was stored."""

    id: str
    seq: int
    text: str
    speaker: str
    conversation: str
    kind: str
    at: datetime
    received_at: datetime

    @property
    def spoken(self) -> bool:
        """Whether it is part of a conversation; a fact stands alone."""
        return self.kind == "event" and self.conversation != ""

    @property
    def line(self) -> str:
        """Speaker and text."""
        return f"{self.speaker}: {self.text}" if self.speaker else self.text


@dataclass(frozen=True, slots=True)
class Snippet:
    """A run of messages of one conversation in the order they were written, or of facts (`spoken` is false)."""

    first_seq: int
    last_seq: int
    messages: int
    conversation: str
    spoken: bool
    started_at: datetime
    ended_at: datetime
    received_at: datetime
    times: int = 0
    """How often it was built from."""


def cut(messages: Iterable[Message], running: Iterable[Snippet], *, length: int, pause_s: float) -> list[Snippet]:
    """The snippets that `messages`, in write order, extend or begin; each holds at most `length`.

    `running` are snippets that may still grow. One that was built from no longer grows, and a conversation does not
    continue over a pause, so that a message is in exactly one snippet.
    """
    latest: dict[tuple[bool, str], Snippet] = {}
    for snippet in sorted(running, key=lambda snippet: snippet.first_seq):
        latest[snippet.spoken, snippet.conversation] = snippet
    changed: dict[int, Snippet] = {}
    for message in messages:
        talk = (message.spoken, message.conversation if message.spoken else "")
        known = latest.get(talk)
        if known is not None and _continues(known, message, length, pause_s):
            snippet = known
        else:
            snippet = _beginning(message, talk[1])
        snippet = replace(
            snippet,
            last_seq=message.seq,
            messages=snippet.messages + 1,
            started_at=min(snippet.started_at, message.at),
            ended_at=max(snippet.ended_at, message.at),
            received_at=max(snippet.received_at, message.received_at),
        )
        latest[talk] = changed[snippet.first_seq] = snippet
    return list(changed.values())


def _beginning(message: Message, conversation: str) -> Snippet:
    at, seq = message.at, message.seq
    return Snippet(seq, seq, 0, conversation, message.spoken, at, at, message.received_at)


def _continues(snippet: Snippet, message: Message, length: int, pause_s: float) -> bool:
    if snippet.times or snippet.messages >= length or message.seq - snippet.first_seq >= _SPAN * length:
        return False
    silence = max((message.at - snippet.ended_at).total_seconds(), (snippet.started_at - message.at).total_seconds())
    return not snippet.spoken or silence <= pause_s


@dataclass(frozen=True, slots=True)
class Peak:
    """One peak of the ages that building prefers: a normal distribution in hours, with its weight."""

    age_h: float
    spread_h: float
    weight: float


def sample_instants(now: datetime, peaks: Sequence[Peak], count: int, random: Random) -> list[datetime]:
    """`count` instants before `now`, their ages drawn from the peaks; none is in the future."""
    weights = [peak.weight for peak in peaks]
    chosen = random.choices(list(peaks), weights, k=count)
    return [now - timedelta(hours=max(0.0, random.gauss(peak.age_h, peak.spread_h))) for peak in chosen]


@dataclass(frozen=True, slots=True)
class Concept:
    """A node of the concept graph; `ns` is its scope's. `items` is their number."""

    id: str
    ns: str
    name: str
    items: int = 0


def concept_id(ns: str, terms: Iterable[str]) -> str:
    """A deterministic id: the same index terms in the same scope are the same concept, also when built concurrently
    or again.
    """
    return str(uuid.UUID(bytes=hashlib.sha256(f"{ns}\0{' '.join(terms)}".encode()).digest()[:16], version=4))


@dataclass(frozen=True, slots=True)
class Item:
    """A statement about a concept. `sources` are its source memories; `vector` is None where unknown."""

    id: str
    concept: str
    text: str
    sources: tuple[str, ...]
    strength: int = 1
    vector: bytes | None = None


def item_id(concept: str, text: str) -> str:
    """A deterministic id: the same text under the same concept is the same item."""
    return str(uuid.UUID(bytes=hashlib.sha256(concept.encode() + sha256(text)).digest()[:16], version=4))


@dataclass(frozen=True, slots=True)
class Recollection:
    """A memory recalled through a concept. `activation` is the concept's, after spreading."""

    topic: str
    memory: str
    sources: tuple[str, ...] = ()
    activation: float = 1.0

    @property
    def pair(self) -> tuple[str, str]:
        """(topic, memory)."""
        return (self.topic, self.memory)


def term_similarity(a: Iterable[str], b: Iterable[str]) -> float:
    """Cosine in [0, 1] of two bags of terms; 0 when one is empty."""
    left, right = Counter(a), Counter(b)
    shared = sum(count * right[term] for term, count in left.items())
    if not shared:
        return 0.0
    size = math.sqrt(sum(n * n for n in left.values()) * sum(n * n for n in right.values()))
    return min(1.0, shared / size)


def duplicates(items: Sequence[Item], similar: Callable[[int, int], bool]) -> list[tuple[Item, list[Item]]]:
    """Each item to keep, with the near-duplicates of less information that it replaces; ties go to the smaller id.

    The richest item absorbs its near-duplicates, then the richest of the rest: no comparison is transitive, so a chain
    of small changes never merges different texts.
    """
    order = sorted(range(len(items)), key=lambda i: (-information(items[i].text), items[i].id))
    taken: set[int] = set()
    groups: list[tuple[Item, list[Item]]] = []
    for at, best in enumerate(order):
        if best in taken:
            continue
        group = [other for other in order[at + 1 :] if other not in taken and similar(best, other)]
        taken.update(group)
        if group:
            groups.append((items[best], [items[other] for other in group]))
    return groups


def choose(activation: Mapping[str, float], limit: int, random: Random | None = None) -> list[str]:
    """At most `limit` nodes by their share a²/Σa²: the greatest or, with `random`, drawn without replacement."""
    shares = {node: a * a for node, a in activation.items() if a > 0.0 and a * a > 0.0}  # tiny ones underflow
    if random is None:
        return sorted(shares, key=lambda node: (-shares[node], node))[:limit]
    left = dict(sorted(shares.items()))  # the same seed draws the same nodes in every process
    chosen: list[str] = []
    while left and len(chosen) < limit:
        node = random.choices(list(left), list(left.values()))[0]
        chosen.append(node)
        del left[node]
    return chosen


def salient(
    mentions: Mapping[str, Sequence[float]],
    known: Mapping[str, int],
    snippets: int,
    banned: Collection[str],
    limit: int,
) -> list[str]:
    """The keys most characteristic of a snippet: frequency × rarity, greatest first, at most `limit`.

    `mentions` holds, for each message that contains the key, its prominence there (0 to 1); `known` the number of its
    concept's items after `snippets` snippets: a key of every snippet characterises none.
    """
    scores = {
        key: sum(values) * math.log1p((1 + snippets) / (1 + known.get(key, 0)))
        for key, values in mentions.items()
        if key not in banned
    }
    return sorted(scores, key=lambda key: (-scores[key], key))[:limit]
