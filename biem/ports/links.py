"""What the association graph needs from the outside: links, kept in PostgreSQL, with a feed of their changes.

A node is a memory or a concept, known by its uuid as text. Which nodes a scope has says the view `graph_nodes (ns text,
id uuid, accessed_at timestamptz)` of migration 0003; the migration that creates concepts replaces it by one that has
them, too. Links never cross scopes: both ends must be nodes of the scope when a link is written.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from biem.domain.link import Key, Link, LinkType, Moment, NewLink
from biem.domain.scope import Scope


@dataclass(frozen=True, slots=True)
class LinkChanges:
    """What happened to a scope's links. Versions only grow, also when a scope is erased and made anew."""

    version: int
    complete: bool
    """`links` are all there are: forget what is known. Otherwise they are the changes since the version asked for."""
    links: Sequence[Link]
    """New or changed; without their times."""
    removed: Sequence[Key]
    nodes: Sequence[str] = ()
    """Every node of the scope where `complete`, else none: those without links, too."""


@dataclass(frozen=True, slots=True)
class Weakened:
    """What one run of forgetting did to idle links."""

    weakened: int
    removed: int


class Links(Protocol):
    """The truth of the graph. A change is visible to `changes` of every process from the moment it committed.

    All methods are safe to repeat after a lost connection, and write in short transactions: a `remember` of the same
    scope waits for at most one of them.
    """

    def connect(self, scope: Scope, links: Sequence[NewLink], at: datetime, *, once: str | None = None) -> int:
        """Add links, or let existing ones grow by C4 (`domain.link.grown`); returns how many of them were written.

        Links with an end that is no node of the scope, and links from a node to itself, are left out. With `once`, a
        name for this piece of work, a call with the same name does nothing for as long as `compact` keeps the name:
        so a job that adds may be repeated. Such work is one transaction, however many links it has, and so counts whole
        or not at all. A link removed before starts anew.
        """

    def changes(self, known: Mapping[Scope, int]) -> Mapping[Scope, LinkChanges]:
        """What changed since the version known of each scope; -1 asks for everything.

        One round trip, and a second one for the nodes where the answer is complete.

        Misses nothing that commits in another order than it began. Scopes that do not exist are left out. Asked since a
        version whose removals are not kept any more, or that the scope never had (a backup came back), the answer is
        complete.
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

        Idle is a link neither touched nor with an end accessed since `idle_before`. Weakened at `at`, it is not idle
        any more, so that a repetition takes nothing twice. With `share` < 1 only that share of the idle ones is taken,
        drawn by `salt` (C30).
        """

    def prune(self, scope: Scope, max_links: int, limit: int, at: datetime) -> int:
        """Remove the weakest links of nodes that have more than `max_links`; returns how many.

        Looks at the ends of at most `limit` links that changed since the last call and at nothing else; 0 with nothing
        changed. Weakest is least weight, then least strength, then longest untouched.
        """

    def park(self, scope: Scope, ids: Sequence[str], at: datetime) -> int:
        """Take the links of archived nodes out of the graph, to be given back by `restore`; returns how many."""

    def purge(self, ns: str, ids: Sequence[str], at: datetime) -> int:
        """As `park`, for a scope whose names are not at hand, and only for what is no node any more.

        What was restored meanwhile keeps its links.
        """

    def restore(self, scope: Scope, ids: Sequence[str], at: datetime) -> int:
        """Give nodes their parked links back as far as both ends are nodes again; returns how many."""

    def remove_nodes(self, scope: Scope, ids: Sequence[str], at: datetime) -> int:
        """Remove all links of these nodes for good; returns how many."""

    def redirect(self, scope: Scope, old_ids: Sequence[str], new_id: str, at: datetime) -> int:
        """After a merge: `new_id` takes over the links of `old_ids`, whose own are parked; returns how many it has new.

        No link is left with an old end, none from `new_id` to itself; links that become equal are one, by C4.
        """

    def of(self, scope: Scope, node_id: str) -> Sequence[Link]:
        """The links of one node, strongest weight first, with their times."""

    def count(self, scope: Scope) -> int:
        """Links of the scope."""

    def dangling(self, scope: Scope, limit: int) -> Sequence[str]:
        """At most `limit` ends of links that are no nodes of the scope; `park` mends them: one archived may return.

        Looks at the links changed last and, of a large scope, at some others each time.
        """

    def compact(self, scope: Scope, before: datetime, limit: int) -> int:
        """Delete traces of links removed before an instant, and names of work done before it: at most `limit` of each.

        Returns how many.
        """

    def earlier(
        self, scope: Scope, memories: Sequence[Moment], *, most: int, window_s: float
    ) -> Mapping[str, Sequence[Moment]]:
        """For each memory the last `most` of the same conversation before it by (at, seq), less than `window_s` ago.

        Archived memories are left out; the time taken does not grow with the memories of the scope.
        """
