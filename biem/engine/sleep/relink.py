"""After one memory came to stand for others: it takes over their links, and copies of all of them are dropped.

The replacement itself is one committed transaction; these steps follow it, may be repeated, and are made good by the
next job of the scope when a process dies in between.
"""

from collections.abc import Callable, Sequence

from biem.domain.scope import Scope
from biem.ports import Clock
from biem.ports.consolidation import Consolidations
from biem.ports.links import Links

Changed = Callable[[Scope, Sequence[str]], None]
"""Hears which memories were changed or archived, so that copies of them are dropped."""


class LinkTransfer:
    """What follows a replacement."""

    def __init__(
        self, *, consolidations: Consolidations, links: Links, changed: Changed, clock: Clock, limit: int
    ) -> None:
        self._consolidations = consolidations
        self._links = links
        self._changed = changed
        self._clock = clock
        self._limit = limit

    def settle(self, scope: Scope, kept: str, replaced: Sequence[str]) -> None:
        """Finish a replacement that was committed just now."""
        self.catch_up(scope)
        self._changed(scope, [kept, *replaced])

    def catch_up(self, scope: Scope) -> int:
        """Take over the links of replaced memories where that was not done yet; returns of how many replacements."""
        replacements = self._consolidations.unlinked(scope, self._limit)
        for replacement in replacements:
            self._links.redirect(scope, replacement.replaced, replacement.kept, self._clock.now())
            self._consolidations.linked(scope, replacement)
        return len(replacements)
