"""The mirror of all scopes of one connection: its job, its watch, and what an erasure needs of it."""

import logging
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from biem.domain.mirror.root import MirrorReport, MirrorRoot
from biem.domain.node import StoreCount
from biem.domain.scope import Scope
from biem.errors import StoreUnavailable
from biem.layers.mirror.session_files import SessionFiles
from biem.layers.mirror.sync import MirrorSync
from biem.layers.mirror.transfer import MirrorTransfer
from biem.notes.folder_watcher import BUSY_S, FolderWatcher
from biem.ports.layers.mirror import FolderUnwritable, MirrorFolder, MirrorRecords

logger = logging.getLogger("biem.mirror")

_QUIET_S = 2.0
"""The job leaves files alone that were changed less long ago: a person is typing."""
_ALONE_S = 60.0
"""How long an erasure waits for a sync."""
_STOPPED_S = 30.0
"""How long the end of a watch waits for a sync."""
FILES = "files.mirror"
"""How a receipt names the files."""


@dataclass(frozen=True, slots=True)
class _WatchedRoot:
    """A root as watchers take folders."""

    id: str
    scope: Scope
    root: str

    @property
    def name(self) -> str:
        """Its path."""
        return self.root


@dataclass(frozen=True, slots=True, eq=False)
class MirrorSystem:
    """The parts of the mirror. Only bootstrap builds it."""

    records: MirrorRecords
    folder: MirrorFolder
    syncer: MirrorSync
    sessions: SessionFiles
    transfer: MirrorTransfer
    host: str
    """The name of this machine."""
    require_unread: Callable[[str], None]
    """Raises `InvalidInput` for a folder whose files would be read as notes."""
    build_watcher: Callable[..., FolderWatcher[_WatchedRoot]]
    every_s: float
    """Seconds between syncs by time; 0: none after the first."""
    look_s: float
    """How often a watcher looks for new roots."""

    def ours(self, scopes: Sequence[Scope] | None) -> list[MirrorRoot]:
        """The roots on this machine; None: of all scopes."""
        return [root for root in self.records.roots(scopes) if root.host == self.host]

    def run(self, scope: Scope | None = None) -> Mapping[str, int]:
        """The job `mirror`: sync the roots of a scope, or of all; returns what changed."""
        total: Counter[str] = Counter()
        for root in self.ours(None if scope is None else [scope]):
            if root.state == "active":
                total.update(self.syncer.sync(root, quiet_s=_QUIET_S).counts)
        return {name: count for name, count in total.items() if count and name not in ("files", "read", "waiting")}

    def watch_until(self, stopped: threading.Event, scope: Scope, synced: Callable[[MirrorReport], None]) -> None:
        """Sync the roots of a scope soon after files changed, and all by time, until `stopped` is set.

        `synced` is called after each sync, on one of several threads.
        """

        def roots() -> list[_WatchedRoot]:
            there = [root for root in self.ours([scope]) if root.state == "active"]
            return [_WatchedRoot(root.id, root.scope, root.path) for root in there]

        def scan(watched: _WatchedRoot, _changed: frozenset[str]) -> float:
            for root in self.ours([scope]):
                if root.id == watched.id:
                    report = self.syncer.sync(root, quiet_s=_QUIET_S)
                    synced(report)
                    return BUSY_S if report.busy else _QUIET_S if report.waiting else 0.0
            return 0.0  # removed meanwhile

        watcher = self.build_watcher(folders=roots, scan=scan, alive=lambda *_: None, look_s=self.look_s)
        watcher.start()
        try:
            while not stopped.is_set():
                try:
                    for root in self.ours([scope]):
                        if root.state == "active":
                            synced(self.syncer.sync(root, quiet_s=_QUIET_S))
                except StoreUnavailable as error:
                    logger.warning("folders are synced again later: %s", error)
                stopped.wait(self.every_s or None)
        finally:
            watcher.stop(_STOPPED_S)

    def erase(self, scope: Scope, ids: Sequence[str] | None) -> list[StoreCount]:
        """Delete the files of memories that were erased, or of all of a scope; nothing is listed without any.

        Files of sessions lose the messages that became these memories. Files on other machines, or in a folder that
        cannot be written, are counted as left: where single memories are erased, the next sync there deletes them.
        Copies, such as those in the history of Git, are not touched.
        """
        if ids is None:
            return self._erase_roots(scope)
        written = self.records.written(scope, ids)
        left = 0
        for root, path in written:
            if self._deleted(root, path):
                self.records.drop(root, [path])
            else:
                left += 1
        rewritten, stale = self._erase_lines(scope)
        before, left = len(written) + rewritten + stale, left + stale
        return [StoreCount(FILES, before, left)] if before else []

    def _erase_lines(self, scope: Scope) -> tuple[int, int]:
        """Rewrite files of sessions that have erased messages; how many were, and how many wait for a sync."""
        rewritten = stale = 0
        for root in self.records.roots([scope]):
            there = len(self.sessions.with_erased(root))
            done = 0
            if there and root.host == self.host:
                with self.syncer.alone(root, _ALONE_S) as granted, suppress(FolderUnwritable):
                    done = self.sessions.rewrite(root) if granted else 0
            rewritten += done
            stale += max(0, there - done)
        return rewritten, stale

    def _erase_roots(self, scope: Scope) -> list[StoreCount]:
        """No sync that began before can write a file again: it waits, or the root is gone."""
        before = left = 0
        for root in self.records.roots([scope]):
            with self.syncer.alone(root, _ALONE_S):
                written = (*self.records.written(scope, None), *self.sessions.records.written(scope))
                paths = [path for each, path in written if each.id == root.id]
                before += len(paths)
                left += sum(not self._deleted(root, path) for path in paths)
                self.records.erase_root(root)
        return [StoreCount(FILES, before, left)] if before else []

    def _deleted(self, root: MirrorRoot, path: str) -> bool:
        try:
            if root.host == self.host:
                self.folder.delete(root.path, path)
        except FolderUnwritable:
            return False
        return root.host == self.host
