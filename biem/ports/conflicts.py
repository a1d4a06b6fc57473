"""What the handling of conflicts needs from the outside: their table, and memories to compare a new one with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

from biem.domain.conflict import Conflict, ConflictKind, Decider, Dispute, Resolution
from biem.domain.scope import Scope
from biem.ports.embedding import Vector, Vectors


@dataclass(frozen=True, slots=True)
class Peer:
    """A memory as another one is compared with it."""

    id: str
    text: str
    kind: str
    layer: str
    importance: float
    source: str
    speaker: str
    at: datetime
    write_seq: int
    valid_from: datetime
    valid_to: datetime | None
    conversation: str
    vector: Vector
    long: bool = False
    """Its text is too long to be read with all others, and empty here; see `Conflicts.texts`."""


@dataclass(frozen=True, slots=True)
class ConflictFinding:
    """One disagreement to record; `acts` when the rule alone supersedes the older memory."""

    id: str
    kind: ConflictKind
    older_id: str
    newer_id: str
    confidence: float
    rule: str
    attribute: str
    acts: bool
    judged_later: bool
    """Whether a language model should look at it, once there is one."""
    suspected: bool = False
    """Whether nobody but a model is told."""
    claim: str = ""
    """As in `Verdict`."""
    subject: str = ""
    """As in `Verdict`."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Steps of a merge, or of taking one back, that outlive the process which began them."""

    step: Literal["merge", "restore"]
    """*merge*: write `details` under `ref`, then supersede. *restore*: the links of `merged_id` go back to the two."""
    by: Decider = "user"
    ref: str = ""
    merged_id: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of `Writer.remember`, as JSON."""


@dataclass(frozen=True, slots=True)
class Claimed:
    """A conflict leased to one worker, with the plan that it should carry out, if any."""

    scope: Scope
    conflict: Conflict
    plan: Plan | None


class ConflictNeighbours(Protocol):
    """The part of `VectorIndex` that finds what is near."""

    def nearest(self, scope: Scope, vectors: Vectors, limit: int) -> list[dict[str, float]]:
        """For each vector, in order, the `limit` ids of exactly this scope with the highest cosine, in one call."""


class Conflicts(Protocol):
    """The table of conflicts. Each method is one transaction, is safe to repeat, and sees one scope unless it says so.

    A memory's `valid_to` and `superseded_by` always follow from the decisions in force: of all that it lost by, the one
    that ends it first counts. What others wrote there (a merge of duplicates) is left alone.
    """

    def peers(self, scope: Scope, ids: Sequence[str], seqs: Sequence[int], around: int, max_chars: int) -> list[Peer]:
        """These memories, and those written up to `around` places before or after any of `seqs`.

        Fewer where the places lie far apart: the answer is bounded by `around` and the number of arguments. Left out
        are archived ones and those that this embedder has no vector of. Texts longer than `max_chars` are not read.
        """

    def texts(self, scope: Scope, ids: Sequence[str]) -> Mapping[str, str]:
        """The texts of these memories, however long."""

    def record(self, scope: Scope, findings: Sequence[ConflictFinding], at: datetime) -> list[Conflict]:
        """Keep findings, and supersede the older memory of those that act; returns what is now known of these pairs.

        A pair that is known already, in whatever state, is left as it is: so a check that is repeated, or comes after
        somebody took a decision back, changes nothing. Pairs of which one is archived, erased or of another scope are
        left out.
        """

    def get(self, scope: Scope, conflict_id: str) -> Conflict | None:
        """One conflict of exactly this scope."""

    def find(
        self,
        scope: Scope,
        status: str | None,
        kinds: Sequence[str],
        limit: int,
        memory_id: str | None = None,
        *,
        after: str | None = None,
    ) -> list[Conflict]:
        """Conflicts of the scope, newest first; None and `()` mean any. `memory_id`: only those about this memory.

        Asked for the pending ones, it leaves out what is moot or only suspected. `after`: those that follow the
        conflict of this id, decided meanwhile or not; none when it is not of this scope.
        """

    def count(self, scope: Scope, status: str | None, kinds: Sequence[str]) -> int:
        """How many `find` would list without a limit."""

    def open_of(self, scopes: Sequence[Scope], ids: Sequence[str]) -> Mapping[str, Sequence[Dispute]]:
        """Of these memories those with a pending contradiction or update, each with all of these, the surest first.

        Not of what is only suspected, and only while the other one is neither archived nor superseded.
        """

    def resolve(
        self,
        scope: Scope,
        conflict_id: str,
        resolution: Resolution | None,
        by: Decider,
        at: datetime,
        *,
        merged_id: str | None = None,
    ) -> Conflict:
        """Decide a pending conflict, with its effect on both memories; a `resolution` of None ignores it.

        The same decision again changes nothing; another one raises `AlreadyDecided`, and so does any other one while a
        merge is under way, and one that would have a memory end for another that it was itself replaced by. A merge
        needs `merged_id`. Raises `NotFound`.
        """

    def undo(self, scope: Scope, conflict_id: str, at: datetime, plan: Plan | None) -> Conflict:
        """Make a decided conflict pending again and take its effect back. A pending conflict is left as it is.

        A memory made by a merge is archived, and conflicts about it are gone with their effect. The `plan`, if any, is
        kept until `carried_out`. Raises `NotFound`, and `AlreadyDecided` while that memory has been merged further.
        """

    def begin(self, scope: Scope, conflict_id: str, plan: Plan, lease_s: float) -> Plan:
        """Keep the plan of a merge of a pending conflict; returns it, or the one that was begun before.

        Raises `NotFound`, and `AlreadyDecided` unless it is pending.
        """

    def plan_of(self, scope: Scope, conflict_id: str) -> Plan | None:
        """What is under way for this conflict."""

    def carried_out(self, scope: Scope, conflict_id: str) -> None:
        """Forget the plan of taking a merge back: all its steps are done."""

    def claim(self, lease_s: float, max_attempts: int, *, judged: bool) -> Claimed | None:
        """Lease one conflict of any scope that has a plan begun longer ago than its lease or, `judged`, needs a model.

        Two callers never hold the same one at once. A claim counts an attempt, and each lets the conflict rest four
        times as long as the one before; after `max_attempts` it is not given out any more.
        """

    def release(self, scope: Scope, conflict_id: str, delay_s: float) -> None:
        """Give a leased conflict back for later and take its attempt back: it was not to blame."""

    def judged(self, scope: Scope, conflict_id: str, kind: ConflictKind | None) -> None:
        """A model has looked and left the decision to a person; `kind` is its word for a pending conflict, if any."""
