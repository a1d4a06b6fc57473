"""Values of a memory: input (`Draft`), stored (`Node`), results (`Hit`, `Receipt`)."""

import os
import re
import time
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any, Literal, get_args

from biem.domain.fields import Fields
from biem.domain.notes.library import NoteHits
from biem.domain.scope import Scope
from biem.domain.speech.first_person import in_first_person
from biem.domain.text import part_of, simplified
from biem.domain.trust import is_quarantine
from biem.errors import InvalidInput

Kind = Literal["knowledge", "skill", "emotion", "task", "event"]
"""Angel's types. A chat message is an `event`; the other four are facts."""
Layer = Literal["core", "session", "short_term", "long_term"]
"""The lifetime policy of a memory."""
Tier = Literal["L1", "L2", "L3"]
"""Where a memory is stored: L1 in the canvas, L2 in the vector index, L3 in PostgreSQL alone (archived)."""
Status = Literal["pending", "active", "archived"]
"""`pending`: acknowledged, findable by text, not yet embedded. `archived`: forgotten, restorable, never returned."""
Mode = Literal["auto", "fast", "strict"]
"""`strict` returns the originals with the hits, `fast` does not, `auto` decides by trigger words."""

_TALKING = frozenset(("user", "assistant"))
"""Sources of messages, whose speakers speak for themselves."""
KINDS: tuple[str, ...] = get_args(Kind)
LAYERS: tuple[str, ...] = get_args(Layer)
MODES: tuple[str, ...] = get_args(Mode)
ON_EXPIRY: tuple[str, ...] = ("archive", "erase")
"""What happens to an expired memory: archived it can be restored, erased it is destroyed."""


SUMMARY_SOURCE = "session"
"""The source of memories that summarise a part of a session."""
ID_TIME = len("018f3a5e-7c01")
"""The prefix of an id is its creation time: it shows whether a call created the memory or found it."""
_REPR_HITS, _REPR_CHARS = 3, 40
_FAR_FUTURE_DAYS = 3_000_000
"""An expiry may be any time that a datetime can represent."""


DIGITS_OF_ID = 32
_ID = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_LEAST_OF_ID = 6
"""Minimum hexadecimal digits of an abbreviated id: two of a thousand memories share six with a chance of one in 33."""


def new_id() -> str:
    """A UUID version 7 (RFC 9562): 48 bits of Unix milliseconds, then random bits, so ids sort by creation."""
    value = (time.time_ns() // 1_000_000) << 80 | int.from_bytes(os.urandom(10))
    value = value & ~(0xF << 76) | 0x7 << 76
    return str(uuid.UUID(int=value & ~(0x3 << 62) | 0x2 << 62))


def parse_id(text: str) -> str:
    """The canonical 36 characters of an id; raises `InvalidInput`."""
    try:
        return str(uuid.UUID(text))
    except (ValueError, AttributeError, TypeError):
        raise InvalidInput(f"{text!r} is not an id; ids look like {new_id()}") from None


def is_id(text: str) -> bool:
    """Whether a text is an id in its canonical form."""
    return _ID.fullmatch(text) is not None


def related_of(metadata: Mapping[str, Any]) -> list[str]:
    """The ids under `related` in metadata; none where that is not a list of ids."""
    found = metadata.get("related")
    if not isinstance(found, list | tuple) or not all(isinstance(one, str) and is_id(one) for one in found):
        return []
    return list(found)


def id_part(text: str) -> str:
    """The hexadecimal digits, six or more, of an id or a part of one; raises `InvalidInput`."""
    digits = text.replace("-", "").lower() if isinstance(text, str) else ""
    if not _LEAST_OF_ID <= len(digits) <= DIGITS_OF_ID or set(digits) - set("0123456789abcdef"):
        raise InvalidInput(
            f"{text!r} is no id and no part of one; an id looks like {new_id()}, and its first or last "
            f"{_LEAST_OF_ID} digits or more stand for it"
        )
    return digits


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """One validated write. `at` is when it was said (aware); `importance` is 1–5."""

    text: str
    kind: str = "knowledge"
    tags: tuple[str, ...] = ()
    reason: str = ""
    importance: float = 3.0
    source: str = ""
    speaker: str = ""
    conversation: str = ""
    at: datetime
    ref: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    layer: str = "short_term"
    origin: str = "user"
    trust: str = "trusted"
    expires_at: datetime | None = None
    on_expiry: str = "archive"

    @property
    def indexed_text(self) -> str:
        """The text that is embedded and tokenised: with the speaker of a message; a fact about "the user" as his own
        words, since his questions are; in simplified characters.
        """
        return _indexed(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A stored memory. `energy` is that of the instant the node was read."""

    id: str
    scope: Scope
    text: str
    kind: str
    status: str
    layer: str
    tags: tuple[str, ...] = ()
    reason: str = ""
    importance: float = 3.0
    source: str = ""
    speaker: str = ""
    conversation: str = ""
    at: datetime
    created_at: datetime
    ref: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    language: str = "und"
    fields: Fields = field(default_factory=Fields)
    entities: tuple[str, ...] = ()
    sentiment: float = 0.0
    write_seq: int = 0
    energy: float = 0.0
    initial_energy: float = 0.0
    """Its energy when written; for information only, no later energy is computed from it."""
    access_count: int = 0
    useful_count: int = 0
    accessed_at: datetime | None = None
    evidence_ptr: str = ""
    """SHA-256 (hexadecimal) of the original text."""
    tier: str = "L2"
    energy_key: float = 0.0
    """The time-invariant order of energies; see `biem.domain.energy`."""
    energy_since: datetime | None = None
    """Since when the energy does nothing but decay: the last use or feedback that changed it, or the writing."""
    valid_from: datetime | None = None
    """Start of the validity of its content; always set in the records."""
    valid_to: datetime | None = None
    """End of its validity; None while valid."""
    superseded_by: str | None = None
    """The memory that replaced it."""
    archived_at: datetime | None = None
    archive_reason: str = ""
    revision: int = 1
    """1 as written; each change adds 1."""
    revised_at: datetime | None = None
    """When it was last changed; None: never."""
    expires_at: datetime | None = None
    """It is hidden from then on, then archived or erased (`on_expiry`); None: never."""
    on_expiry: str = "archive"
    origin: str = "user"
    """Where it comes from; see `biem.domain.trust`."""
    trust: str = "trusted"

    @property
    def related(self) -> tuple[str, ...]:
        """Ids of memories that it refers to, from `related` in its metadata."""
        return tuple(related_of(self.metadata))

    @property
    def quarantined(self) -> bool:
        """Whether it is in quarantine: archived, and returned only by `release`."""
        return self.status == "archived" and is_quarantine(self.archive_reason)

    @property
    def indexed_text(self) -> str:
        """As `Draft.indexed_text`."""
        return _indexed(self)

    @property
    def spoken_text(self) -> str:
        """The text as it was written, with its speaker, if it has one."""
        return f"{self.speaker}: {self.text}" if self.speaker else self.text


def _indexed(memory: Draft | Node) -> str:
    text = simplified(memory.text)
    if memory.speaker:
        return f"{memory.speaker}: {text}"
    if memory.source in _TALKING:
        return text
    return in_first_person(text, fact=not memory.conversation)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeInSimplified(Node):
    """A memory written in traditional characters: `text` is the whole of it, or a part, in simplified ones."""

    whole: str
    """The text as it was written."""


PASSAGE = "#"
"""Between the id of a message and the number of one of its passages."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One recalled memory: `score` in [0, 1] orders the hits of one query, `why` holds the value of every signal."""

    node: Node
    score: float
    why: Mapping[str, float | str]
    evidence: str | None = None
    """The original, byte for byte, in strict mode."""
    reasons: tuple[str, ...] = ()
    """At most three short phrases, in the question's language, for the strongest signals; none under a profile of a
    source design.
    """
    alike: Mapping[str, float] = field(default_factory=dict)
    """Likeness, 0.15 to 1, of the other hits of this recall that tell of much the same, by the id of their memories, or
    of their `passages`."""
    replaces: Node | None = None
    """The memory that it replaced, if that was among the candidates: "No, Thursday" alone does not say of what."""
    answers: Node | None = None
    """What this message answers, where it alone does not say of what: the assistant's question before a short one
    ("Six."), or the request before
    a message in which the assistant gives what was asked for, or reports ("Done, it is six now").
    """
    refers_to: Node | None = None
    """The person's message before, if this one describes by a pronoun ("It's a Trek" alone does not say what), or is
    the assistant's report after a statement: "Ten racks ordered" after "We're nearly out of tips".
    """
    reports: bool = False
    """The assistant tells in it what it did or found out, or how something stands, which the user did not say."""
    passages: tuple["Hit", ...] = ()
    """Of a message with several statements those nearest to the query, each as a hit: the text of its memory is the
    statement, and its id that of the message, with `#` and a number for all but the nearest."""
    told: tuple[str, ...] = ()
    """The statements of it that a block tells, best first; empty for the whole."""

    @property
    def whole(self) -> str:
        """The id of the memory, of a passage that of its message."""
        return self.node.id.partition(PASSAGE)[0]


def as_read(node: Node) -> Node:
    """The memory in simplified characters; itself if it has no others."""
    text = simplified(node.text)
    return node if text is node.text else NodeInSimplified(**{**_values(node), "text": text}, whole=node.text)


def written(node: Node) -> str:
    """The text, or the part of it, as it was written."""
    return part_of(node.whole, node.text) if isinstance(node, NodeInSimplified) else node.text


def as_written(hits: Iterable[Hit]) -> list[Hit]:
    """The hits with the texts that were written; those of their other memories, too."""
    return [_as_written(hit) for hit in hits]


def _as_written(hit: Hit) -> Hit:
    whole = hit.node
    others = (whole, hit.replaces, hit.answers, hit.refers_to)
    if not any(isinstance(node, NodeInSimplified) for node in others):
        return hit
    told = hit.told
    if isinstance(whole, NodeInSimplified):
        told = tuple(part_of(whole.whole, part) for part in told)
    return replace(
        hit,
        node=_plain(whole),
        replaces=hit.replaces and _plain(hit.replaces),
        answers=hit.answers and _plain(hit.answers),
        refers_to=hit.refers_to and _plain(hit.refers_to),
        told=told,
        passages=tuple(map(_as_written, hit.passages)),
    )


def _plain(node: Node) -> Node:
    return Node(**{**_values(node), "text": written(node)}) if isinstance(node, NodeInSimplified) else node


def _values(node: Node) -> dict[str, Any]:
    return {field.name: getattr(node, field.name) for field in fields(Node)}


class Hits(list[Hit]):
    """The result of one recall, best first. `degraded` names the servers that were down; empty when none was.

    `selection` tells how the hits were chosen; for a draw, the same `seed` draws the same from the same memories.
    `channels` holds the candidates of each kind in typed recall, best first. `confidence` in [0, 1] estimates whether
    this memory has the answer at all, and `grounds` holds its features; `way` is "search", or "orbit" for an answer
    from prefetched candidates. `indexing` counts the memories in the searched scopes that are not indexed yet (100,000:
    at least as many): they were matched by words only. `notes` are chunks of notes for the same query, best first, with
    a confidence of their own.
    """

    def __init__(
        self,
        hits: Iterable[Hit] = (),
        *,
        degraded: tuple[str, ...] = (),
        mode: str = "fast",
        selection: str = "top_k",
        seed: int | None = None,
        channels: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
        confidence: float = 0.0,
        grounds: Mapping[str, float] = MappingProxyType({}),
        way: str = "search",
        indexing: int = 0,
    ) -> None:
        super().__init__(hits)
        self.degraded = degraded
        self.mode = mode
        self.selection = selection
        self.seed = seed
        self.channels = channels
        self.confidence = confidence
        self.grounds = grounds
        self.way = way
        self.indexing = indexing
        self.notes = NoteHits()

    def __repr__(self) -> str:
        """Short, for a debugger: the details of each hit are in its fields."""
        shown = ", ".join(f"{hit.score:.2f} {hit.node.text[:_REPR_CHARS]!r}" for hit in self[:_REPR_HITS])
        more = ", …" if len(self) > _REPR_HITS else ""
        lost = f", degraded={list(self.degraded)}" if self.degraded else ""
        return f"<{len(self)} Hits: {shown}{more}{lost}>" if self else f"<0 Hits{lost}>"


@dataclass(frozen=True, slots=True)
class StoreCount:
    """Records of the erased target in one store before and after; None when the store could not be reached."""

    store: str
    before: int | None
    after: int | None


@dataclass(frozen=True, slots=True)
class AutomaticBackup:
    """A backup made before an upgrade of the embedded servers, and when it is deleted automatically."""

    path: str
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """Proof of an erasure: every store with its counts. `complete` only if nothing is left in any store.

    `scopes`: for an erased user, the number of memories in each scope. `backups`: automatic backups made before an
    upgrade; they may still contain what was erased, and are deleted when they expire. `kept_files`: folders and files
    of notes; what was known of them is destroyed, but they are their owner's and stay on the disk.
    """

    id: str
    target: str
    erased_at: datetime
    memories: int
    stores: tuple[StoreCount, ...]
    scopes: Mapping[str, int] = field(default_factory=dict)
    backups: tuple[AutomaticBackup, ...] = ()
    kept_files: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every store was reached and holds nothing of the target."""
        return all(count.after == 0 for count in self.stores)


def require_time(value: datetime, what: str, now: datetime, future_days: int) -> datetime:
    """`value` in UTC: aware, not before 1900 and at most `future_days` ahead of `now`. Naive times are read as UTC."""
    if not isinstance(value, datetime):
        raise InvalidInput(f"{what} must be a datetime, not {type(value).__name__}")
    if value.year < 1900:
        raise InvalidInput(f"{what} is in the year {value.year}; a memory's time must lie after 1900")
    try:
        moment = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
        ahead = (moment - now).total_seconds() / 86_400
    except (OverflowError, ValueError):
        raise InvalidInput(f"{what} ({value.isoformat()}) is outside the calendar") from None
    if ahead > future_days:
        raise InvalidInput(
            f"{what} ({value.isoformat()}) lies {ahead:.0f} days ahead; at most {future_days} are allowed"
        )
    return moment


def require_expiry(expires_at: datetime | None, ttl: timedelta | None, now: datetime) -> datetime | None:
    """When a memory expires, given as an instant or as the time it lives from `now` on; None for never."""
    if expires_at is not None and ttl is not None:
        raise InvalidInput("pass either expires_at or ttl, not both")
    if ttl is not None:
        if not isinstance(ttl, timedelta):
            raise InvalidInput(f"ttl must be a timedelta such as timedelta(days=30), not {type(ttl).__name__}")
        if ttl <= timedelta(0):
            raise InvalidInput(f"ttl must be positive, not {ttl}")
        try:
            return now + ttl
        except OverflowError:
            raise InvalidInput(f"ttl ({ttl}) ends outside the calendar; leave it out to keep the memory") from None
    if expires_at is None:
        return None
    moment = require_time(expires_at, "expires_at", now, _FAR_FUTURE_DAYS)
    if moment <= now:
        raise InvalidInput(f"expires_at ({expires_at.isoformat()}) is not in the future")
    return moment


def require_importance(value: float) -> float:
    """A finite number in 1–5."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 1 <= value <= 5:  # false for NaN, too
        raise InvalidInput(f"importance must be a number from 1 to 5, not {value!r}")
    return float(value)
