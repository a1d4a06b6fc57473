"""Erasure from every store, with a receipt. Everything else only archives."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from datetime import datetime

from biem.domain.node import AutomaticBackup, Receipt, StoreCount, new_id, parse_id
from biem.domain.policies.writing import EncodePolicy
from biem.domain.scope import Scope
from biem.engine.remember.hot_write_behind import HotFeed
from biem.errors import NotFound, StoreUnavailable
from biem.ports import Clock, HotStore, Records, VectorIndex
from biem.ports.hot import Canvas, InertiaStore, RunningMemoryStore
from biem.ports.readers import ScopeDirectory
from biem.telemetry import Telemetry

_ROUNDS = 5
"""Maximum times that a user's projects are listed, because processes may write to new ones during the erasure."""


class Eraser:
    """Erases one memory, a whole scope or a user. Records first: from then on no recall can return it."""

    def __init__(
        self,
        *,
        records: Records,
        index: VectorIndex,
        hot: HotStore,
        feed: HotFeed,
        canvas: Canvas,
        running_memory: RunningMemoryStore,
        inertia_store: InertiaStore,
        scopes: ScopeDirectory,
        forgotten: Callable[[Scope], None],
        note_folders: Callable[[Scope], Sequence[str]],
        erase_notes: Callable[[Scope], Sequence[StoreCount]],
        erase_files: Callable[[Scope, Sequence[str] | None], Sequence[StoreCount]],
        backups: Callable[[], Sequence[AutomaticBackup]],
        clock: Clock,
        policy: EncodePolicy,
        telemetry: Telemetry,
    ) -> None:
        """`note_folders` are those of a scope, whose files stay; `erase_notes` destroys all notes of it; `erase_files`
        deletes the files that mirror memories, or a whole scope; `backups` lists the unexpired automatic backups.
        """
        self._records = records
        self._index = index
        self._hot = hot
        self._feed = feed
        self._canvas = canvas
        self._running_memory = running_memory
        self._inertia_store = inertia_store
        self._scopes = scopes
        self._forgotten = forgotten
        self._note_folders = note_folders
        self._erase_notes = erase_notes
        self._erase_files = erase_files
        self._backups = backups
        self._clock = clock
        self._policy = policy
        self._telemetry = telemetry

    def erase(self, scope: Scope, memory_id: str | None, expired_at: datetime | None = None) -> Receipt:
        """Erase one memory of `scope`, or all of it; the receipt lists every store, including unreachable ones.

        With `expired_at`, raises `NotFound` unless the memory is to be erased because it had expired by then.

        Rows in an unreachable store are removed later by the delayed `purge` job, and never returned meanwhile.
        """
        target = parse_id(memory_id) if memory_id is not None else None
        with self._telemetry.span("biem.erase"):
            receipt = self._erase(scope, target, expired_at)
            self._keep(scope, receipt)
        return receipt

    def erase_user(self, tenant: str, user: str) -> Receipt:
        """Erase the user's own level and all projects; after an interruption, the same call completes it.

        Each erased scope leaves the list, the user's own comes last. Scopes written to meanwhile are erased, too; those
        left at the end are counted as `postgres.scopes` and make the receipt incomplete.
        """
        own = Scope(tenant, user)
        erased: dict[str, int] = {}
        parts: list[Receipt] = []
        with self._telemetry.span("biem.erase") as span:
            for _ in range(_ROUNDS):
                there = [summary.scope for summary in self._scopes.listed(tenant, user)]
                if not there and parts:
                    break
                for scope in (*(one for one in there if one.project), own):
                    part = self._erase(scope, None)
                    erased[str(scope)] = erased.get(str(scope), 0) + part.memories
                    parts.append(part)
                    self._keep(scope, part)
            left = len(self._scopes.listed(tenant, user))
            span.add(scopes=len(erased))
            receipt = replace(
                parts[-1],
                id=new_id(),
                memories=sum(part.memories for part in parts),
                stores=(StoreCount("postgres.scopes", len(erased), left), *_summed(parts)),
                scopes=erased,
                kept_files=tuple(dict.fromkeys(folder for part in parts for folder in part.kept_files)),
            )
            self._keep(own, receipt)
        return receipt

    def _erase(self, scope: Scope, target: str | None, expired_at: datetime | None = None) -> Receipt:
        reading = self._scopes.reading(scope)
        folders = self._note_folders(scope) if target is None else ()
        notes = self._erase_notes(scope) if target is None else ()
        files = self._erase_files(scope, None) if target is None else ()
        erasure = self._records.erase(scope, target, self._policy.lease_s + 5.0, expired_at=expired_at)
        if target is not None and not erasure.ids:
            raise NotFound(f"no memory {target} in scope {scope}")
        ids, ns = erasure.ids, scope.ns
        if target is not None:
            files = self._erase_files(scope, ids)
        self._feed.settle()  # texts queued before must not reach HotKV after it was cleared
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
            # Running memory holds texts, and does not record of which memories.
            self._forget_talk("redis.running_memory", self._running_memory, reading),
            # Nor does inertia record which memories it was computed from.
            self._forget_talk("redis.inertia", self._inertia_store, reading),
        ]
        if target is None:
            for reader in reading:
                self._forgotten(reader)
        after = self._records.remains(scope, erasure)
        tables = [StoreCount(f"postgres.{name}", count, after[name]) for name, count in erasure.before.items()]
        return Receipt(
            id=erasure.receipt,
            target=target or str(ns),
            erased_at=self._clock.now(),
            memories=len(ids),
            stores=(*tables, *counts, *notes, *files),
            backups=tuple(self._backups()),
            kept_files=tuple(folders),
        )

    def _forget_talk(self, store: str, talk: RunningMemoryStore | InertiaStore, reading: Iterable[Scope]) -> StoreCount:
        """In all scopes that may read the erased one, including those written by a process of an older version."""
        spaces = [scope.ns for scope in reading]
        return self._clear(store, lambda: talk.count(spaces), lambda: talk.forget(spaces))

    def _keep(self, scope: Scope, receipt: Receipt) -> None:
        """Store the receipt with counts and ids only: names of projects, and of folders, are text."""
        shown = asdict(replace(receipt, scopes={}, backups=(), kept_files=()))
        del shown["scopes"], shown["backups"], shown["kept_files"]
        self._records.save_receipt(scope, {**shown, "erased_at": receipt.erased_at.isoformat()})

    @staticmethod
    def _clear(store: str, count: Callable[[], int], clear: Callable[[], None]) -> StoreCount:
        try:
            before = count()
            clear()
            return StoreCount(store, before, count())
        except StoreUnavailable:
            return StoreCount(store, None, None)


def _summed(receipts: Sequence[Receipt]) -> list[StoreCount]:
    """The counts of several erasures, store by store; None where one of them could not reach the store."""
    found: dict[str, list[StoreCount]] = {}
    for receipt in receipts:
        for count in receipt.stores:
            found.setdefault(count.store, []).append(count)
    return [
        StoreCount(name, _sum(c.before for c in parts), _sum(c.after for c in parts)) for name, parts in found.items()
    ]


def _sum(counts: Iterable[int | None]) -> int | None:
    total = 0
    for count in counts:
        if count is None:
            return None
        total += count
    return total
