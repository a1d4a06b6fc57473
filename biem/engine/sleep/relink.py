"""After a memory replaced others: it takes over their links, and caches of all of them are invalidated.

The replacement itself is one committed transaction; these steps follow it, may be repeated, and are completed by the
next job of the scope when a process dies in between.
"""

from collections.abc import Callable, Sequence

from biem.domain.scope import Scope
from biem.ports import Clock
from biem.ports.consolidation import Consolidations
from biem.ports.links import Links

Changed = Callable[[Scope, Sequence[str]], None]
"""Called with the memories that were changed or archived, so that copies of them are dropped."""


class LinkTransfer:
    """Transfers links after a replacement."""

    def __init__(
        self, *, consolidations: Consolidations, links: Links, changed: Changed, clock: Clock, limit: int
    ) -> None:
        self._consolidations = consolidations
        self._links = links
        self._changed = changed
        self._clock = clock
        self._limit = limit

    def settle(self, scope: Scope, kept: str, replaced: Sequence[str]) -> None:
        """Complete a replacement that was committed just now."""
        self.catch_up(scope)
        self._changed(scope, [kept, *replaced])

    def catch_up(self, scope: Scope) -> int:
        """Take over the links of replaced memories where this is still open; returns the number of replacements."""
        replacements = self._consolidations.unlinked(scope, self._limit)
        for replacement in replacements:
            self._links.redirect(scope, replacement.replaced, replacement.kept, self._clock.now())
            self._consolidations.linked(scope, replacement)
        return len(replacements)
