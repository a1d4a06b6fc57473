"""Ports of conflict handling: the table of conflicts, and memories to compare a new one with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

from biem.domain.conflict import Conflict, ConflictKind, Decider, Dispute, Resolution
from biem.domain.scope import Scope
from biem.ports.embedding import Vector, Vectors


@dataclass(frozen=True, slots=True)
class Peer:
    """A memory in the form in which others are compared with it."""

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
    """Its text is too long to be read with the others, and empty here; see `Conflicts.texts`."""
    revision: int = 1


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
    """Whether a language model should judge it, once there is one."""
    suspected: bool = False
    """Whether it is shown to a language model only."""
    claim: str = ""
    """As in `Verdict`."""
    subject: str = ""
    """As in `Verdict`."""
    older_revision: int | None = None
    newer_revision: int | None = None
    """The compared revisions: the finding is void if a memory is at another one by now. None: any."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Steps of a merge or of its undo, which survive the process that began them."""

    step: Literal["merge", "restore"]
    """*merge*: write `details` under `ref`, then supersede. *restore*: return the links of `merged_id` to the two
    memories.
    """
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
    """The nearest-neighbour search of `VectorIndex`."""

    def nearest(self, scope: Scope, vectors: Vectors, limit: int) -> list[dict[str, float]]:
        """For each vector, in order, the `limit` ids of exactly this scope with the highest cosine, in one call."""


class Conflicts(Protocol):
    """The table of conflicts. Each method is one transaction, is safe to repeat, and sees one scope unless stated
    otherwise.

    A memory's `valid_to` and `superseded_by` always follow from the decisions in force: of all decisions against it,
    the one that ends it first counts. Values from other writers (a merge of duplicates) are left alone.
    """

    def peers(self, scope: Scope, ids: Sequence[str], seqs: Sequence[int], around: int, max_chars: int) -> list[Peer]:
        """These memories, and those written up to `around` positions before or after any of `seqs`.

        Fewer where the positions lie far apart: the result is bounded by `around` and the number of arguments. Archived
        and untrusted memories, and those without a vector of this embedder, are left out. Texts longer than `max_chars`
        are not read.
        """

    def texts(self, scope: Scope, ids: Sequence[str]) -> Mapping[str, str]:
        """The texts of these memories, of any length."""

    def record(self, scope: Scope, findings: Sequence[ConflictFinding], at: datetime) -> list[Conflict]:
        """Store findings, and supersede the older memory of those that act; returns the stored conflicts of these
        pairs.

        A known pair, in any state, is left as it is: a check that is repeated, or runs after a decision was
        undone, changes nothing. Pairs with an archived or erased memory, or one of another scope, are left out.
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

        For the status pending, moot and suspected ones are left out. `after`: those that follow the conflict of this
        id, decided meanwhile or not; none when it is not of this scope.
        """

    def count(self, scope: Scope, status: str | None, kinds: Sequence[str]) -> int:
        """How many conflicts `find` would list without a limit."""

    def open_of(self, scopes: Sequence[Scope], ids: Sequence[str]) -> Mapping[str, Sequence[Dispute]]:
        """Those of these memories that have a pending contradiction or update, each with all of its disputes, most
        confident first.

        Without suspected ones, and only while the other memory is neither archived nor superseded.
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
        merge is under way, and one that would end a memory in favour of one that it replaced itself. A merge needs
        `merged_id`. Raises `NotFound`.
        """

    def undo(self, scope: Scope, conflict_id: str, at: datetime, plan: Plan | None) -> Conflict:
        """Make a decided conflict pending again and undo its effect. A pending conflict is left as it is.

        A memory made by a merge is archived, and conflicts about it are removed with their effect. The `plan`, if any,
        is kept until `carried_out`. Raises `NotFound`, and `AlreadyDecided` while that memory has been merged further.
        """

    def begin(self, scope: Scope, conflict_id: str, plan: Plan, lease_s: float) -> Plan:
        """Store the plan of a merge of a pending conflict; returns it, or the one that was stored before.

        Raises `NotFound`, and `AlreadyDecided` unless it is pending.
        """

    def plan_of(self, scope: Scope, conflict_id: str) -> Plan | None:
        """The plan under way for this conflict."""

    def carried_out(self, scope: Scope, conflict_id: str) -> None:
        """Delete the plan of an undone merge after its last step."""

    def claim(self, lease_s: float, max_attempts: int, *, judged: bool) -> Claimed | None:
        """Lease one conflict of any scope that has a plan begun longer ago than its lease or, with `judged`, needs a
        model.

        Two callers never hold the same one at once. A claim counts an attempt, and each attempt lengthens the pause
        fourfold; after `max_attempts` the conflict is not leased any more.
        """

    def release(self, scope: Scope, conflict_id: str, delay_s: float) -> None:
        """Return a leased conflict for later without counting the attempt: the conflict was not to blame."""

    def judged(self, scope: Scope, conflict_id: str, kind: ConflictKind | None) -> None:
        """Record that a model left the decision to a person; `kind` is its classification of a pending conflict, if
        any.
        """
