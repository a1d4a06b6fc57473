"""Changing a memory under its id."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from biem.domain.node import Node
from biem.domain.revision import UNCHANGED, Revision, Unchanged
from biem.memory.bound import BoundMemory


class ReviseMethods(BoundMemory):
    """`revise`, `revisions` and `revert`."""

    def revise(
        self,
        memory_id: str,
        *,
        text: str | None = None,
        tags: Sequence[str] | None = None,
        importance: float | None = None,
        reason: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        kind: str | None = None,
        speaker: str | None = None,
        at: datetime | None = None,
        layer: str | None = None,
        expires_at: datetime | Unchanged | None = UNCHANGED,
        ttl: timedelta | None = None,
        on_expiry: str | None = None,
        trust: str | None = None,
        expect: int | None = None,
    ) -> Node:
        """Change a memory of this scope under its id; returns it as it is now. What is left out stays.

        The former values stay as a revision: see `revisions`, `revert`, and `as_of` of `recall`. A new text is found by
        its words at once and by its meaning when a worker has indexed it, and never again by the former one. Values are
        those of `remember`; `expires_at=None` removes the expiry. Equal values make no revision.

        With `expect`, the revision that you read, the call fails with `RevisionConflict` if another was made since.
        Raises `NotFound`, and `InvalidInput` for an archived memory or where another one states the same fact.
        """
        given: dict[str, Any] = {
            "text": text,
            "tags": tags,
            "importance": importance,
            "reason": reason,
            "metadata": metadata,
            "kind": kind,
            "speaker": speaker,
            "at": at,
            "layer": layer,
            "ttl": ttl,
            "on_expiry": on_expiry,
            "trust": trust,
        }
        values = {name: value for name, value in given.items() if value is not None}
        if not isinstance(expires_at, Unchanged):
            values["expires_at"] = expires_at
        node = self._system.reviser.revise(self.bound_to, memory_id, values, expect=expect)
        self._shared.wrote.set()
        return node

    def revisions(self, memory_id: str) -> list[Revision]:
        """All revisions of a memory of this scope, oldest first; the last one is the present. Raises `NotFound`."""
        return self._system.reviser.history(self.bound_to, memory_id)

    def revert(self, memory_id: str, revision: int) -> Node:
        """Give a memory the values of a former revision, as a new one; an expiry that has passed is not restored.

        Raises `NotFound` for an unknown memory or revision, and `InvalidInput` for an archived memory.
        """
        node = self._system.reviser.revert(self.bound_to, memory_id, revision)
        self._shared.wrote.set()
        return node
