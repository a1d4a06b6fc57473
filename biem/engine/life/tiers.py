"""Tiers by energy: hot memories are in the canvas (L1), all others in the index only (L2).

    enters at E ≥ 0.5 · rises by use at E ≥ 0.7 · leaves below 0.3, after an idle hour, or for stronger ones

The records hold the tier; the canvas follows, and a sweep repairs differences after a crash or an outage. Energy decays
without a write, so a sweep changes only memories that crossed a threshold.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from biem.domain.node import Node
from biem.domain.policies.life import TierPolicy
from biem.domain.scope import Scope
from biem.errors import BiemError, StoreUnavailable
from biem.ports import Clock, Records, Touched, Vector
from biem.ports.hot import Canvas, CanvasEntry
from biem.ports.life import LifeRecords
from biem.telemetry import Telemetry

logger = logging.getLogger("biem.tiers")

_MOST_SWEEPS = 10_000
"""Ends a loop of sweeps to which scopes are added as fast as it goes."""


@dataclass(frozen=True, slots=True)
class Swept:
    """Counts of one sweep."""

    left: int
    """Memories that left L1."""
    repaired: int
    """Memories put back into a canvas that had lost them."""
    scopes: int
    """Scopes visited."""


class Tiers:
    """Moves memories between L1 and L2. An outage of the canvas stops nothing: the next sweep repairs it."""

    def __init__(
        self,
        *,
        records: Records,
        life: LifeRecords,
        canvas: Canvas,
        clock: Clock,
        policy: TierPolicy,
        telemetry: Telemetry,
    ) -> None:
        self._records = records
        self._life = life
        self._canvas = canvas
        self._clock = clock
        self._policy = policy
        self._telemetry = telemetry
        self._swept_to = ""

    def enter(self, memories: Sequence[tuple[Node, Vector]]) -> None:
        """Add memories that the records have just moved to L1 to the canvases of their scopes."""
        entries: dict[str, list[CanvasEntry]] = defaultdict(list)
        for node, vector in memories:
            touched_at = max(node.created_at, node.accessed_at or node.created_at)
            entry = CanvasEntry(node.id, node.energy_key, touched_at, node.conversation, vector)
            entries[node.scope.ns].append(entry)
        for ns, part in entries.items():
            self._try_now(lambda ns=ns, part=part: self._enter(ns, part))  # type: ignore[misc]

    def accessed(self, scope: Scope, ids: Sequence[str]) -> list[Touched]:
        """Count that these memories were returned, boost them, and update the canvas."""
        touched = self._records.touch(scope, ids, self._clock.now())
        self._try_now(lambda: self._follow(touched))
        return touched

    def count(self, scope: Scope, ids: Sequence[str]) -> None:
        """As `accessed`, but never raises: an answer that was returned must not fail afterwards."""
        try:
            self.accessed(scope, ids)
        except BiemError as error:
            logger.warning("accesses not counted: %s", error)

    def follow(self, touched: Sequence[Touched]) -> None:
        """Update the canvas after accesses or feedback that the records counted."""
        self._try_now(lambda: self._follow(touched))

    def drop(self, ns: str, ids: Sequence[str]) -> None:
        """As `leave`, but left to the sweep when the canvas is down."""
        self._try_now(lambda: self._canvas.leave(ns, ids))

    def read(self, scope: Scope) -> list[CanvasEntry]:
        """The canvas of exactly this scope, hottest first; rebuilt from the records when the server lost it."""
        entries = self._canvas.read(scope.ns, self._clock.now())
        if entries is None:
            self.rebuild(scope)
            entries = self._canvas.read(scope.ns, self._clock.now())
        return entries or []

    def rebuild(self, scope: Scope) -> int:
        """Fill the canvas of a scope from the records; returns how many memories are in it."""
        return self._rebuild(scope.ns)

    def leave(self, ns: str, ids: Sequence[str]) -> None:
        """Remove memories from the canvas that the records archived, erased or changed."""
        self._canvas.leave(ns, ids)

    def sweep(self) -> Swept:
        """Move memories that are too weak or idle out of L1, then align canvases and records; bounded, and safe to
        repeat.

        Without the canvas only the records are swept.
        """
        with self._telemetry.span("biem.tiers.sweep") as span:
            faded: dict[str, list[str]] = defaultdict(list)
            for ns, memory_id in self._life.fade(self._clock.now(), self._policy.sweep_rows):
                faded[ns].append(memory_id)
            for ns, ids in faded.items():
                self._try_now(lambda ns=ns, ids=ids: self._canvas.leave(ns, ids))  # type: ignore[misc]
            scopes = self._life.hot_scopes(self._swept_to, self._policy.sweep_scopes)
            self._swept_to = scopes[-1] if len(scopes) == self._policy.sweep_scopes else ""
            left, repaired = sum(map(len, faded.values())), 0
            try:
                for ns in scopes:
                    out, back = self._align(ns)
                    left, repaired = left + out, repaired + back
            except StoreUnavailable as error:
                logger.warning("sweep of the canvases postponed: %s", error)
            span.add(left=left, repaired=repaired, scopes=len(scopes))
        return Swept(left, repaired, len(scopes))

    def _align(self, ns: str) -> tuple[int, int]:
        """Align the canvas with the records; returns how many left L1 and how many were put back into the canvas.

        The canvas is read first: memories that the records move to L1 after that are missing only briefly, and adding
        them twice is harmless.
        """
        held = self._canvas.ids(ns)
        hot = self._life.hot_ids(ns)
        if held is None or len(hot) > self._policy.max_nodes:
            kept = self._rebuild(ns)
            return max(0, len(hot) - kept), kept
        if stale := held - hot:
            self._canvas.leave(ns, sorted(stale))
        missing = hot - held
        if not missing:
            return 0, 0
        out = self._admit(ns, sorted(missing))
        return out, len(missing) - out

    def _rebuild(self, ns: str) -> int:
        limit = self._policy.max_nodes
        entries = self._life.hot(ns, self._clock.now(), limit)
        out = self._canvas.enter(ns, entries, self._clock.now(), rebuilt=True)
        kept = {entry.id for entry in entries} - set(out)
        self._life.cool_all_but(ns, sorted(kept), self._policy.sweep_rows)
        return len(kept)

    def _follow(self, touched: Sequence[Touched]) -> None:
        """Update energies and accesses of L1 in the canvas, and add memories that rose or were missing."""
        hot: dict[str, list[Touched]] = defaultdict(list)
        for memory in touched:
            if memory.tier == "L1":
                hot[memory.ns].append(memory)
        for ns, part in hot.items():
            if missing := self._canvas.renew(ns, part, self._clock.now()):
                self._admit(ns, missing)

    def _admit(self, ns: str, ids: Sequence[str]) -> int:
        """Add memories of L1 to the canvas by their ids; those without a vector of this model stay in L2."""
        entries = self._life.hot(ns, self._clock.now(), len(ids), ids)
        without = set(ids) - {entry.id for entry in entries}
        return self._enter(ns, entries) + (self._life.cool(ns, sorted(without)) if without else 0)

    def _enter(self, ns: str, entries: Sequence[CanvasEntry]) -> int:
        """Returns how many memories had to leave L1."""
        out = self._canvas.enter(ns, entries, self._clock.now()) if entries else []
        return self._life.cool(ns, out) if out else 0

    @staticmethod
    def _try_now(work: Callable[[], object]) -> None:
        """Run it now if the canvas answers; otherwise leave it to the sweep."""
        try:
            work()
        except StoreUnavailable as error:
            logger.warning("canvas update left to the sweep: %s", error)


def sweep_all(tiers: Tiers, policy: TierPolicy) -> None:
    """Sweep until every scope was visited once."""
    for _ in range(_MOST_SWEEPS):
        if tiers.sweep().scopes < policy.sweep_scopes:
            return
