"""What a caller asks of recall, checked once."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from biem.domain.node import KINDS, MODES, require_time
from biem.domain.policy import RecallPolicy
from biem.domain.scope import Scope
from biem.domain.text import require_clean
from biem.errors import InvalidInput
from biem.ports import Filter

EVERYTHING = Filter()
_FAR_FUTURE_DAYS = 3_000_000
"""Conditions may name any time that a datetime can."""


@dataclass(frozen=True, slots=True)
class Request:
    """One question with its conditions."""

    scope: Scope
    text: str
    top_k: int
    where: Filter
    strict: bool
    """Whether the originals are wanted."""
    session: str
    least: float
    """Confidence below which nothing is told."""

    @property
    def follows(self) -> bool:
        """Whether what its session has at hand may answer: no conditions, no originals, no other time."""
        return bool(self.session) and not self.strict and self.where == EVERYTHING

    @property
    def mode(self) -> str:
        """As `Hits.mode`."""
        return "strict" if self.strict else "fast"

    def of(self, top_k: int) -> "Request":
        """The same for another number of results."""
        return replace(self, top_k=top_k)


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
) -> Request:
    """The request, or `InvalidInput` that says what is wrong with it and what would be right."""
    if not isinstance(query, str) or not query.strip():
        raise InvalidInput("the query is empty; ask for something")
    require_clean(query, "the query")
    if isinstance(top_k, bool) or not isinstance(top_k, int) or not 1 <= top_k <= policy.max_top_k:
        raise InvalidInput(f"top_k must be a whole number from 1 to {policy.max_top_k}, not {top_k!r}")
    if mode not in MODES:
        raise InvalidInput(f"mode {mode!r} is unknown; choose one of {', '.join(MODES)}")
    if not isinstance(session, str):
        raise InvalidInput(f"session must be a string, not {type(session).__name__}")
    require_clean(session, "session")
    if isinstance(min_confidence, bool) or not isinstance(min_confidence, int | float) or not 0 <= min_confidence <= 1:
        raise InvalidInput(f"min_confidence must be a number from 0 to 1, not {min_confidence!r}")
    text = query[: policy.max_query_chars]
    lowered = text.lower()
    strict = mode == "strict" or (mode == "auto" and any(word in lowered for word in policy.strict_words))
    return Request(scope, text, top_k, where, strict, session, float(min_confidence))


def conditions(
    now: datetime,
    kinds: Sequence[str],
    since: datetime | None,
    until: datetime | None,
    speakers: Sequence[str],
    conversations: Sequence[str],
    tags: Sequence[str],
    as_of: datetime | None,
) -> Filter:
    """The filter, or `InvalidInput` that names the unknown kind or the impossible time."""
    for kind in kinds:
        if kind not in KINDS:
            raise InvalidInput(f"kind {kind!r} is unknown; choose one of {', '.join(KINDS)}")
    since, until, as_of = (
        None if time is None else require_time(time, name, now, _FAR_FUTURE_DAYS)
        for time, name in ((since, "since"), (until, "until"), (as_of, "as_of"))
    )
    return Filter(tuple(kinds), tuple(speakers), tuple(conversations), tuple(tags), since, until, as_of)
