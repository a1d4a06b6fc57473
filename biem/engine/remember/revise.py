"""Revising a memory: the same id with new values; the former ones stay as revisions.

The new values are computed from the memory as read before the transaction, which changes nothing if it was revised
meanwhile; then they are computed again, or the caller's `expect` no longer holds.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import fields, replace
from typing import Any

from biem.domain.node import Draft, Node, parse_id
from biem.domain.revision import REVISABLE, Revision, judged_anew
from biem.domain.scope import Scope
from biem.domain.trust import UNTRUSTED
from biem.engine.priority import Calling
from biem.engine.remember.writer import Writer
from biem.errors import BiemError, InvalidInput, NotFound, RevisionConflict, StoreUnavailable
from biem.ports import Clock, JobQueue, Records
from biem.ports.revisions import Change, Revisions
from biem.telemetry import Telemetry

_TRIES = 20


class Reviser:
    """Changes stored memories and reads their history. Thread-safe."""

    def __init__(
        self,
        *,
        records: Records,
        revisions: Revisions,
        writer: Writer,
        queue: JobQueue,
        clear: Callable[[str, Sequence[str]], None],
        clock: Clock,
        telemetry: Telemetry,
        calling: Calling = nullcontext,
    ) -> None:
        """`clear(ns, ids)` removes memories from the caches."""
        self._records = records
        self._revisions = revisions
        self._writer = writer
        self._queue = queue
        self._clear = clear
        self._clock = clock
        self._telemetry = telemetry
        self._calling = calling

    def revise(
        self, scope: Scope, memory_id: str, given: Mapping[str, Any], *, expect: int | None = None, by: str = "revise"
    ) -> Node:
        """Replace the given values, which are validated as those of a new memory; returns the memory as it is now.

        Values that are equal make no revision. Raises `RevisionConflict` if the memory is not at revision `expect`.
        """
        target = parse_id(memory_id)
        if expect is not None:
            require_revision(expect, "expect")
        with self._telemetry.span("biem.revise"), self._calling():
            return self._revise(scope, target, self._writer.checked(given), expect, by)

    def history(self, scope: Scope, memory_id: str) -> list[Revision]:
        """All revisions of a memory, oldest first; the last one is the present. Raises `NotFound`."""
        target = parse_id(memory_id)
        found = self._revisions.history(scope, target)
        if not found:
            raise NotFound(f"no memory {target} in scope {scope}")
        return found

    def revert(self, scope: Scope, memory_id: str, revision: int) -> Node:
        """A new revision with the values of a former one; an expiry that has passed meanwhile is not restored."""
        target = parse_id(memory_id)
        require_revision(revision, "revision")
        history = self.history(scope, target)
        former = next((one for one in history if one.revision == revision), None)
        if former is None:
            raise NotFound(f"memory {target} has no revision {revision}; it has 1 to {history[-1].revision}")
        values = {name: getattr(former, name) for name in REVISABLE}
        if former.expires_at is not None and former.expires_at <= self._clock.now():
            del values["expires_at"]
        with self._telemetry.span("biem.revise"), self._calling():
            return self._revise(scope, target, values, None, "revert")

    def revised(self, scope: Scope, ids: Sequence[str]) -> None:
        """To be called when memories got a new text in a transaction of their own: clears the caches. Never raises."""
        self._queue.wake()
        with suppress(BiemError):
            self._clear(scope.ns, ids)

    def _revise(self, scope: Scope, target: str, values: Mapping[str, Any], expect: int | None, by: str) -> Node:
        self._writer.admit(scope, 1)
        for _ in range(_TRIES):
            node = self._live(scope, target)
            if expect is not None and node.revision != expect:
                raise RevisionConflict(
                    f"memory {target} is at revision {node.revision}, not {expect}; read it again and decide"
                )
            wanted = _never_core(values, node)
            changed = frozenset(name for name, value in wanted.items() if getattr(node, name) != value)
            if not changed:
                return node
            draft = replace(_draft(node), **{name: wanted[name] for name in changed})
            lexemes, fact_key = self._writer.derived(draft)
            change = Change(target, node.revision, draft, lexemes, fact_key, changed, by)
            done = self._revisions.revise(scope, change, self._clock.now())
            if done is not None:
                self._follow(done, anew=judged_anew(changed, node.trust, done.trust))
                return done
        raise StoreUnavailable(f"memory {target} is being revised by others all the time; try again")

    def _live(self, scope: Scope, target: str) -> Node:
        node = self._records.get(scope, target)
        if node is None:
            raise NotFound(f"no memory {target} in scope {scope}")
        if node.status == "archived":
            if node.quarantined:
                raise InvalidInput(f"memory {target} is in quarantine; release() brings it back")
            raise InvalidInput(f"memory {target} is archived; restore it first")
        return node

    def _follow(self, node: Node, *, anew: bool) -> None:
        """Clear the caches at once; if one is down, the worker does it later."""
        if anew:
            self.revised(node.scope, [node.id])
        else:
            self._queue.wake()


def _never_core(values: Mapping[str, Any], node: Node) -> Mapping[str, Any]:
    """The values without an untrusted memory in the layer core: one that was there leaves it, none comes in."""
    if values.get("trust", node.trust) != UNTRUSTED or values.get("layer", node.layer) != "core":
        return values
    if node.layer != "core":
        raise InvalidInput(
            f"memory {node.id} is untrusted and cannot be core, which every prompt begins with; leave `layer` out, or "
            "pass trust='normal' if you have checked the text"
        )
    return {**values, "layer": "long_term"}


def _draft(node: Node) -> Draft:
    return Draft(**{field.name: getattr(node, field.name) for field in fields(Draft)})


def require_revision(value: object, what: str) -> None:
    """Reject what is no number of a revision. `what` names the value in the message."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InvalidInput(f"{what} must be the number of a revision, from 1 on, not {value!r}")
