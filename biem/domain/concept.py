"""Concepts: what memories are about, after Hippocampus. Values, sampling, and the arithmetic of choosing and keeping.

A concept has items (what was said of it, each with the memories it comes from); links join concepts met together.
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
"""A snippet may lie among this many times as many memories of other conversations; then it ends."""


@dataclass(frozen=True, slots=True)
class Message:
    """A stored memory as building sees it. `seq` is its write sequence, `received_at` when it was stored."""

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
        """Whether it belongs with its neighbours; a fact stands alone."""
        return self.kind == "event" and self.conversation != ""

    @property
    def line(self) -> str:
        """Who said what."""
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
    """The snippets that `messages`, in write order, prolong or begin; each holds at most `length`.

    `running` are snippets that may still grow. One that was built from does not grow any more, nor does a conversation
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
    """`count` instants before `now`, their ages drawn from the peaks; none lies ahead."""
    weights = [peak.weight for peak in peaks]
    chosen = random.choices(list(peaks), weights, k=count)
    return [now - timedelta(hours=max(0.0, random.gauss(peak.age_h, peak.spread_h))) for peak in chosen]


@dataclass(frozen=True, slots=True)
class Concept:
    """A node of the concept graph; `ns` is its scope's. `items` counts what is known of it."""

    id: str
    ns: str
    name: str
    items: int = 0


def concept_id(ns: str, terms: Iterable[str]) -> str:
    """The same index terms in the same scope are the same concept, also when it is built twice at once or again."""
    return str(uuid.UUID(bytes=hashlib.sha256(f"{ns}\0{' '.join(terms)}".encode()).digest()[:16], version=4))


@dataclass(frozen=True, slots=True)
class Item:
    """What was said of a concept. `sources` are the memories it comes from; `vector` is None where unknown."""

    id: str
    concept: str
    text: str
    sources: tuple[str, ...]
    strength: int = 1
    vector: bytes | None = None


def item_id(concept: str, text: str) -> str:
    """The same text under the same concept is the same item."""
    return str(uuid.UUID(bytes=hashlib.sha256(concept.encode() + sha256(text)).digest()[:16], version=4))


@dataclass(frozen=True, slots=True)
class Recollection:
    """A memory called up through a concept. `activation` is the concept's, after spreading."""

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
    """Each item worth keeping with the poorer near-duplicates it replaces; ties go to the smaller id.

    The richest item collects what is similar to it, then the richest of the rest: nothing is compared through a third
    text, so a chain of small changes never swallows what differs.
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
    """At most `limit` nodes by their share a²/Σa²: the greatest or, with `random`, drawn without return."""
    shares = {node: a * a for node, a in activation.items() if a > 0.0 and a * a > 0.0}  # the least ones underflow
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
    """The keys that tell what a snippet is about: frequency × rarity, greatest first, at most `limit`.

    `mentions` has, for each message that says the key, how prominent it is there (0 to 1); `known` how many items its
    concept has after `snippets` snippets: what is said in all of them tells little about any.
    """
    scores = {
        key: sum(values) * math.log1p((1 + snippets) / (1 + known.get(key, 0)))
        for key, values in mentions.items()
        if key not in banned
    }
    return sorted(scores, key=lambda key: (-scores[key], key))[:limit]
