"""The port `FolderEvents`: notifications of the operating system, by watchfiles."""

import os
import re
import stat
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from watchfiles._rust_notify import RustNotify

from biem.adapters.files.ignored import IGNORE_FILES, is_temporary
from biem.adapters.files.tree import EXTENSIONS
from biem.errors import StoreUnavailable

_BURST_MS = 1_600
"""The longest time over which changes are joined."""
_STEP_MS = 25
"""How often a watcher looks up; an edit of one file ends after this long without another write."""
_SEVERAL_MS = 200
"""A burst of several files, or of one that is gone, ends after this long without another change: a program that
replaces a file, or moves a folder, does it in several steps.
"""
_POLL_MS = 300
"""Required by the call, without effect."""
_MOUNTS = Path("/proc/self/mountinfo")
_REMOTE = re.compile(r"(nfs\d?|cifs|smb\w*|ncpfs|9p|afs|ceph|gluster\w*|fuse\.(?:sshfs|s3fs|rclone|gluster\w*))$")
_OCTAL = re.compile(r"\\([0-7]{3})")
_SCANNED = "changes are found by scans only"


class SystemFolderEvents:
    """Stateless and thread-safe; holds one watch of the system for each folder below the root while it is iterated."""

    def __init__(self, *, quiet_s: float = 60.0) -> None:
        """`quiet_s`: how often an idle watcher says that it is alive."""
        self._quiet_ms = max(1, int(quiet_s * 1_000))

    def changes(self, root: str, stopped: threading.Event) -> Iterator[frozenset[str]]:
        """See `FolderEvents.changes`."""
        before = _identity(root)
        if system := remote_system(root):
            raise StoreUnavailable(
                f"{root} is on a network file system ({system}), which reports no changes: {_SCANNED}"
            )
        try:
            with RustNotify(
                [root],
                False,  # no debugging
                False,  # no polling: scans do that
                _POLL_MS,
                True,  # with the folders below
                True,  # without those that may not be read
            ) as notify:
                yield frozenset({""})
                while True:
                    found = notify.watch(_BURST_MS, _STEP_MS, self._quiet_ms, stopped)
                    changed = (
                        frozenset[str]() if isinstance(found, str) else about_notes(root, (path for _, path in found))
                    )
                    until = time.monotonic() + _BURST_MS / 1_000
                    while (rest_ms := _rest_ms(root, changed)) and time.monotonic() < until:
                        found = notify.watch(_BURST_MS, rest_ms, 1, stopped)
                        if isinstance(found, str):
                            break
                        changed |= about_notes(root, (path for _, path in found))
                    if found in ("stop", "signal"):
                        return
                    if _identity(root) != before:
                        raise StoreUnavailable(
                            f"the folder {root} was replaced or unmounted; it is watched again later"
                        )
                    yield changed
        except (OSError, RuntimeError) as error:
            advice = "raise fs.inotify.max_user_watches if the limit of watches is reached"
            raise StoreUnavailable(f"{root} cannot be watched ({error}): {_SCANNED}; {advice}") from error


def _rest_ms(root: str, changed: frozenset[str]) -> int:
    """After how long without a further change a burst is complete; 0 where it is about no note."""
    if len(changed) != 1:
        return _SEVERAL_MS if changed else 0
    try:
        about = Path(root, *changed).lstat()
    except OSError:  # gone, or about to be replaced
        return _SEVERAL_MS
    return _STEP_MS if stat.S_ISREG(about.st_mode) and about.st_size else _SEVERAL_MS


def about_notes(root: str, paths: Iterable[str]) -> frozenset[str]:
    """Those of the changed paths, below the root, that may be a note, a folder, or say which notes are ignored."""
    found = set()
    for path in map(Path, paths):
        below = path.relative_to(root).parts if path.is_relative_to(root) else (path.name,)
        if any(map(is_temporary, below[:-1])) or not below:
            continue
        name = below[-1]
        # A deleted path may have been a folder.
        may_be_note = name.lower().endswith(EXTENSIONS) or path.is_dir() or not path.exists()
        if name in IGNORE_FILES or (may_be_note and not is_temporary(name)):
            found.add("/".join(below))
    return frozenset(found)


def remote_system(root: str, mounts: Path = _MOUNTS) -> str:
    """The type of the network file system that a folder is on; empty for a local one, and where it cannot be told."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""
    folder = os.path.realpath(root)
    best, found = "", ""
    for line in lines:
        left, _, right = line.partition(" - ")
        if len(fields := left.split(" ")) < 5 or not right:
            continue
        point = _OCTAL.sub(lambda code: chr(int(code[1], 8)), fields[4])
        below = folder == point or folder.startswith(point.rstrip("/") + "/")
        if below and len(point) >= len(best):
            best, found = point, right.split(" ")[0]
    return found if _REMOTE.match(found) else ""


def _identity(root: str) -> tuple[int, int]:
    try:
        about = Path(root).stat()
    except OSError as error:
        raise StoreUnavailable(
            f"the folder {root} cannot be read ({error.strerror}); it is watched again later"
        ) from error
    return about.st_dev, about.st_ino
