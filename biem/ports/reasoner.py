"""An optional language model; every use of it has a deterministic fallback.

Every method returns None when the model gave nothing usable: budget exhausted, paused after a failure, late, refused or
malformed answer. The caller then uses its fallback; no failure here raises or loses anything.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal, Protocol

from biem.domain.scope import Scope

Use = Literal[
    "concepts", "keywords", "topics", "worth", "instant", "judge", "merge", "summarise", "relevant", "observe"
]
ModelVerdict = Literal["contradiction", "update", "duplicate", "none"]


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic of a stretch of conversation: a short name, and what was said about it."""

    topic: str
    summary: str


@dataclass(frozen=True, slots=True)
class Instant:
    """A short note of one message, and the keywords to find it by."""

    memory_text: str
    keywords: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A statement that a model found in a message: what it is, why it matters, and tags to find it by."""

    judgment: str
    reason: str
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Judgement:
    """The relation of a newer text to an older one; `confidence` is the model's own, 0 to 1."""

    kind: ModelVerdict
    confidence: float
    reason: str


class Reasoner(Protocol):
    """The model's uses, for background jobs; `for_reply` returns the same uses for foreground calls.

    Thread-safe. Texts reach the model as delimited data, with an instruction not to obey them. All answers are
    validated, on one line without control characters, and cut to bounded length and number. The prompt is Chinese for
    Chinese texts and English for all others. Of long texts the first 16,000 characters are read; `judge`, `merge` and
    `summarise`, which must not miss anything, return None instead.

    For background jobs a failing server is retried, with growing pauses that respect its Retry-After, within a bounded
    time; after that calls are paused for a while, in which all methods return None.
    """

    def concepts(self, scope: Scope, text: str, limit: int) -> list[str] | None:
        """At most `limit` key concepts of a text, without repeats; `[]` where the model finds none (`<none>`) or the
        answer is unusable.
        """

    def keywords(
        self, scope: Scope, message: str, *, history: str = "", known: Sequence[str] = (), limit: int = 10
    ) -> list[str] | None:
        """At most `limit` keywords that a message evokes in its conversation, none of them in `known`.

        `[]` for an answer that cannot be parsed.
        """

    def topics(self, scope: Scope, lines: Sequence[str]) -> list[Topic] | None:
        """The topics of a sample of conversation, one message a line; each topic once, `[]` for no topic."""

    def is_worth(self, scope: Scope, text: str) -> bool | None:
        """Whether a text is worth remembering; only the exact answer "1" is a yes."""

    def instant(self, scope: Scope, text: str) -> Instant | None:
        """A short note of a text, with keywords."""

    def judge(self, scope: Scope, older: str, newer: str) -> Judgement | None:
        """Whether `newer` contradicts, updates or repeats `older`."""

    def merge(self, scope: Scope, texts: Sequence[str]) -> str | None:
        """One concise text with the content of all of these, with the same numbers; None for fewer than two texts."""

    def summarise(self, scope: Scope, texts: Sequence[str], max_chars: int) -> str | None:
        """A summary of at most `max_chars` characters: no placeholder, no refusal, no number that is not in the
        texts.
        """

    def observe(self, scope: Scope, text: str, limit: int) -> list[Proposal] | None:
        """At most `limit` statements of a message that are worth keeping; `[]` where the model finds none."""

    def relevant(self, scope: Scope, question: str, texts: Sequence[str]) -> list[int] | None:
        """The indices, from 0 and rising, of those texts that help to answer a question; `[]` where none does.

        At most 50 texts are examined, long ones by their beginning.
        """

    def paused_s(self) -> float:
        """Seconds for which calls are paused after a failure; 0 when the next call will be tried."""

    def for_reply(self) -> "Reasoner":
        """The same uses for one foreground call: one model call at most, never retried, within a hard limit of about a
        second.

        No method takes longer than the limit, also while the server or the budget's database hang. The second and
        further calls of one such object return None at once, and so do all during a pause.
        """

    def close(self) -> None:
        """Release connections; a second call does nothing.

        Pauses end at once and running calls within their time limit; later calls answer None.
        """


@dataclass(frozen=True, slots=True)
class Spent:
    """The cost of one use on one day (UTC). Failed calls are counted, too."""

    day: date
    use: str
    calls: int
    failures: int
    tokens_in: int
    tokens_out: int


class ReasonerLedger(Protocol):
    """The model's cost by scope, and the daily budget, which concurrent callers cannot exceed."""

    def reserve(self, scope: Scope, use: str, day: date, tokens: int) -> bool:
        """Count a call and reserve `tokens` for it; returns False, with nothing counted, if the day's budget would be
        exceeded.

        Concurrent callers together never get more than the budget. A call whose process dies stays counted. A scope
        without any memory ever has no budget. Raises `StoreUnavailable` at once instead of retrying.
        """

    def settle(
        self, scope: Scope, use: str, day: date, *, reserved: int, tokens_in: int, tokens_out: int, failed: bool
    ) -> None:
        """Replace the reserved tokens by those used; does not recreate counts of a scope erased meanwhile."""

    def spent(self, scope: Scope, since: date) -> list[Spent]:
        """Costs since a day, by day and use, oldest first; of this scope only."""

    def forget(self, scope: Scope, before: date) -> int:
        """Delete the counts of this scope's days before `before`; returns how many rows."""
