"""Watches the folders of libraries and scans one soon after its files changed.

Events only hint: each leads to a scan, which decides. What a watcher misses, as on a network file system or after it
died, the next scan by time finds. One process watches a library, under a lock; another takes over when that one ends.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from biem.domain.notes.library import Library, ScanReport
from biem.errors import BiemError, StoreUnavailable
from biem.ports.files import FolderEvents
from biem.ports.jobs import Exclusive

logger = logging.getLogger("biem.notes")

_BUSY_S = 0.2
_REST = 10.0
"""A scan is followed by a pause this many times as long: constant edits of a large library take a tenth of a core."""


@dataclass(slots=True)
class _Watch:
    """A folder that a thread of this process watches."""

    library: Library
    thread: threading.Thread
    stopped: threading.Event = field(default_factory=threading.Event)


class LibraryWatcher:
    """Watches all libraries of this machine, one thread each. `start` begins, `stop` ends."""

    def __init__(
        self,
        *,
        events: FolderEvents,
        exclusive: Exclusive,
        libraries: Callable[[], Sequence[Library]],
        scan: Callable[[Library], ScanReport],
        alive: Callable[[Library, bool], None],
        look_s: float,
    ) -> None:
        """`libraries`: those to watch now, asked every `look_s` seconds, which is also the pause after a failure.

        `alive` records that a library is watched, or is so no longer.
        """
        self._events = events
        self._exclusive = exclusive
        self._libraries = libraries
        self._scan = scan
        self._alive = alive
        self._look_s = look_s
        self._watches: dict[str, _Watch] = {}
        self._told: dict[str, str] = {}
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin, on a thread of its own; a second call does nothing."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._loop, name="biem-notes-watch", daemon=True)
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
                logger.warning("libraries of notes are looked for again later: %s", error)
            except Exception:  # what a closed connection raises while the program ends, or an error of ours
                logger.exception("libraries of notes are looked for again later")
            self._stopped.wait(self._look_s)

    def _look(self) -> None:
        """Begin to watch new libraries and those whose thread ended; end watches of removed ones."""
        wanted = {each.id: each for each in self._libraries() if each.state != "paused"}
        for key, watch in list(self._watches.items()):
            now = wanted.get(key)
            if now is None or (now.root, now.host) != (watch.library.root, watch.library.host):
                watch.stopped.set()
            if not watch.thread.is_alive():
                del self._watches[key]
        for key, library in wanted.items():
            if key not in self._watches and not self._stopped.is_set():
                stopped = threading.Event()
                thread = threading.Thread(
                    target=self._watch, args=(library, stopped), name=f"biem-notes-watch-{library.name}", daemon=True
                )
                self._watches[key] = _Watch(library, thread, stopped)
                thread.start()

    def _watch(self, library: Library, stopped: threading.Event) -> None:
        """Watch one library until it ends or fails; the next look begins it again."""
        try:
            with self._exclusive.hold(library.scope, f"notes-watch:{library.id}") as granted:
                if granted:
                    self._watched(library, stopped)
        except BiemError as error:
            self._tell(library, str(error))
        except Exception:
            logger.exception("watching library %s failed; it begins again", library.name)

    def _watched(self, library: Library, stopped: threading.Event) -> None:
        try:
            for changed in self._events.changes(library.root, stopped):
                self._told.pop(library.id, None)
                self._alive(library, True)
                if changed:
                    self._scanned(library, stopped)
        finally:
            self._alive(library, False)

    def _scanned(self, library: Library, stopped: threading.Event) -> None:
        began = time.monotonic()
        try:
            while self._scan(library).busy and not stopped.wait(_BUSY_S):
                pass  # another scan may have passed the changed file already
        except StoreUnavailable as error:  # the scan by time repeats it
            logger.warning("library %s is scanned later: %s", library.name, error)
        stopped.wait((time.monotonic() - began) * _REST)

    def _tell(self, library: Library, reason: str) -> None:
        """Log why a library is not watched, once for each reason."""
        if self._told.get(library.id) != reason:
            self._told[library.id] = reason
            logger.warning("library %s is not watched: %s", library.name, reason)
