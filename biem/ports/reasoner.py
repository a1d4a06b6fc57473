"""A language model that may help: optional everywhere, and never the only way to do something.

Every method answers None when the model gave nothing usable: off budget, paused after a failure, late, refused or
broken answer. The caller then takes its own deterministic way; nothing that goes wrong here raises or loses anything.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal, Protocol

from biem.domain.scope import Scope

Use = Literal["concepts", "keywords", "topics", "worth", "instant", "judge", "merge", "summarise", "relevant"]
ModelVerdict = Literal["contradiction", "update", "duplicate", "none"]


@dataclass(frozen=True, slots=True)
class Topic:
    """What a stretch of conversation was about: a short name, and what was said of it."""

    topic: str
    summary: str


@dataclass(frozen=True, slots=True)
class Instant:
    """A light note of one message, and the words to find it by."""

    memory_text: str
    keywords: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Judgement:
    """How a newer text stands to an older one; `confidence` is the model's own, 0 to 1."""

    kind: ModelVerdict
    confidence: float
    reason: str


class Reasoner(Protocol):
    """The model's uses, for workers; `for_reply` gives the same uses to somebody who waits for a reply.

    Thread-safe. Texts reach the model as delimited data that it is told not to obey. All answers are validated, on one
    line without control characters, and cut to bounded length and number. The prompt is Chinese for Chinese texts and
    English for all others. Of long texts the first 16,000 characters are read; `judge`, `merge` and `summarise`, which
    must not miss anything, answer None instead.

    For workers a failing server is tried again, with growing pauses that honour what the server asks, within a bounded
    time; after that it is left alone for a while, in which all answers are None.
    """

    def concepts(self, scope: Scope, text: str, limit: int) -> list[str] | None:
        """At most `limit` key concepts of a text, none twice; `[]` where the model finds none (`<none>`) or rambles."""

    def keywords(
        self, scope: Scope, message: str, *, history: str = "", known: Sequence[str] = (), limit: int = 10
    ) -> list[str] | None:
        """At most `limit` keywords that a message calls up in its conversation, none of them in `known`.

        `[]` for an answer that cannot be read.
        """

    def topics(self, scope: Scope, lines: Sequence[str]) -> list[Topic] | None:
        """What a sample of conversation, one message a line, was about; each topic once, `[]` for no topic."""

    def is_worth(self, scope: Scope, text: str) -> bool | None:
        """Whether a text is worth remembering; only an answer of exactly "1" is a yes."""

    def instant(self, scope: Scope, text: str) -> Instant | None:
        """A text as a light note with keywords."""

    def judge(self, scope: Scope, older: str, newer: str) -> Judgement | None:
        """Whether `newer` contradicts, updates or repeats `older`."""

    def merge(self, scope: Scope, texts: Sequence[str]) -> str | None:
        """One concise text that says what all of these say, with the same numbers; None for fewer than two texts."""

    def summarise(self, scope: Scope, texts: Sequence[str], max_chars: int) -> str | None:
        """A summary of at most `max_chars` characters: no placeholder, no refusal, no number that these do not have."""

    def relevant(self, scope: Scope, question: str, texts: Sequence[str]) -> list[int] | None:
        """The places, from 0 and rising, of those texts that help to answer a question; `[]` where none does.

        At most 50 texts are looked at, each by its beginning where they are long.
        """

    def paused_s(self) -> float:
        """Seconds for which the server is left alone after it failed; 0 when the next call will be tried."""

    def for_reply(self) -> "Reasoner":
        """The same uses for one reply: one call at most, never repeated, within a hard limit of about a second.

        Whatever the server or the database of the budget do, no method takes longer than the limit. The second and
        further calls of one such object answer None at once, and so do all while the server is left alone.
        """

    def close(self) -> None:
        """Release connections; a second call does nothing.

        Pauses end at once and running calls within their time limit; later calls answer None.
        """


@dataclass(frozen=True, slots=True)
class Spent:
    """What one use cost on one day (UTC). A call that failed is counted among the calls, too."""

    day: date
    use: str
    calls: int
    failures: int
    tokens_in: int
    tokens_out: int


class ReasonerLedger(Protocol):
    """What the model cost each scope, and the day's budget: nobody spends what is not there, whoever else spends."""

    def reserve(self, scope: Scope, use: str, day: date, tokens: int) -> bool:
        """Count a call and set `tokens` aside for it; False, with nothing counted, when the day's budget would burst.

        Racing callers never get more together than the budget. A call whose process dies stays counted. A scope in
        which nothing was ever remembered has no budget. Raises `StoreUnavailable` at once instead of trying again.
        """

    def settle(
        self, scope: Scope, use: str, day: date, *, reserved: int, tokens_in: int, tokens_out: int, failed: bool
    ) -> None:
        """Replace the tokens set aside by those used; nothing comes back of a scope that was erased meanwhile."""

    def spent(self, scope: Scope, since: date) -> list[Spent]:
        """What was spent since a day, by day and use, oldest first; of this scope only."""

    def forget(self, scope: Scope, before: date) -> int:
        """Drop the counts of this scope's days before `before`; returns how many rows."""
