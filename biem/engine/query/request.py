"""The arguments of a recall, validated once."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypedDict

from biem.domain.metadata_filter import meets, parse_where
from biem.domain.node import KINDS, MODES, Node, is_id, require_time
from biem.domain.policies.recall import RecallPolicy
from biem.domain.prompt.contents import NOTHING, Known
from biem.domain.scope import Scope
from biem.domain.speech.first_person import in_first_person
from biem.domain.text import require_clean, require_names, simplified
from biem.domain.trust import rank, require_trust
from biem.errors import InvalidInput
from biem.ports import EVERYTHING, Filter

_MOST_IDS = 500
"""Maximum ids that a search excludes; further ones are removed from its results."""
_FAR_FUTURE_DAYS = 3_000_000
"""Conditions may use any time that a datetime can represent."""


MEMORIES, NOTES = "memories", "notes"
SOURCES: tuple[str, ...] = (MEMORIES, NOTES)
"""What a recall may search."""


class Conditions(TypedDict, total=False):
    """The conditions that `recall`, `context` and the plugin accept as keyword arguments; see `Memory.recall`."""

    kinds: Sequence[str]
    since: datetime | None
    until: datetime | None
    speakers: Sequence[str]
    conversations: Sequence[str]
    tags: Sequence[str]
    as_of: datetime | None
    min_energy: float
    sentiment: tuple[float, float] | None
    where: Mapping[str, Any] | None
    min_trust: str | None


@dataclass(frozen=True, slots=True)
class Request:
    """One question with its conditions."""

    scope: Scope
    text: str
    top_k: int
    where: Filter
    strict: bool
    """Whether the originals are requested."""
    session: str
    least: float
    """Minimum confidence of an answer; below it no hit is returned."""
    known: Known
    """The content of the caller's prompt."""
    more: int
    """Additional hits beyond `top_k`, for a caller that selects from them; nothing waits for these."""

    @property
    def follows(self) -> bool:
        """Whether its session's prefetched candidates may answer it: no conditions, no originals, no other time."""
        return bool(self.session) and not self.strict and unexcluded(self.where) == EVERYTHING

    @property
    def mode(self) -> str:
        """As `Hits.mode`."""
        return "strict" if self.strict else "fast"

    def of(self, top_k: int) -> "Request":
        """The same for another number of results."""
        return replace(self, top_k=top_k)


def is_strict(text: str, mode: str, *, auto: bool, words: Sequence[str]) -> bool:
    """Whether originals are handed out: asked for by `mode` or, with `auto`, by one of the trigger words."""
    lowered = text.lower()
    return mode == "strict" or (auto and any(word in lowered for word in words))


def checked(
    scope: Scope,
    query: str,
    *,
    top_k: int,
    mode: str,
    where: Filter,
    session: str,
    min_confidence: float,
    policy: RecallPolicy,
    known: Known = NOTHING,
    more: int = 0,
) -> Request:
    """The validated request; `InvalidInput` tells what is wrong with it and what would be right."""
    require_question(query, "the query")
    if isinstance(top_k, bool) or not isinstance(top_k, int) or not 1 <= top_k <= policy.max_top_k:
        raise InvalidInput(f"top_k must be a whole number from 1 to {policy.max_top_k}, not {top_k!r}")
    if mode not in MODES:
        raise InvalidInput(f"mode {mode!r} is unknown; choose one of {', '.join(MODES)}")
    if not isinstance(session, str):
        raise InvalidInput(f"session must be a string, not {type(session).__name__}")
    require_clean(session, "session")
    if isinstance(min_confidence, bool) or not isinstance(min_confidence, int | float) or not 0 <= min_confidence <= 1:
        raise InvalidInput(f"min_confidence must be a number from 0 to 1, not {min_confidence!r}")
    text = in_first_person(simplified(query[: policy.max_query_chars]))
    strict = is_strict(text, mode, auto=mode == "auto", words=policy.strict_words)
    where = replace(where, session=session or None)
    return Request(scope, text, top_k, where, strict, session, float(min_confidence), known, more)


def require_question(query: object, what: str) -> None:
    """Reject a query that is empty or cannot be searched. `what` names it in the message."""
    if not isinstance(query, str):
        raise InvalidInput(f"{what} must be a string, not {type(query).__name__}")
    if not query.strip():
        raise InvalidInput(f"{what} is empty; ask for something")
    require_clean(query, what)


def conditions(
    now: datetime,
    kinds: Sequence[str] = (),
    since: datetime | None = None,
    until: datetime | None = None,
    speakers: Sequence[str] = (),
    conversations: Sequence[str] = (),
    tags: Sequence[str] = (),
    as_of: datetime | None = None,
    min_energy: float = 0.0,
    sentiment: tuple[float, float] | None = None,
    where: Mapping[str, Any] | None = None,
    min_trust: str | None = None,
    **unknown: object,
) -> Filter:
    """The filter; `InvalidInput` names the argument that is no list of names, impossible or out of range.

    Raises `TypeError` for a condition that does not exist.
    """
    require_known(unknown, Conditions.__annotations__)
    for names, what in ((kinds, "kinds"), (speakers, "speakers"), (conversations, "conversations"), (tags, "tags")):
        require_names(names, what)
    for kind in kinds:
        if kind not in KINDS:
            raise InvalidInput(f"kind {kind!r} is unknown; choose one of {', '.join(KINDS)}")
    since, until, as_of = (
        None if time is None else require_time(time, name, now, _FAR_FUTURE_DAYS)
        for time, name in ((since, "since"), (until, "until"), (as_of, "as_of"))
    )
    if since is not None and until is not None and since > until:
        raise InvalidInput(f"since must not be after until: {since.isoformat()} is after {until.isoformat()}")
    if not _is_number(min_energy) or not 0.0 <= min_energy <= 1.0:
        raise InvalidInput(f"min_energy must be a number from 0 to 1, not {min_energy!r}")
    mood = (-1.0, 1.0) if sentiment is None else sentiment
    if not isinstance(mood, tuple) or len(mood) != 2 or not all(map(_is_number, mood)):
        raise InvalidInput(f"sentiment must be a pair of numbers, least and greatest, not {sentiment!r}")
    least, greatest = mood
    if not -1.0 <= least <= greatest <= 1.0:
        raise InvalidInput(f"sentiment must lie in -1 to 1, least before greatest, not {sentiment!r}")
    exact = (_once(kinds), _once(speakers), _once(conversations), _once(tags), since, until, as_of)
    metadata, trust = parse_where(where), 0 if min_trust is None else rank(require_trust(min_trust, "min_trust"))
    return Filter(*exact, float(min_energy), (float(least), float(greatest)), metadata, trust)


def require_known(given: Iterable[str], known: Collection[str]) -> None:
    """Raise `TypeError` for an unknown keyword argument, as Python does."""
    for name in given:
        if name not in known:
            raise TypeError(f"got an unexpected keyword argument {name!r}; known are {', '.join(known)}")


def _once(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def require_sources(sources: object) -> frozenset[str]:
    """The sources to search; `InvalidInput` for none, or for another name."""
    require_names(sources, "sources")
    wanted = frozenset(sources) if isinstance(sources, Collection) else frozenset()
    if not wanted or not wanted <= set(SOURCES):
        raise InvalidInput(f"sources must be some of {', '.join(SOURCES)}, not {sources!r}")
    return wanted


def admits(where: Filter, node: Node) -> bool:
    """Whether a memory meets the conditions, by the semantics of the records."""
    return (
        (not where.kinds or node.kind in where.kinds)
        and (not where.speakers or node.speaker in where.speakers)
        and (not where.conversations or node.conversation in where.conversations)
        and set(where.tags).issubset(node.tags)
        and (not where.only_ids or node.id in where.only_ids)
        and (where.since is None or node.at >= where.since)
        and (where.until is None or node.at < where.until)
        and (where.as_of is None or _valid_at(node, where.as_of))
        and node.energy >= where.min_energy
        and where.sentiment[0] <= node.sentiment <= where.sentiment[1]
        and meets(where.metadata, node.metadata)
        and rank(node.trust) >= where.min_trust
    )


def _valid_at(node: Node, moment: datetime) -> bool:
    """A memory that was revised after the moment said something else then."""
    begun = (node.valid_from or node.at) <= moment and (node.revised_at is None or node.revised_at <= moment)
    return begun and (node.kind == "event" or node.valid_to is None or node.valid_to > moment)


def excluding(where: Filter, known: Known) -> Filter:
    """The same conditions, excluding the prompt's content as far as an index can evaluate it."""
    ids = tuple(sorted(key for key in known.ids if is_id(key)))[:_MOST_IDS]
    return replace(where, not_conversations=tuple(sorted(known.conversations)), not_ids=ids)


def unexcluded(where: Filter) -> Filter:
    """The same conditions without the exclusions."""
    return replace(where, not_conversations=(), not_ids=())


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
