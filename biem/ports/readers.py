"""Read-only views of the records: candidates, links nearby, core memories, scopes, lists for display."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from biem.domain.graph_part import GraphNode
from biem.domain.link import Link
from biem.domain.node import Node
from biem.domain.paging import Page
from biem.domain.scope import Scope, ScopeSummary
from biem.ports.embedding import Vector, Vectors
from biem.ports.index import Filter


class Turn(NamedTuple):
    """One live memory as ranking reads it. A tuple, because a recall creates several hundred."""

    id: str
    ns: str
    lexemes: Sequence[str]
    vector: Vector | None
    """Of this embedder; None until it is indexed."""
    kind: str
    speaker: str
    conversation: str
    at: datetime
    write_seq: int
    asks: bool
    """It ends with a question mark."""
    matches: bool
    """It meets the caller's conditions; otherwise it is included only as the neighbour of one that does."""
    valid_to: datetime | None
    superseded_by: str | None
    sources: Sequence[str] | None = None
    """The sources of a digest; None for all other memories."""
    importance: float = 3.0
    """1 to 5."""
    accesses: int = 0
    """How often it was returned."""
    energy: float = 0.0
    """When it was read, in [0, 1]."""
    former: bool = False
    """It was revised since `as_of`, and these are the values that it had then."""
    believed: bool = True
    """Whether it is not untrusted."""
    parts: Vectors | None = None
    """The vectors of its statements, one a row, if it has several (`biem.domain.speech.parts`)."""


@dataclass(frozen=True, slots=True)
class Turns:
    """Memories by id, and the stretches of conversation that they are part of."""

    by_id: Mapping[str, Turn]
    stretches: Sequence[tuple[str, ...]]
    """Ids in the order they were said, without gaps."""
    openings: frozenset[str]
    """Those that begin a conversation."""


class TurnReader(Protocol):
    """Reads the context of search results."""

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
        them in its conversation, untrusted ones skipped; and what superseded any of them. One round trip.

        Archived and erased memories, those of other scopes, and anything said before `since` or from `until` on are
        never returned.
        """


class Browser(Protocol):
    """Reads the lists of one scope page by page. No page holds data of another scope.

    `after` is the `next` of the page before, or empty; anything else raises `InvalidInput`. A row that exists
    throughout is in exactly one page, also while others are written. The cost of a page does not grow with the scope.
    """

    def links(self, scope: Scope, limit: int, *, after: str = "") -> Page[Link]:
        """Links, last changed first; one that changes meanwhile moves to the front, and may be listed again."""

    def links_around(self, scope: Scope, node_id: str, limit: int, *, after: str = "") -> Page[Link]:
        """Links of one node, heaviest first; a link whose weight changes meanwhile may be missed or listed again."""

    def ids(self, scope: Scope, part: str, of: str, limit: int) -> list[str]:
        """Ids of memories or conflicts (`of`: memory, conflict) that begin or end with these digits, at most `limit`.

        Unlike the pages, it reads all ids of the scope: some seconds for a million.
        """

    def nodes(self, scope: Scope, ids: Sequence[str], label_chars: int) -> list[GraphNode]:
        """Those of these nodes that exist; labels are cut at `label_chars`."""


@dataclass(frozen=True, slots=True)
class Listed:
    """Which memories a list has; empty means any."""

    where: Filter
    status: str = "live"
    """A key of `biem.domain.listing.STATUSES`."""
    layer: str | None = None
    tier: str | None = None
    origins: tuple[str, ...] = ()


class Lister(Protocol):
    """Lists the memories of exactly one scope, page by page.

    A memory counts as archived from its expiry on, and one that is to be erased then is never returned.
    """

    def page(self, scope: Scope, listed: Listed, order: str, limit: int, after: str) -> Page[Node]:
        """At most `limit` memories in an order of `biem.domain.listing`, after the cursor of the page before.

        Raises `InvalidInput` for a cursor that is none, or of another order. A memory that exists throughout, and does
        not change its place in the order, is in exactly one page, also while others write. Except for the order
        `energy`, which reads the whole scope, a page costs as much as the memories that are passed over for it, and
        with `as_of` as much as those revised since.
        """

    def count(self, scope: Scope, listed: Listed) -> int:
        """How many memories meet the conditions."""


class CoreReader(Protocol):
    """Reads the layer `core`, and memories that were useful recently."""

    def core(self, scopes: Sequence[Scope], limit: int, *, as_of: datetime | None = None) -> list[Node]:
        """Valid memories of the layer core, the most important first, then the newest.

        With `as_of` those that were valid then, with the values that they had then. Archived, erased and superseded
        memories and those of other scopes are never returned. The cost does not grow with the number of other memories,
        but with how many were revised since `as_of`.
        """

    def useful(self, scopes: Sequence[Scope], slots: Mapping[str, int]) -> list[Node]:
        """Of each kind the memories that feedback marked useful last, at most `slots[kind]`, latest first.

        Memories marked useless since, and those that `core` leaves out, are never returned. The cost grows neither with
        the number of memories nor with how many were ever useful.
        """


@dataclass(frozen=True, slots=True)
class Vicinity:
    """Memories with their positions in conversation, and each scope's write sequence at the time of the read, by ns."""

    turns: Turns
    written: Mapping[str, int]
    complete: bool = False
    """Every memory of these scopes up to these numbers is included, each with its vector."""


class OrbitReader(Protocol):
    """Reads the context of a session, and memories written since."""

    def gather(self, scopes: Sequence[Scope], chosen: Sequence[str], others: Sequence[str], whole: int) -> Vicinity:
        """The memories of both; what was said around each of `chosen`, best first; and the memories written last.

        Where all these scopes together never held more than `whole` memories, all are returned, with whole
        conversations. The result is `complete` unless a memory has no vector yet, or is archived and could be restored.

        Around: up to six turns before and after in its conversation, and up to twenty around the best chosen one of
        each of the three conversations with most of them. Written last: sixteen memories of each scope. What superseded
        any of these is included. Archived and erased memories and those of other scopes are never returned, and a
        memory written during this read has a higher number than `written` or is included.
        """

    def since(self, scopes: Sequence[Scope], written: Mapping[str, int], limit: int) -> Vicinity | None:
        """Memories written or revised after these numbers, and the numbers now, in one round trip.

        None where a scope has more than `limit` of either, or was erased: then `gather` must run again.
        """


class ScopeDirectory(Protocol):
    """The scopes that were ever written to and not erased since."""

    def listed(self, tenant: str | None, user: str | None) -> list[ScopeSummary]:
        """Scopes of a tenant and a user (None: of all), with counts, by tenant, user and project."""

    def reading(self, scope: Scope) -> list[Scope]:
        """The scopes that may read `scope`: itself and, for a user's own level, all projects of this user."""


class Former(NamedTuple):
    """A memory that was revised since an instant, with the words and the vector that it had then."""

    id: str
    lexemes: Sequence[str]
    vector: Vector | None


class Selection(Protocol):
    """Evaluates a filter, and searches a small selection without the vector index."""

    def matching(self, scopes: Sequence[Scope], where: Filter, most: int | None) -> list[str] | None:
        """The ids of all memories that meet the conditions; None where there are more than `most`, or where no index
        can answer and all memories of the scopes would have to be read. With `most` None, they are read.

        Archived and erased memories and those of other scopes are never returned.
        """

    def former(self, scopes: Sequence[Scope], where: Filter) -> list[Former]:
        """Memories that were revised after `as_of`, with the values that stood then, if those meet the conditions."""

    def meeting(self, scopes: Sequence[Scope], ids: Sequence[str], where: Filter) -> frozenset[str]:
        """Those of these memories that are live and meet the conditions."""

    def vectors(self, scopes: Sequence[Scope], ids: Sequence[str]) -> dict[str, Vector]:
        """The vectors of this embedder; memories without one are left out."""

    def words(self, scopes: Sequence[Scope], ids: Sequence[str], lexemes: Sequence[str]) -> dict[str, float]:
        """BM25 of those of these memories that share a word with `lexemes`, with statistics of these memories only."""
