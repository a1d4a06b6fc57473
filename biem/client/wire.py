"""Values as JSON, and back: the dataclasses of the facade by their fields, times in ISO 8601."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, PlainSerializer, TypeAdapter

from biem.domain.node import Hit, Hits
from biem.domain.notes.library import NoteHit, NoteHits
from biem.ports.notes.records import TagInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundNotes:
    """Chunks of notes, best first; see `NoteHits`."""

    hits: tuple[NoteHit, ...] = ()
    confidence: float = 0.0
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """The result of a recall; see `Hits`."""

    hits: tuple[Hit, ...] = ()
    degraded: tuple[str, ...] = ()
    mode: str = "fast"
    selection: str = "top_k"
    seed: int | None = None
    channels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    confidence: float = 0.0
    grounds: Mapping[str, float] = field(default_factory=dict)
    way: str = "search"
    indexing: int = 0
    notes: FoundNotes = field(default_factory=FoundNotes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """The ids of what one call stored or found, in order."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """Whether a call changed anything; False: it was so already."""

    changed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """The number that a call returns."""

    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AboutServer:
    """The server, as far as a client needs to know it."""

    version: str
    embedder: str
    dimension: int
    languages: tuple[str, ...]
    max_tokens: int
    layout: str
    tenant: str
    user: str | None
    project: str | None
    grants: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TagFields:
    """A tag of notes on the wire; see `TagInfo`. `sha` is hexadecimal."""

    id: int
    ns: str
    shown: str
    root: int
    root_shown: str
    sha: str
    idle: bool
    uses: int


def _sent_tag(tag: TagInfo) -> TagFields:
    return TagFields(
        id=tag.id,
        ns=tag.ns,
        shown=tag.shown,
        root=tag.root,
        root_shown=tag.root_shown,
        sha=tag.sha.hex(),
        idle=tag.idle,
        uses=tag.uses,
    )


def _received_tag(document: Any) -> Any:
    """The fields of a tag, with the bytes that JSON has none of."""
    if isinstance(document, Mapping):
        return {**document, "sha": bytes.fromhex(str(document.get("sha", "")))}
    return document


SentTag = Annotated[TagInfo, PlainSerializer(_sent_tag, return_type=TagFields), BeforeValidator(_received_tag)]


@cache
def adapter(kind: Any) -> TypeAdapter[Any]:
    """Reads and writes values of a type."""
    return TypeAdapter(kind)


@cache
def strict(kind: Any) -> TypeAdapter[Any]:
    """Checks values of a caller, and makes none into another type."""
    return TypeAdapter(kind, config=ConfigDict(strict=True, hide_input_in_errors=True))


def encoded(kind: Any, value: object) -> bytes:
    """A value of a type as JSON."""
    return adapter(kind).dump_json(_plain(value), fallback=_fallback, warnings=False)


def decoded(kind: Any, content: bytes) -> Any:
    """The inverse of `encoded`; raises `ValueError` for anything else."""
    return _rich(adapter(kind).validate_json(content))


def _fallback(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no JSON")


def _plain(value: object) -> object:
    """The form on the wire of what the facade returned."""
    if isinstance(value, Hits):
        names = ("degraded", "mode", "selection", "seed", "channels", "confidence", "grounds", "way", "indexing")
        notes = _plain(value.notes)
        assert isinstance(notes, FoundNotes)
        return Recalled(hits=tuple(value), notes=notes, **{name: getattr(value, name) for name in names})
    if isinstance(value, NoteHits):
        return FoundNotes(hits=tuple(value), confidence=value.confidence, degraded=value.degraded)
    if isinstance(value, bool):
        return Done(changed=value)
    if isinstance(value, int):
        return Counted(count=value)
    return value


def _rich(value: Any) -> Any:
    """What the facade returns for its form on the wire."""
    if isinstance(value, Recalled):
        hits = Hits(
            value.hits,
            degraded=value.degraded,
            mode=value.mode,
            selection=value.selection,
            seed=value.seed,
            channels=value.channels,
            confidence=value.confidence,
            grounds=value.grounds,
            way=value.way,
            indexing=value.indexing,
        )
        hits.notes = _rich(value.notes)
        return hits
    if isinstance(value, FoundNotes):
        return NoteHits(value.hits, confidence=value.confidence, degraded=value.degraded)
    if isinstance(value, Done):
        return value.changed
    if isinstance(value, Counted):
        return value.count
    return value
