"""The mirror of one scope: `memory.mirror`."""

import threading
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from os import PathLike, fspath
from pathlib import Path

from biem.domain.mirror.root import MirrorReport, MirrorRoot, MirrorStatus
from biem.domain.node import new_id, parse_id
from biem.domain.scope import Scope
from biem.domain.text import require_clean, require_string
from biem.domain.transfer import ExportReport, TransferReport
from biem.errors import InvalidInput, NotFound
from biem.layers.mirror.incoming import Progress
from biem.layers.mirror.system import MirrorSystem

_TOLD = ("broken", "held", "refused", "stranger")
_MOST_TOLD = 1_000
_MOST_STALE = 100_000
_SYNCED_S = 600.0
"""How long a caller waits for another sync of the same folder."""
_POLL_S = 0.05
GLOBAL_ROOT = "~/.aimate/memory"
"""The folder of a user's own level."""


class Mirror:
    """Memories of one scope as Markdown files in folders of this machine. Without a folder it does nothing."""

    def __init__(self, system: MirrorSystem, scope: Scope, wrote: Callable[[], None]) -> None:
        self._system = system
        self._scope = scope
        self._wrote = wrote

    def add(self, folder: str | PathLike[str] | None = None) -> MirrorRoot:
        """Mirror this scope in a folder, which is created; `sync`, or the job of a process with workers, fills it.

        The folder of a project is part of a repository, whose files may be a stranger's: those that are there
        already become memories only after `adopt`. Default: `~/.aimate/memory`, for the user's own level. Raises
        `InvalidInput` for a folder that mirrors another scope, and for one that a library of notes reads or lies in.
        """
        if folder is None:
            if self._scope.project:
                raise InvalidInput("name the folder of the project, such as .aimate/memory in its root")
            folder = GLOBAL_ROOT
        path = self._path(folder)
        if not any((root.path, root.host) == (path, self._system.host) for root in self.roots()):
            self._system.require_unread(path)
        self._system.folder.create(path)
        there = self._system.syncer.is_filled(path)
        root = MirrorRoot(
            id=new_id(),
            scope=self._scope,
            path=path,
            host=self._system.host,
            kind="project" if self._scope.project else "global",
            adopted=not there,
        )
        return self._system.records.add_root(root)

    def roots(self) -> list[MirrorRoot]:
        """The folders of this scope, on all machines."""
        return self._system.records.roots([self._scope])

    def remove(self, folder: str | PathLike[str]) -> None:
        """Mirror no longer in a folder; its files stay. Raises `NotFound`."""
        self._system.records.remove_root(self._root(folder))

    def adopt(self, folder: str | PathLike[str] | None = None) -> MirrorReport:
        """Take in the files of a project's folder that biem did not write, from now on; syncs it."""
        root = self._root(folder)
        self._system.records.adopt(root)
        return self._synced(self._root(root.path))

    def sync(
        self,
        folder: str | PathLike[str] | None = None,
        *,
        full: bool = False,
        accept_deletions: bool = False,
        on_progress: Progress | None = None,
    ) -> list[MirrorReport]:
        """Make files and memories say the same, in one folder or in all of this scope on this machine.

        `full` reads every file. `accept_deletions`: archive memories also where most files are missing.
        """
        roots = self._system.ours([self._scope]) if folder is None else [self._root(folder)]
        return [
            self._synced(root, full=full, accept_deletions=accept_deletions, on_progress=on_progress) for root in roots
        ]

    def watch(self, stopped: threading.Event, on_sync: Callable[[MirrorReport], None] | None = None) -> None:
        """Keep the folders of this scope on this machine up to date until `stopped` is set.

        A file is taken in two seconds after its last change; changed memories are written within ten seconds, the
        period of the job `mirror`. `on_sync` is called after each sync, on one of several threads. Another process may
        watch the same folder; this one takes over when that one ends.
        """

        def synced(report: MirrorReport) -> None:
            if report.taken or report.revised or report.restored:
                self._wrote()
            if on_sync and not report.busy:
                on_sync(report)

        self._system.watch_until(stopped, self._scope, synced)

    def status(self) -> list[MirrorStatus]:
        """The folders of this scope, with the number of files by state, and those that need a person."""
        found = []
        records = self._system.records
        for root in self.roots():
            files = records.files(root).values()
            troubled = [(each.path, each.state, each.reason) for each in files if each.state in _TOLD or each.reason]
            states = dict(Counter(each.state for each in files))
            waiting = len(records.stale(root, _MOST_STALE))
            found.append(MirrorStatus(root, states, tuple(sorted(troubled)[:_MOST_TOLD]), waiting))
        return found

    def file(self, memory_id: str) -> Path | None:
        """The file of a memory of this scope on this machine, as the last sync left it; None where it has none."""
        written = self._system.records.written(self._scope, [parse_id(memory_id)])
        return next((Path(root.path, path) for root, path in written if root.host == self._system.host), None)

    def export(
        self, folder: str | PathLike[str], *, overwrite: bool = False, on_progress: Callable[[int], None] | None = None
    ) -> ExportReport:
        """Write all mirrored memories of this scope into a new folder, archived ones included, with all that they have
        but their revisions. `import_folder` brings them back.
        """
        return self._system.transfer.export(
            self._scope, Path(self._path(folder)), overwrite=overwrite, on_progress=on_progress
        )

    def import_folder(
        self,
        folder: str | PathLike[str],
        *,
        on_conflict: str = "error",
        dry_run: bool = False,
        on_progress: Callable[[int], None] | None = None,
    ) -> TransferReport:
        """Add the memories of a folder that `export` wrote, under their ids, as they were; repeated, nothing twice.

        Changes that were made in the files hold. Raises `InvalidInput` for a file that cannot be read, before anything
        is stored, and `ImportConflict` as `import_file`.
        """
        report = self._system.transfer.take(
            self._scope, Path(self._path(folder)), on_conflict=on_conflict, dry_run=dry_run, on_progress=on_progress
        )
        if report.created:
            self._wrote()
        return report

    def _synced(
        self,
        root: MirrorRoot,
        *,
        full: bool = False,
        accept_deletions: bool = False,
        on_progress: Progress | None = None,
    ) -> MirrorReport:
        if root.host != self._system.host:
            return MirrorReport(root=root.path, reason=f"the folder is on {root.host}: run it there")
        sync = partial(
            self._system.syncer.sync, root, full=full, accept_deletions=accept_deletions, on_progress=on_progress
        )
        deadline = time.monotonic() + _SYNCED_S
        while (report := sync()).busy and time.monotonic() < deadline:
            time.sleep(_POLL_S)
        if report.taken or report.revised or report.restored:
            self._wrote()
        return report

    def _root(self, folder: str | PathLike[str] | None) -> MirrorRoot:
        roots = self.roots()
        if folder is None:
            if len(here := [root for root in roots if root.host == self._system.host]) == 1:
                return here[0]
            raise InvalidInput(f"this scope has {len(here)} folders on this machine; name one")
        path = self._path(folder)
        for root in roots:
            if root.path == path and root.host == self._system.host:
                return root
        mine = (self._scope.tenant, self._scope.user)
        for root in self._system.ours(None):
            if root.path == path and (root.scope.tenant, root.scope.user) == mine:
                level = f"the project {root.scope.project!r}" if root.scope.project else "the user's own level"
                raise NotFound(f"{path} mirrors {level}, not {self._scope}: name that one with --project")
        raise NotFound(f"{path} is no folder of the mirror of {self._scope}; `biem mirror add` makes it one")

    @staticmethod
    def _path(folder: str | PathLike[str]) -> str:
        path = fspath(folder)
        require_string(path, "folder")
        if not path.strip():
            raise InvalidInput("folder is empty; give its path")
        resolved = str(Path(path).expanduser().resolve())
        require_clean(resolved, "folder")
        return resolved
