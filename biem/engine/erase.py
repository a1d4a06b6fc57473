"""Destroying memories in every store, with a receipt (architecture D8). Everything else only archives."""

from collections.abc import Callable
from dataclasses import asdict

from biem.domain.node import Receipt, StoreCount, new_id, parse_id
from biem.domain.policy import EncodePolicy
from biem.domain.scope import Scope
from biem.engine.hotfeed import HotFeed
from biem.errors import NotFound, StoreUnavailable
from biem.ports import Clock, HotStore, Records, VectorIndex
from biem.ports.aim import Headings
from biem.ports.concepts import Minds
from biem.ports.tiers import Canvas
from biem.telemetry import Telemetry


class Eraser:
    """Erases one memory or a whole scope. Records first: from then on no recall can show it."""

    def __init__(
        self,
        *,
        records: Records,
        index: VectorIndex,
        hot: HotStore,
        feed: HotFeed,
        canvas: Canvas,
        minds: Minds,
        headings: Headings,
        forgotten: Callable[[Scope], None],
        clock: Clock,
        policy: EncodePolicy,
        telemetry: Telemetry,
    ) -> None:
        self._records = records
        self._index = index
        self._hot = hot
        self._feed = feed
        self._canvas = canvas
        self._minds = minds
        self._headings = headings
        self._forgotten = forgotten
        self._clock = clock
        self._policy = policy
        self._telemetry = telemetry

    def erase(self, scope: Scope, memory_id: str | None) -> Receipt:
        """Erase one memory of `scope`, or all of it; the receipt lists every store, also one that could not be reached.

        What is left in an unreachable store is removed by the delayed `purge` job, and never shown meanwhile.
        """
        target = parse_id(memory_id) if memory_id is not None else None
        with self._telemetry.span("biem.erase"):
            erasure = self._records.erase(scope, target, self._policy.lease_s + 5.0)
            if target is not None and not erasure.ids:
                raise NotFound(f"no memory {target} in scope {scope}")
            ids, ns = erasure.ids, scope.ns
            self._feed.settle()  # nothing written before may reach HotKV after it was cleared
            counts = [
                self._clear("milvus", lambda: self._index.count(ids), lambda: self._index.purge(ids)),
                self._clear(
                    "redis",
                    lambda: self._hot.count(scope, None if target is None else ids),
                    lambda: self._hot.forget_scope(scope) if target is None else self._hot.forget(scope, ids),
                ),
                self._clear(
                    "redis.canvas",
                    lambda: self._canvas.count(ns, None if target is None else ids),
                    lambda: self._canvas.forget_scope(ns) if target is None else self._canvas.leave(ns, ids),
                ),
                # What a conversation has on its mind holds texts, and does not say of which memories.
                self._clear("redis.minds", lambda: self._minds.count(scope), lambda: self._minds.forget_scope(scope)),
                self._clear(  # nor does the direction of a conversation say which memories it was made of
                    "redis.headings", lambda: self._headings.count(scope), lambda: self._headings.forget_scope(scope)
                ),
            ]
            if target is None:
                self._forgotten(scope)
            after = self._records.remains(scope, erasure)
            tables = [StoreCount(f"postgres.{name}", count, after[name]) for name, count in erasure.before.items()]
            receipt = Receipt(
                id=new_id(),
                target=target or str(scope.ns),
                erased_at=self._clock.now(),
                memories=len(ids),
                stores=(*tables, *counts),
            )
            self._records.save_receipt(scope, {**asdict(receipt), "erased_at": receipt.erased_at.isoformat()})
        return receipt

    @staticmethod
    def _clear(store: str, count: Callable[[], int], clear: Callable[[], None]) -> StoreCount:
        try:
            before = count()
            clear()
            return StoreCount(store, before, count())
        except StoreUnavailable:
            return StoreCount(store, None, None)
