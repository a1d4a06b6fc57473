"""Watches folders, of libraries of notes or of the mirror, and calls for a scan soon after files changed.

Events only hint: each leads to a scan, which decides. What a watcher misses, as on a network file system or after it
died, the next scan by time finds. One process watches a folder, under a lock; another takes over when that one ends.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from biem.domain.scope import Scope
from biem.errors import BiemError, StoreUnavailable
from biem.ports.files import FolderEvents
from biem.ports.jobs import Exclusive

BUSY_S = 0.2
"""When a scan is repeated: another one that was under way may have passed the changed file already."""
_ALIVE_S = 30.0
"""That a folder is watched is not recorded more often: a write to the disk before a scan delays it."""
_REST = 10.0
"""A scan is followed by a pause this many times as long: constant edits of a large folder take a tenth of a core."""


class Watchable(Protocol):
    """A folder to watch. Two with the same id are the same one; with another root it is watched again."""

    @property
    def id(self) -> str:
        """Its id."""

    @property
    def scope(self) -> Scope:
        """Whose it is."""

    @property
    def root(self) -> str:
        """Its path."""

    @property
    def name(self) -> str:
        """For messages, and for the name of its thread."""


F = TypeVar("F", bound=Watchable)


@dataclass(slots=True)
class _Watch(Generic[F]):
    """A folder that a thread of this process watches."""

    folder: F
    thread: threading.Thread
    stopped: threading.Event = field(default_factory=threading.Event)


class FolderWatcher(Generic[F]):
    """Watches all folders of one kind on this machine, one thread each. `start` begins, `stop` ends."""

    def __init__(
        self,
        *,
        kind: str,
        events: FolderEvents,
        exclusive: Exclusive,
        folders: Callable[[], Sequence[F]],
        scan: Callable[[F, frozenset[str]], float],
        alive: Callable[[F, bool], None],
        look_s: float,
    ) -> None:
        """`folders`: those to watch now, asked every `look_s` seconds, which is also the pause after a failure.

        `kind`: notes or mirror; part of the names of locks and threads. `scan` gets the paths that changed, as
        `FolderEvents` names them, and returns the seconds after which it is to be repeated, as where another one was
        under way; 0 when it is complete. `alive` records that a folder is watched, or is so no longer.
        """
        self._kind = kind
        self._logger = logging.getLogger(f"biem.{kind}")
        self._events = events
        self._exclusive = exclusive
        self._folders = folders
        self._scan = scan
        self._alive = alive
        self._look_s = look_s
        self._watches: dict[str, _Watch[F]] = {}
        self._told: dict[str, str] = {}
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin, on a separate thread; a second call does nothing."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._loop, name=f"biem-{self._kind}-watch", daemon=True)
            self._thread.start()

    def stop(self, timeout_s: float) -> None:
        """End all watches; scans under way are waited for at most `timeout_s` altogether."""
        self._stopped.set()
        until = time.monotonic() + timeout_s
        watches = list(self._watches.values())
        for watch in watches:
            watch.stopped.set()
        for thread in [self._thread, *(watch.thread for watch in watches)]:
            if thread is not None and thread is not threading.current_thread():
                thread.join(max(0.0, until - time.monotonic()))

    def _loop(self) -> None:
        while not self._stopped.is_set():
            try:
                self._look()
            except BiemError as error:
                self._logger.warning("folders of %s are looked for again later: %s", self._kind, error)
            except Exception:  # what a closed connection raises while the program ends, or an error of ours
                self._logger.exception("folders of %s are looked for again later", self._kind)
            self._stopped.wait(self._look_s)

    def _look(self) -> None:
        """Begin to watch new folders and those whose thread ended; end watches of removed ones."""
        wanted = {each.id: each for each in self._folders()}
        for key, watch in list(self._watches.items()):
            now = wanted.get(key)
            if now is None or now.root != watch.folder.root:
                watch.stopped.set()
            if not watch.thread.is_alive():
                del self._watches[key]
        for key, folder in wanted.items():
            if key not in self._watches and not self._stopped.is_set():
                stopped = threading.Event()
                thread = threading.Thread(
                    target=self._watch,
                    args=(folder, stopped),
                    name=f"biem-{self._kind}-watch-{folder.name}",
                    daemon=True,
                )
                self._watches[key] = _Watch(folder, thread, stopped)
                thread.start()

    def _watch(self, folder: F, stopped: threading.Event) -> None:
        """Watch one folder until it ends or fails; the next look begins it again."""
        try:
            with self._exclusive.hold(folder.scope, f"{self._kind}-watch:{folder.id}") as granted:
                if granted:
                    self._watched(folder, stopped)
        except BiemError as error:
            self._tell(folder, str(error))
        except Exception:
            self._logger.exception("watching %s failed; it begins again", folder.name)

    def _watched(self, folder: F, stopped: threading.Event) -> None:
        try:
            due = 0.0
            for changed in self._events.changes(folder.root, stopped):
                self._told.pop(folder.id, None)
                if time.monotonic() >= due:
                    self._alive(folder, True)
                    due = time.monotonic() + _ALIVE_S
                if changed:
                    self._scanned(folder, changed, stopped)
        finally:
            self._alive(folder, False)

    def _scanned(self, folder: F, changed: frozenset[str], stopped: threading.Event) -> None:
        spent, again = 0.0, True
        while again and not stopped.is_set():
            began = time.monotonic()
            try:
                pause = self._scan(folder, changed)
            except StoreUnavailable as error:  # the scan by time repeats it
                self._logger.warning("%s is scanned later: %s", folder.name, error)
                pause = 0.0
            spent += time.monotonic() - began
            again = pause > 0.0 and not stopped.wait(pause)
        stopped.wait(spent * _REST)

    def _tell(self, folder: F, reason: str) -> None:
        """Log why a folder is not watched, once for each reason."""
        if self._told.get(folder.id) != reason:
            self._told[folder.id] = reason
            self._logger.warning("%s is not watched: %s", folder.name, reason)
