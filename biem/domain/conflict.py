"""What it means for two memories to disagree: statements and the verdict on a pair of them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

ConflictKind = Literal["contradiction", "update", "duplicate"]
"""*contradiction*: both cannot hold. *update*: the newer says that the older no longer holds. *duplicate*: both say the
same."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One memory as the rules see it."""

    text: str
    speaker: str = ""
    """Who said it: resolves "I" and "我". Empty for a plain fact."""
    at: datetime | None = None
    """When it was said. The caller orders the two; a rule may only ask whether the order is certain."""
    follows: bool = False
    """Whether it was said right after the other one, by the same speaker in the same conversation: a correction that
    does not say of what is one of that."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """That a pair of statements disagrees, or says the same."""

    kind: ConflictKind
    confidence: float
    """0 to 1: the estimated share of such verdicts that are right."""
    rule: str
    """The rule that decided, for people and tests: `value`, `negation`, …"""
    attribute: str = ""
    """What they disagree about, where a rule knows it: `home`, `age`, …"""
    partial: bool = False
    """The older says something besides, with which the newer has no quarrel: without it that would be lost, too."""
    claim: str = ""
    """What is disputed of a partial verdict's older text; empty for all of it, or where that is not known."""
    subject: str = ""
    """Whose and what both speak of, where that was established: `me: birthday`, `me.mother: home`."""
    aligned: bool = False
    """Both are the words of the one who says them, about the same persons and the same thing. Only then may a rule
    supersede the older statement alone."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.confidence <= 1.0:
            raise ValueError(f"confidence {self.confidence} is not within 0 and 1")


@dataclass(frozen=True, slots=True)
class Matter:
    """Whom and what a text speaks of."""

    persons: frozenset[str] = frozenset()
    """`me` for who says it and `you` for who is addressed; `me.mother`, `jana`. Empty where it names nobody."""
    attributes: frozenset[str] = frozenset()
    """Of what a person has one at a time, what it tells: `home`, `employer`, `birthday` …"""
    past: bool = False
    """It says how something once was."""
    topics: frozenset[str] = frozenset()
    """What it tells or asks of, in words of either language: `home`, `password`, `pet` …"""
    things: frozenset[str] = frozenset()
    """Stems of what it speaks of, without persons, numbers and the words of attributes."""
    which: frozenset[str] = frozenset()
    """Words that tell one of several apart: outbound, second."""
    holds: bool = True
    """It says how something is: no report, question, hypothesis, plan, wish or joke."""
    changes: bool = False
    """It says of itself that something is otherwise than was said."""
    wants: frozenset[str] = frozenset()
    """Of a question, the kind of value that it asks for: `time`, `amount`. Empty where that is not known."""
    gives: frozenset[str] = frozenset()
    """Which of these kinds of value stand in it."""


@dataclass(frozen=True, slots=True)
class Dispute:
    """A pending conflict, seen from one of its two memories."""

    confidence: float
    """0 to 1, of the verdict."""
    newer_id: str = ""
    """What says otherwise; empty for the newer of the two."""
    since: datetime | None = None
    """From when that is said to hold."""
    claim: str = ""
    """As in `Verdict`."""


ConflictStatus = Literal["pending", "resolved", "ignored"]
Resolution = Literal["keep_new", "keep_old", "merge", "keep_both"]
"""*keep_new*: the older ends where the newer begins. *keep_old*: the newer never held. *merge*: a third memory says
what both say, from when the newer was said. *keep_both*: no conflict after all."""
Decider = Literal["rule", "judge", "user"]
RESOLUTIONS: tuple[str, ...] = get_args(Resolution)
STATUSES: tuple[str, ...] = get_args(ConflictStatus)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Two memories of one scope that disagree or say the same, and what was decided about them."""

    id: str
    kind: ConflictKind
    older_id: str
    newer_id: str
    older_text: str
    newer_text: str
    confidence: float
    """0 to 1, of the verdict."""
    rule: str
    attribute: str = ""
    status: ConflictStatus = "pending"
    resolution: Resolution | None = None
    decided_by: Decider | None = None
    """Who resolved or ignored it."""
    merged_id: str | None = None
    """The memory that a merge made."""
    created_at: datetime
    resolved_at: datetime | None = None
    moot: bool = False
    """Pending, but one of the two was archived or superseded otherwise: nobody needs to decide it now."""

    suspected: bool = False
    """Too unsure to show a person; a language model may look at it."""
    subject: str = ""
    """As in `Verdict`."""

    @property
    def explanation(self) -> str:
        """In a sentence, why these two are recorded, and what was decided."""
        what = {
            "contradiction": "cannot both hold",
            "update": "say that something changed",
            "duplicate": "say the same",
        }
        about = f" about {self.subject}" if self.subject else ""
        found = f"The rule {self.rule!r} found that they {what[self.kind]}{about} ({self.confidence:.2f} sure)"
        if self.status == "pending":
            return f"{found}; nothing is decided yet."
        outcome = self.resolution.replace("_", " ") if self.resolution else "ignore"
        return f"{found}; a {self.decided_by} decided: {outcome}."

    @property
    def superseded(self) -> tuple[str, ...]:
        """The memories that lost by this decision."""
        if self.resolution == "merge":
            return (self.older_id, self.newer_id)
        losers = {"keep_new": (self.older_id,), "keep_old": (self.newer_id,)}
        return losers.get(self.resolution or "", ())
