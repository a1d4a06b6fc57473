"""Port of the association graph: links, stored in PostgreSQL, with a feed of their changes.

A node is a memory or a concept, identified by its uuid as text. The view `graph_nodes (ns text, id uuid, accessed_at
timestamptz)` of migration 0003 lists the nodes of a scope; the migration that creates concepts adds them. Links never
cross scopes: both ends must be nodes of the scope when a link is written.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from biem.domain.link import Key, Link, LinkType, Moment, NewLink
from biem.domain.scope import Scope


@dataclass(frozen=True, slots=True)
class LinkChanges:
    """Changes of a scope's links. Versions only grow, also when a scope is erased and created again."""

    version: int
    complete: bool
    """True: `links` is the whole graph and replaces the known one. False: `links` are the changes since the known
    version.
    """
    links: Sequence[Link]
    """New or changed links, without their times."""
    removed: Sequence[Key]
    nodes: Sequence[str] = ()
    """If `complete`, every node of the scope, including those without links; else none."""


@dataclass(frozen=True, slots=True)
class Weakened:
    """The result of one run of forgetting on idle links."""

    weakened: int
    removed: int


class Links(Protocol):
    """The stored graph. `changes` shows a change to every process from the moment it committed.

    All methods are safe to repeat after a lost connection, and write in short transactions: a `remember` of the same
    scope waits for at most one of them.
    """

    def connect(self, scope: Scope, links: Sequence[NewLink], at: datetime, *, once: str | None = None) -> int:
        """Add links, or strengthen existing ones (`domain.link.grown`); returns how many of them were written.

        Links with an end that is no node of the scope, and links from a node to itself, are left out. With `once`, a
        unique name of this call, a call with the same name does nothing for as long as `compact` keeps the name: so a
        job that adds may be repeated. Such a call is one transaction, however many links it has, and counts whole or
        not at all. A link removed before starts from nothing.
        """

    def changes(self, known: Mapping[Scope, int]) -> Mapping[Scope, LinkChanges]:
        """Changes since the known version of each scope; -1 requests everything.

        One round trip, and a second one for the nodes where the answer is complete.

        Misses nothing that commits in another order than it began. Scopes that do not exist are left out. For a version
        whose removals are no longer kept, or that the scope never had (a backup was restored), the answer is complete.
        """

    def weaken(
        self,
        scope: Scope,
        idle_before: datetime,
        limit: int,
        at: datetime,
        *,
        types: Sequence[LinkType],
        share: float = 1.0,
        salt: int = 0,
    ) -> Weakened:
        """Take one strength from at most `limit` links of these types that are idle; remove those that reach 0.

        A link is idle if it was not touched and neither end was accessed since `idle_before`. A link weakened at `at`
        is no longer idle, so that a repetition takes nothing twice. With `share` < 1 only that share of the idle ones
        is taken, drawn by `salt`.
        """

    def prune(self, scope: Scope, max_links: int, limit: int, at: datetime) -> int:
        """Remove the weakest links of nodes that have more than `max_links`; returns how many.

        Examines only the ends of at most `limit` links that changed since the last call; 0 if nothing changed. Weakest
        is least weight, then least strength, then longest untouched.
        """

    def park(self, scope: Scope, ids: Sequence[str], at: datetime) -> int:
        """Remove the links of archived nodes from the graph, to be returned by `restore`; returns how many."""

    def purge(self, ns: str, ids: Sequence[str], at: datetime) -> int:
        """As `park`, for a scope known by its hash only, and only for ids that are no nodes any more.

        Nodes restored meanwhile keep their links.
        """

    def restore(self, scope: Scope, ids: Sequence[str], at: datetime) -> int:
        """Return parked links to these nodes where both ends are nodes again; returns how many."""

    def remove_nodes(self, scope: Scope, ids: Sequence[str], at: datetime) -> int:
        """Remove all links of these nodes for good; returns how many."""

    def redirect(self, scope: Scope, old_ids: Sequence[str], new_id: str, at: datetime) -> int:
        """After a merge: `new_id` takes over the links of `old_ids`, whose own are parked; returns how many are new to
        it.

        No link is left with an old end, none from `new_id` to itself; links that become equal are combined as in
        `connect`.
        """

    def of(self, scope: Scope, node_id: str) -> Sequence[Link]:
        """The links of one node, strongest weight first, with their times."""

    def count(self, scope: Scope) -> int:
        """Links of the scope."""

    def dangling(self, scope: Scope, limit: int, *, every: bool = False) -> Sequence[str]:
        """At most `limit` ends of links that are no nodes of the scope; `park` repairs them, since an archived node may
        return.

        Examines the links changed last and, in a large scope, a sample of the others each time; `every`: all of them.
        """

    def compact(self, scope: Scope, before: datetime, limit: int) -> int:
        """Delete traces of links removed before an instant, and names of calls made before it: at most `limit` of each.

        Returns how many.
        """

    def earlier(
        self, scope: Scope, memories: Sequence[Moment], *, most: int, window_s: float
    ) -> Mapping[str, Sequence[Moment]]:
        """For each memory the last `most` of the same conversation before it by (at, seq), less than `window_s` ago.

        Archived memories are left out; the cost does not grow with the memories of the scope.
        """
