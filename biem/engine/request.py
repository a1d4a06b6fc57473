"""What a caller asks of recall, checked once."""

from dataclasses import dataclass, replace

from biem.domain.node import MODES
from biem.domain.policy import RecallPolicy
from biem.domain.scope import Scope
from biem.domain.text import require_clean
from biem.errors import InvalidInput
from biem.ports import Filter

EVERYTHING = Filter()


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
