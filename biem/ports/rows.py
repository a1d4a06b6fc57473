"""What goes into the truth and comes out of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from biem.domain.fields import Analysis
from biem.domain.node import Draft, Node
from biem.domain.scope import Scope


@dataclass(frozen=True, slots=True)
class Write:
    """One row to acknowledge: the draft and what was derived from it before the transaction."""

    id: str
    draft: Draft
    lexemes: str
    energy: float
    fact_key: bytes | None
    """Identity of a fact without `ref`: the same text in the same scope is the same memory."""


@dataclass(frozen=True, slots=True)
class Written:
    """`id` is the memory's; `created` is false when it was there already, `restored` true when it had been archived."""

    id: str
    created: bool
    restored: bool = False


@dataclass(frozen=True, slots=True)
class Touched:
    """A memory after an access or feedback: the new order of its energy, and its tier now and before."""

    id: str
    ns: str
    energy_key: float
    accessed_at: datetime | None
    tier: str
    tier_before: str


@dataclass(frozen=True, slots=True)
class Job:
    """One leased task; the node is None when the memory was erased meanwhile.

    `attempts` are the claims that the row is to blame for, with this one; `claims` are all, with this one.
    """

    key: int
    task: Literal["encode", "purge", "archive"]
    memory_id: str
    ns: str
    attempts: int
    claims: int
    lexemes: str = ""
    node: Node | None = None


@dataclass(frozen=True, slots=True)
class Encoded:
    """What encoding learned about one memory."""

    job: Job
    analysis: Analysis


@dataclass(frozen=True, slots=True)
class Completion:
    """What completing met: memories erased meanwhile, and memories that another worker completed first.

    `hot` are those that became active now, with tier L1.
    """

    erased: tuple[str, ...]
    overtaken: tuple[str, ...]
    hot: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A row that failed too often, with its last reason."""

    memory_id: str
    scope: Scope
    attempts: int
    reason: str
    dead_at: datetime


@dataclass(frozen=True, slots=True)
class Waiting:
    """A memory that is not indexed yet. `reason` says what its last try met, empty when none failed."""

    memory_id: str
    claimed: bool
    """Whether a worker ever took it."""
    dead: bool
    """Whether it is a dead letter: nobody will try again before `retry_dead`."""
    reason: str


@dataclass(frozen=True, slots=True)
class Candidates:
    """One round trip's answer: live nodes by id, their lexemes (space-separated), and originals where asked for."""

    nodes: Mapping[str, Node]
    lexemes: Mapping[str, str]
    unindexed: frozenset[str]
    """Those that this embedder's collection does not have: pending, or indexed by another model."""
    evidence: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Erasure:
    """What one erasure destroyed: keys, and the rows there were before, by table."""

    ids: tuple[str, ...]
    originals: tuple[bytes, ...]
    vectors: tuple[bytes, ...]
    whole: bool
    """Whether a whole scope was erased."""
    before: Mapping[str, int]
