"""Use the embedded stack: join, leave, status, stop.

    with EmbeddedStack(Path("~/.biem")) as urls:
        psycopg.connect(urls.postgres_dsn)

Processes that join the same home share its servers; the servers stop after the last one leaves. While joined, a thread
watches the owner of the servers and starts a new one after a crash: the URLs stay, so connection pools just reconnect.
"""

import logging
import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from biem.adapters.embedded import boot
from biem.adapters.embedded.home import SERVERS, Home, State, Urls, is_locked, open_log, tail, try_lock
from biem.errors import BiemError, ConfigError, StoreFull, StoreUnavailable

logger = logging.getLogger("biem")

_POLL_S = 0.02
"""Polling interval for locks and files of other processes: waiting for these has no timeout."""
_WATCH_S, _LONGEST_WATCH_S = 0.2, 5.0
_STARTS = 3
"""Owners that may die during start before a client gives up."""
_BIRTH_S = 20.0
"""Time for a new owner to detach: one Python start, on a busy machine."""


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """One server: its process, if it runs, and whether it answered."""

    name: str
    pid: int | None
    ready: bool


@dataclass(frozen=True, slots=True)
class Status:
    """State of a home. `owner_pid` is None while an owner starts; `reason` says why a server is down."""

    running: bool
    ready: bool
    kept: bool
    owner_pid: int | None
    servers: tuple[ServerStatus, ...]
    urls: Urls
    reason: str


class EmbeddedStack:
    """One client of the stack in `home`. A forked child also counts as a client while it runs.

    `linger_s`: seconds that servers started by this client outlive their last client; None: the owner's default.
    """

    def __init__(self, home: Path, *, linger_s: float | None = None) -> None:
        self._path = home
        self._linger_s = linger_s
        self._client: int | None = None
        self._urls: Urls | None = None
        self._left = threading.Event()
        self._watcher: threading.Thread | None = None

    def join(self, timeout_s: float = 30.0) -> Urls:
        """Start the servers or share them; returns when all three answer.

        Raises `ConfigError` when the home or the system is not usable, `StoreFull` when its disk is full and
        `StoreUnavailable` when a server does not start; the message has the end of its log. Cancels an earlier
        `stop`. Joining twice gives the same URLs.
        """
        if self._urls is not None:
            return self._urls
        home = Home.at(self._path)
        home.create()
        deadline = time.monotonic() + timeout_s
        try:
            with home.explained():
                self._client = _become_client(home, deadline)
                _await_ready(home, self._linger_s, deadline)
        except BaseException:
            self.leave()
            raise
        self._left = threading.Event()
        self._watcher = threading.Thread(target=self._watch, args=(home, self._left), name="biem-stack", daemon=True)
        self._watcher.start()
        self._urls = home.urls
        return self._urls

    def leave(self) -> None:
        """Stop using the servers; they stop soon unless others use them. A second call does nothing."""
        self._left.set()
        if self._watcher is not None and self._watcher is not threading.current_thread():
            self._watcher.join(timeout=_BIRTH_S)
        if self._client is not None:
            os.close(self._client)  # not LOCK_UN, which would also release a forked child's lock
        self._client = self._urls = self._watcher = None

    def __enter__(self) -> Urls:
        return self.join()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.leave()

    def _watch(self, home: Home, left: threading.Event) -> None:
        """Restart a crashed owner, unless the servers were stopped on purpose."""
        pause_s = _WATCH_S
        while not left.wait(pause_s):
            try:
                if is_locked(home.owner_lock):
                    pause_s = _WATCH_S
                elif home.run.is_dir() and not home.stopped.exists() and _start_owner(home, self._linger_s):
                    pause_s = min(pause_s * 2, _LONGEST_WATCH_S)
            except (OSError, BiemError):
                logger.warning("cannot restart the embedded servers of %s", home.root, exc_info=True)
                pause_s = min(pause_s * 2, _LONGEST_WATCH_S)


def status(home: Path) -> Status:
    """State of this home. Starts and creates nothing."""
    place = Home.at(home)
    with place.explained():
        running = is_locked(place.owner_lock)
        state = place.read_state() if running else None
        kept = place.keep.exists()
    said = state.servers if state else {}
    servers = tuple(ServerStatus(name, *said.get(name, (None, False))) for name in SERVERS)
    return Status(
        running=running,
        ready=state is not None and state.phase == "ready",
        kept=kept,
        owner_pid=state.pid if state else None,
        servers=servers,
        urls=place.urls,
        reason=state.reason if state else "",
    )


def keep(home: Path, timeout_s: float = 30.0) -> Urls:
    """Start the servers and keep them running without clients, until `stop`."""
    stack = EmbeddedStack(home)
    try:
        urls = stack.join(timeout_s)
        place = Home.at(home)
        with place.explained():
            place.keep.touch(mode=0o600)
        return urls
    finally:
        stack.leave()


def stop(home: Path, timeout_s: float = 20.0) -> bool:
    """Stop the servers even if clients use them; current clients do not restart them, but a new `join` does.

    Returns false if the owner did not end in time.
    """
    place = Home.at(home)
    deadline = time.monotonic() + timeout_s
    with place.explained():
        if not place.run.is_dir():
            return True
        place.keep.unlink(missing_ok=True)
        place.stopped.touch(mode=0o600)
        while is_locked(place.owner_lock) or is_locked(place.start_lock):
            if time.monotonic() > deadline:
                return False
            time.sleep(_POLL_S)
    return True


def _become_client(home: Home, deadline: float) -> int:
    while (descriptor := try_lock(home.clients_lock, exclusive=False)) is None:  # an owner is shutting down
        if time.monotonic() > deadline:
            raise StoreUnavailable(f"the embedded servers of {home.root} do not stop; see {home.log('owner')}")
        time.sleep(_POLL_S)
    return descriptor


def _await_ready(home: Home, linger_s: float | None, deadline: float) -> None:
    starts = 0
    while True:
        alive = is_locked(home.owner_lock)
        state = home.read_state() if alive else None
        stopping = home.stopped.exists()
        if alive and not stopping and state is not None:
            if state.phase == "ready":
                return
            if state.trouble:
                raise _error(home, state)
        elif home.is_full():  # on a full disk the owner cannot write its error
            raise home.full()
        elif not alive and not is_locked(home.start_lock):
            home.stopped.unlink(missing_ok=True)
            if starts == _STARTS:
                raise StoreUnavailable(f"the embedded servers cannot be started: {_last_words(home)}")
            starts += _start_owner(home, linger_s)
        if time.monotonic() > deadline:
            late = StoreUnavailable(f"the embedded servers are not ready in time: {_last_words(home)}")
            raise home.full() if home.is_full() else late
        time.sleep(_POLL_S)


def _error(home: Home, state: State) -> BiemError:
    if state.trouble == "config":
        return ConfigError(state.reason)
    if state.trouble == "full":
        return StoreFull(f"the disk of {home.root} is full: free space; {state.reason}")
    return StoreUnavailable(state.reason)


def _last_words(home: Home) -> str:
    return f"{tail(home.log('owner'))} (log: {home.log('owner')})"


def _start_owner(home: Home, linger_s: float | None) -> bool:
    """Start an owner, unless one runs or is being started; returns whether it did. Waits until it has detached."""
    start_lock = try_lock(home.start_lock, exclusive=True)
    if start_lock is None:
        return False
    try:
        if is_locked(home.owner_lock):
            return False
        # The whole environment, because Python may need it (a virtual environment, a library path), except libpq's
        # variables; the servers get a clean one. The owner must find the same packages as this process.
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PG")}  # noqa: TID251
        environment["PYTHONPATH"] = os.pathsep.join(str(Path(entry).resolve()) for entry in sys.path)
        log = open_log(home.log("owner"))
        linger = "" if linger_s is None else str(linger_s)
        try:
            process = subprocess.Popen(
                [sys.executable, "-P", boot.__file__, str(home.root), linger, str(start_lock)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=(start_lock,),
                cwd=home.root, env=environment, start_new_session=True,
            )  # fmt: skip
        finally:
            os.close(log)
        with process:
            try:
                process.wait(_BIRTH_S)
            except subprocess.TimeoutExpired:
                process.kill()
        return True
    finally:
        os.close(start_lock)
