"""The write path up to the acknowledgement: validate, commit, update HotKV, wake a worker.

A memory is acknowledged when its row, its original, its place in the write sequence and its job are committed in one
transaction of Records. Everything else is a projection and may fail without losing anything.
"""

import hashlib
import json
import logging
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import fields, replace
from datetime import datetime, timedelta
from typing import Any

from biem.domain.energy import initial_energy
from biem.domain.node import KINDS, LAYERS, ON_EXPIRY, Draft, new_id, require_expiry, require_importance, require_time
from biem.domain.policies.writing import WritePolicy
from biem.domain.scope import Scope
from biem.domain.text import counted, cut_lexemes, require_clean, require_json
from biem.domain.trust import UNTRUSTED, origin_of, require_origin, require_trust, trust_of
from biem.engine.priority import Calling
from biem.engine.query.request import require_known
from biem.engine.remember.hot_write_behind import HotFeed
from biem.errors import InvalidInput, RateLimited, StoreUnavailable
from biem.ports import Analyzer, Clock, HotEntry, JobQueue, Records, Write, Written
from biem.ports.hot import Rates
from biem.telemetry import Telemetry

logger = logging.getLogger("biem.remember")

_CHAT_SOURCES = ("user", "assistant")
_ARGUMENTS = (*(field.name for field in fields(Draft)), "ttl")


class Writer:
    """Turns callers' input into acknowledged memories."""

    def __init__(
        self,
        *,
        records: Records,
        hot: HotFeed,
        queue: JobQueue,
        analyzer: Analyzer,
        clock: Clock,
        policy: WritePolicy,
        telemetry: Telemetry,
        rates: Rates | None = None,
        calling: Calling = nullcontext,
        remembered: Callable[[Scope, Sequence[str]], None] | None = None,
    ) -> None:
        """`remembered(scope, ids)` is called with new memories once they are durable; it must not raise."""
        self._records = records
        self._hot = hot
        self._queue = queue
        self._analyzer = analyzer
        self._clock = clock
        self._policy = policy
        self._telemetry = telemetry
        self._rates = rates
        self._calling = calling
        self._remembered = remembered

    def remember(self, scope: Scope, text: str, **details: Any) -> str:
        """Acknowledge one memory; returns its id, or the id of the existing memory that it equals."""
        with self._telemetry.span("biem.remember"), self._calling():
            write = self.write_of(text, details)
            self.admit(scope, 1)
            return self._commit(scope, [write])[0]

    def remember_many(
        self, scope: Scope, items: Iterable[Mapping[str, Any]], on_progress: Callable[[int], None] | None
    ) -> list[str]:
        """Acknowledge many, several hundred a transaction; an invalid item stops before its own transaction is
        written.
        """
        require_items(items)
        ids: list[str] = []
        batch: list[Write] = []
        for position, item in enumerate(items):
            try:
                details = details_of(item)
                batch.append(self.write_of(details.pop("text", None), details))
            except InvalidInput as error:
                raise type(error)(f"item {position}: {error}; {before_it(len(ids))}") from None
            if len(batch) == self._policy.bulk_rows:
                self.admit(scope, len(batch), stored=len(ids))
                ids += self._commit(scope, batch)
                batch = []
                if on_progress:
                    on_progress(len(ids))
        if batch:
            self.admit(scope, len(batch), stored=len(ids))
            ids += self._commit(scope, batch)
            if on_progress:
                on_progress(len(ids))
        return ids

    def remember_as(self, scope: Scope, memory_id: str, text: str, **details: Any) -> str:
        """As `remember`, for a new memory with a given id; repeated with the same id it changes nothing."""
        return self._commit(scope, [replace(self.write_of(text, details), id=memory_id)])[0]

    def admit(self, scope: Scope, writes: int, *, stored: int = 0) -> None:
        """Enforce the scope's rate limit, where one is set; if the counting server is down, writing continues."""
        allowed = self._policy.max_per_minute
        if not allowed or self._rates is None:
            return
        try:
            after_s = self._rates.take(scope, writes, allowed)
        except StoreUnavailable as error:
            logger.warning("rate limit not enforced: %s", error)
            return
        if after_s > 0.0:
            before = f"; {counted(stored, 'item before is', 'items before are')} stored" if stored else ""
            raise RateLimited(
                f"scope {scope} writes more than {allowed:,} memories a minute; try again in {after_s:.1f} s, or raise "
                f"BIEM_WRITE__MAX_PER_MINUTE{before}",
                after_s,
            )

    def _commit(self, scope: Scope, writes: Sequence[Write]) -> list[str]:
        written = self._records.remember(scope, writes)
        self.stored(scope, writes, written)
        return [result.id for result in written]

    def stored(self, scope: Scope, writes: Sequence[Write], written: Sequence[Written]) -> None:
        """Make committed writes findable at once, and wake a worker. Never raises."""
        created = [write for write, result in zip(writes, written, strict=True) if result.created]
        if any(result.restored for result in written):
            self._queue.wake()
        if created:
            if self._remembered is not None:
                self._remembered(scope, [write.id for write in created])
            believed = [write for write in created if write.draft.trust != UNTRUSTED]
            if believed:  # HotKV has few places
                self._hot.push(scope, [HotEntry(write.id, write.lexemes) for write in believed])
            self._queue.wake()

    def write_of(self, text: Any, details: Mapping[str, Any]) -> Write:
        """A row to commit, from the arguments of `remember`. Raises `InvalidInput`."""
        require_known(details, _ARGUMENTS)
        draft = self.draft(text, **details)
        lexemes, fact_key = self.derived(draft)
        energy = initial_energy(draft.importance, draft.reason)
        return Write(id=new_id(), draft=draft, lexemes=lexemes, energy=energy, fact_key=fact_key)

    def derived(self, draft: Draft) -> tuple[str, bytes | None]:
        """The index terms of a text, and the identity of a fact."""
        lexemes = " ".join(self._analyzer.lexemes(draft.indexed_text))
        is_fact = draft.kind != "event" and draft.ref is None
        return cut_lexemes(lexemes, self._policy.max_lexeme_bytes), fact_key(draft.text) if is_fact else None

    def checked(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Some values of a memory, validated as by `draft`, by the names of a draft's fields."""
        others = {name: value for name, value in given.items() if name != "text"}
        draft = self.draft(given.get("text", "unchanged"), **others)
        return {name: getattr(draft, name) for name in ("expires_at" if key == "ttl" else key for key in given)}

    def draft(
        self,
        text: Any,
        *,
        kind: str | None = None,
        tags: Sequence[str] = (),
        reason: str = "",
        importance: float = 3.0,
        source: str = "",
        speaker: str = "",
        conversation: str = "",
        at: datetime | None = None,
        ref: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        layer: str = "short_term",
        origin: str | None = None,
        trust: str | None = None,
        expires_at: datetime | None = None,
        ttl: timedelta | None = None,
        on_expiry: str = "archive",
    ) -> Draft:
        """Validate everything that a caller may pass; `InvalidInput` tells what is wrong and what would be right."""
        policy = self._policy
        require_text(text, policy.max_text_bytes)
        now = self._clock.now()
        if kind is None:
            kind = "event" if speaker or conversation or source in _CHAT_SOURCES else "knowledge"
        _require_choice("kind", kind, KINDS)
        _require_choice("layer", layer, LAYERS)
        for name, value in (("source", source), ("speaker", speaker), ("conversation", conversation)):
            _require_name(name, value, policy.max_name_chars)
        _require_name("reason", reason, policy.max_reason_chars)
        if ref is not None:
            _require_name("ref", ref, policy.max_ref_chars)
            if not ref:
                raise InvalidInput("ref is empty; give an id of your own or leave it out")
        came_from = origin_of(source) if origin is None else require_origin(origin)
        level = trust_of(came_from, policy.trust_by_origin) if trust is None else require_trust(trust)
        if level == UNTRUSTED and layer == "core":
            raise InvalidInput(
                f"an untrusted memory (origin {came_from!r}) cannot be core, which every prompt begins with; leave "
                "`layer` out, or pass trust='normal' if you have checked the text"
            )
        return Draft(
            text=text,
            kind=kind,
            tags=_tags(tags, policy),
            reason=reason,
            importance=require_importance(importance),
            source=source,
            speaker=speaker,
            conversation=conversation,
            at=now if at is None else require_time(at, "at", now, policy.future_days),
            ref=ref,
            metadata=require_metadata(metadata, policy.max_metadata_bytes),
            layer=layer,
            origin=came_from,
            trust=level,
            expires_at=require_expiry(expires_at, ttl, now),
            on_expiry=_require_choice("on_expiry", on_expiry, ON_EXPIRY),
        )


def require_items(items: object) -> None:
    """Reject what is no list of mappings, before the first is written."""
    if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
        raise InvalidInput(f"items must be a list of mappings of remember()'s arguments, not {type(items).__name__}")


def before_it(stored: int) -> str:
    """How many items precede one that is refused."""
    return f"{counted(stored, 'item before it is', 'items before it are')} stored"


def details_of(item: Any) -> dict[str, Any]:
    """The arguments of one memory; rejects what `remember` does not take."""
    if not isinstance(item, Mapping):
        raise InvalidInput(f"must be a mapping of remember()'s arguments, not {type(item).__name__}")
    unknown = [key for key in item if key not in _ARGUMENTS]
    if unknown:
        raise InvalidInput(f"{unknown[0]!r} is unknown; known are {', '.join(_ARGUMENTS)}")
    return dict(item)


def fact_key(text: str) -> bytes:
    """What identifies a fact in its scope: facts are equal when they differ only in width and white space."""
    return hashlib.sha256(" ".join(unicodedata.normalize("NFKC", text).split()).encode()).digest()


def require_text(text: Any, limit: int) -> None:
    """Reject what is no text of 1 to `limit` bytes."""
    if not isinstance(text, str):
        raise InvalidInput(f"text must be a string, not {type(text).__name__}")
    require_clean(text, "text")
    if not text.strip():
        raise InvalidInput("text is empty; there is nothing to remember")
    size = len(text.encode())
    if size > limit:
        raise InvalidInput(
            f"text has {size:,} bytes; at most {limit:,} are allowed: split it into parts that each say one thing, "
            "or raise BIEM_WRITE__MAX_TEXT_BYTES"
        )


def _require_choice(what: str, value: Any, choices: Sequence[str]) -> str:
    if value not in choices:
        raise InvalidInput(f"{what} {value!r} is unknown; choose one of {', '.join(choices)}")
    return str(value)


def _require_name(what: str, value: Any, limit: int) -> None:
    if not isinstance(value, str):
        raise InvalidInput(f"{what} must be a string, not {type(value).__name__}")
    require_clean(value, what)
    if len(value) > limit:
        raise InvalidInput(f"{what} has {len(value):,} characters; at most {limit:,} are allowed")


def _tags(tags: Any, policy: WritePolicy) -> tuple[str, ...]:
    if isinstance(tags, (str, bytes)) or not isinstance(tags, Iterable):
        raise InvalidInput("tags must be a list of strings")
    given = list(tags)
    for tag in given:
        _require_name("a tag", tag, policy.max_tag_chars)
        if not tag.strip():
            raise InvalidInput("a tag is empty")
    unique = tuple(dict.fromkeys(given))
    if len(unique) > policy.max_tags:
        raise InvalidInput(f"{len(unique):,} tags were given; at most {policy.max_tags} are allowed")
    return unique


def require_metadata(metadata: Mapping[str, Any] | None, limit: int) -> Mapping[str, Any]:
    """A copy that can be stored as JSON of at most `limit` bytes; raises `InvalidInput`."""
    if metadata is None:
        return {}
    if not isinstance(metadata, Mapping):
        raise InvalidInput(f"metadata must be a mapping, not {type(metadata).__name__}")
    try:
        encoded = json.dumps(dict(metadata), allow_nan=False, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"metadata cannot be stored as JSON: {error}") from None
    decoded = json.loads(encoded)
    require_json(decoded, "metadata")
    _require_clean_strings(decoded)
    if len(encoded.encode()) > limit:
        raise InvalidInput(f"metadata has {len(encoded.encode()):,} bytes as JSON; at most {limit:,} are allowed")
    return decoded  # type: ignore[no-any-return]


def _require_clean_strings(value: Any) -> None:
    if isinstance(value, str):
        require_clean(value, "metadata")
    elif isinstance(value, dict):
        for key, inner in value.items():
            require_clean(key, "metadata")
            _require_clean_strings(inner)
    elif isinstance(value, list):
        for inner in value:
            _require_clean_strings(inner)
