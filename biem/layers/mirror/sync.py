"""A sync of one root: first what the files say, then what the memories say; one process at a time."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from biem.domain.mirror.root import MirrorReport, MirrorRoot
from biem.errors import StoreUnavailable
from biem.layers.mirror.incoming import Incoming, Progress
from biem.layers.mirror.outgoing import Outgoing
from biem.layers.mirror.session_files import SessionFiles
from biem.layers.mirror.sync_run import SyncRun
from biem.ports import Clock
from biem.ports.files import Files
from biem.ports.jobs import Exclusive
from biem.ports.layers.mirror import FolderUnwritable, MirrorFolder, MirrorRecords
from biem.telemetry import Telemetry

logger = logging.getLogger("biem.mirror")

_LEFT_S = 3_600.0
"""Age from which a temporary file is no writer's any more."""
_POLL_S = 0.05
_EXCLUDED = ("/sessions/",)
_FRONT_BYTES = 1 << 20


class MirrorSync:
    """Syncs roots. Thread-safe."""

    def __init__(
        self,
        *,
        records: MirrorRecords,
        files: Files,
        folder: MirrorFolder,
        incoming: Incoming,
        outgoing: Outgoing,
        sessions: SessionFiles,
        exclusive: Exclusive,
        clock: Clock,
        telemetry: Telemetry,
        max_text_bytes: int,
    ) -> None:
        """`max_text_bytes`: the longest text of a memory."""
        self._records = records
        self._files = files
        self._folder = folder
        self._incoming = incoming
        self._outgoing = outgoing
        self._sessions = sessions
        self._exclusive = exclusive
        self._clock = clock
        self._telemetry = telemetry
        self.most_bytes = max_text_bytes + _FRONT_BYTES

    def sync(
        self,
        root: MirrorRoot,
        *,
        full: bool = False,
        accept_deletions: bool = False,
        quiet_s: float = 0.0,
        on_progress: Progress | None = None,
    ) -> MirrorReport:
        """Make files and memories of a root say the same.

        `full` reads every file; `quiet_s` leaves files for later that changed less long ago, as while a person types.
        A folder that cannot be read or written changes nothing further: the report says why. Raises `StoreUnavailable`
        for PostgreSQL.
        """
        with (
            self._telemetry.span("biem.mirror.sync") as span,
            self._exclusive.hold(root.scope, f"mirror:{root.id}") as granted,
        ):
            if not granted:
                return MirrorReport(root=root.path, busy=True, reason="another process is syncing it")
            if not any(each.id == root.id for each in self._records.roots([root.scope])):
                return MirrorReport(root=root.path, reason="it is no mirror any more")
            started = self._clock.now()
            report = self._synced(root, full, accept_deletions, quiet_s, on_progress)
            told = report.altered or report.troubled or report.strangers or report.reason
            if told or root.synced_at is None or root.report.get("reason"):
                self._records.synced(root, started, {**report.counts, "reason": report.reason})
            span.add(files=report.files, read=report.read, changed=report.altered, reason=report.reason)
        return report

    @contextmanager
    def alone(self, root: MirrorRoot, within_s: float) -> Iterator[bool]:
        """While no other process syncs a root; False if one still does after this time."""
        deadline = time.monotonic() + within_s
        while True:
            with self._exclusive.hold(root.scope, f"mirror:{root.id}") as granted:
                if granted or time.monotonic() >= deadline:
                    yield granted
                    return
            time.sleep(_POLL_S)

    def is_filled(self, path: str) -> bool:
        """Whether a folder has Markdown files. Raises `StoreUnavailable` if it cannot be read."""
        return bool(self._files.walk(path, _EXCLUDED, obey=False).files)

    def _synced(
        self, root: MirrorRoot, full: bool, accept: bool, quiet_s: float, on_progress: Progress | None
    ) -> MirrorReport:
        report = MirrorReport(root=root.path)
        try:
            walk = self._files.walk(root.path, _EXCLUDED, obey=False)
        except StoreUnavailable as error:
            return replace(report, reason=str(error))
        if not walk.files and not self._folder.is_created(root.path):
            return replace(report, reason=f"{root.path} is empty and was not made by biem: mount it, or add it again")
        report = replace(report, files=len(walk.files))
        run = SyncRun(root, walk, self._records.files(root), report, self._files, self.most_bytes)
        try:
            self._incoming.take(run, full=full, accept_deletions=accept, quiet_s=quiet_s, on_progress=on_progress)
            self._folder.tidy(root.path, _LEFT_S)
            self._outgoing.bring(run)
            run.add(sessions=self._sessions.bring(root))
        except FolderUnwritable as error:
            logger.warning("the mirror %s is not synced to its end: %s", root.path, error)
            return replace(run.report, reason=str(error))
        return run.report
