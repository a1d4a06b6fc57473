"""Read-only views of the records: candidates, links nearby, core memories, scopes, lists for display."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from biem.domain.link import Link
from biem.domain.node import Node
from biem.domain.paging import GraphNode, Page
from biem.domain.scope import Scope, ScopeSummary
from biem.ports.embedding import Vector
from biem.ports.index import Filter


class Turn(NamedTuple):
    """One live memory as ranking sees it. A tuple, because a recall makes some hundred."""

    id: str
    ns: str
    lexemes: Sequence[str]
    vector: Vector | None
    """Of this embedder; None where there is none yet."""
    kind: str
    speaker: str
    conversation: str
    at: datetime
    write_seq: int
    asks: bool
    """It ends with a question mark."""
    matches: bool
    """It meets the caller's conditions; otherwise it is there only because it stands beside one that does."""
    valid_to: datetime | None
    superseded_by: str | None
    sources: Sequence[str] | None = None
    """What a digest was made of; None for all else."""
    importance: float = 3.0
    """1 to 5."""
    accesses: int = 0
    """How often it was returned."""
    energy: float = 0.0
    """When it was read, in [0, 1]."""


@dataclass(frozen=True, slots=True)
class Turns:
    """Memories by id, and the stretches of conversation they stand in."""

    by_id: Mapping[str, Turn]
    stretches: Sequence[tuple[str, ...]]
    """Ids in the order they were said, with nothing left out between them."""
    openings: frozenset[str]
    """Those that begin a conversation."""


class TurnReader(Protocol):
    """Reads the surroundings of what the searches found."""

    def around(
        self,
        scopes: Sequence[Scope],
        ids: Sequence[str],
        lexemes: Sequence[str],
        where: Filter,
        *,
        pending_limit: int,
    ) -> Turns:
        """These memories; the unindexed ones that share a word with `lexemes`; up to two said before and after each of
        them in its conversation; and what superseded any of them. One round trip.

        Archived, erased and other scopes' memories are never in the answer, nor is anything said before `since` or from
        `until` on.
        """


class Browser(Protocol):
    """Reads the lists of one scope page by page. What another scope has is in no page.

    `after` is the `next` of the page before, or empty; anything else raises `InvalidInput`. What was there all the time
    is in exactly one page, whatever is written meanwhile. The cost of a page does not grow with the scope.
    """

    def memories(
        self, scope: Scope, limit: int, *, after: str = "", tier: str | None = None, layer: str | None = None
    ) -> Page[Node]:
        """Memories, archived ones among them, the one written last first; of one tier or layer where these are given.

        Looks at a bounded number of memories: a page may have fewer than `limit`, or none, and yet not be the last.
        """

    def links(self, scope: Scope, limit: int, *, after: str = "") -> Page[Link]:
        """Links, the one changed last first; one that changes meanwhile moves to the front, and may be met again."""

    def links_around(self, scope: Scope, node_id: str, limit: int, *, after: str = "") -> Page[Link]:
        """Links of one node, the heaviest first; a link whose weight changes meanwhile may be missed or met again."""

    def ids(self, scope: Scope, part: str, of: str, limit: int) -> list[str]:
        """Ids of memories or conflicts (`of`: memory, conflict) that begin or end with these digits, at most `limit`.

        Unlike the pages, it reads all ids of the scope: some seconds for a million.
        """

    def nodes(self, scope: Scope, ids: Sequence[str], label_chars: int) -> list[GraphNode]:
        """Those of these nodes that are there; labels are cut at `label_chars`."""


class CoreReader(Protocol):
    """Reads the layer `core`, and what was of use a moment ago."""

    def core(self, scopes: Sequence[Scope], limit: int) -> list[Node]:
        """Memories of the layer core that hold still, the most important first, then the newest.

        Archived, erased and other scopes' memories are never in the answer, nor superseded ones. The cost does not grow
        with the number of other memories.
        """

    def useful(self, scopes: Sequence[Scope], slots: Mapping[str, int]) -> list[Node]:
        """Of each kind the memories that feedback called useful last, at most `slots[kind]`; the last one first.

        What was called useless since is not among them, nor what `core` leaves out. The cost grows neither with the
        number of memories nor with how many were ever useful.
        """


@dataclass(frozen=True, slots=True)
class Vicinity:
    """Memories with their places in conversation, and each scope's write sequence when they were read, by ns."""

    turns: Turns
    written: Mapping[str, int]
    complete: bool = False
    """It is all there is: every memory of these scopes up to these numbers, each with its vector."""


class OrbitReader(Protocol):
    """Reads what is near, and what came since."""

    def gather(self, scopes: Sequence[Scope], chosen: Sequence[str], others: Sequence[str], whole: int) -> Vicinity:
        """The memories of both; what was said around each of `chosen`, best first; what was written last.

        Where all these scopes together never held more than `whole`, everything is there, with whole conversations. It
        is `complete` unless something has no vector yet, or is archived and could come back.

        Around: up to six turns before and after in its conversation, and up to twenty around the best chosen one of
        each of the three conversations with most of them. Written last: sixteen memories of each scope. What superseded
        any of these is there, too. Archived, erased and other scopes' memories are never in the answer, and whatever is
        written while this reads has a higher number than `written` or is in the answer.
        """

    def since(self, scopes: Sequence[Scope], written: Mapping[str, int], limit: int) -> Vicinity | None:
        """What was written after these numbers, and the numbers now, in one round trip.

        None where that is more than `limit` memories of a scope, or where a scope was erased: then it must be gathered
        anew.
        """


class ScopeDirectory(Protocol):
    """The scopes that something was ever written to, and that were not erased since."""

    def listed(self, tenant: str | None, user: str | None) -> list[ScopeSummary]:
        """Scopes of a tenant and a user (None: of all), with counts, by tenant, user and project."""

    def reading(self, scope: Scope) -> list[Scope]:
        """The scopes that may read `scope`: itself and, for a user's own, all projects of this user."""


class Selection(Protocol):
    """Reads which memories meet a filter, and compares these few without the vector index."""

    def matching(self, scopes: Sequence[Scope], where: Filter, most: int | None) -> list[str] | None:
        """The ids of all memories that meet the conditions; None where there are more than `most`, or where no index
        tells it, so that all memories of the scopes would have to be read. A `most` of None: read them.

        Archived, erased and other scopes' memories are never in the answer.
        """

    def meeting(self, scopes: Sequence[Scope], ids: Sequence[str], where: Filter) -> frozenset[str]:
        """Those of these memories that are live and meet the conditions."""

    def vectors(self, scopes: Sequence[Scope], ids: Sequence[str]) -> dict[str, Vector]:
        """The vectors of this embedder; without those memories that have none yet."""

    def words(self, scopes: Sequence[Scope], ids: Sequence[str], lexemes: Sequence[str]) -> dict[str, float]:
        """BM25 of those of these memories that share a word with `lexemes`, with statistics of just these."""
