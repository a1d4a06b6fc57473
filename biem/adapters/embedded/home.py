"""The folder of one stack: its paths, its locks and the owner's last state.

    HOME/postgres  HOME/valkey  HOME/milvus     the data
    HOME/log/*.log                              one log per server, and the owner's
    HOME/run/clients.lock                       shared: held by every process that uses the stack
    HOME/run/owner.lock                         exclusive: held by the owner, the process that runs the servers
    HOME/run/start.lock                         exclusive: held while a client starts an owner
    HOME/run/{postgres,valkey,milvus}.lock      exclusive: held by the server itself and its children; holds its pid
    HOME/run/state.json                         the owner's last state; valid only while owner.lock is held
    HOME/run/keep, HOME/run/stopped             set by the user: run without clients; stay stopped despite clients

All locks are flock(2): the kernel releases them when the last holding process ends, for any reason.
"""

import errno
import hashlib
import json
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

from biem.errors import ConfigError, StoreFull

if sys.platform != "win32":  # biem must be importable there: it works with other servers
    import fcntl

URL_SETTINGS = "BIEM_POSTGRES_DSN, BIEM_REDIS_URL and BIEM_MILVUS_URI"
SERVERS = ("postgres", "valkey", "milvus")
_MAX_SOCKET_FOLDER = 85
"""Bytes. A socket's path must fit in 104 (macOS) or 108 (Linux) with `/.s.PGSQL.5432` at its end."""
_MAX_LOG_BYTES = 10_000_000
_FULL = (errno.ENOSPC, errno.EDQUOT)
_LEAST_FREE_BYTES = 1 << 16

Phase = Literal["starting", "ready", "stopping"]
Trouble = Literal["", "unavailable", "full", "config"]


@dataclass(frozen=True, slots=True)
class Urls:
    """Addresses of the three servers: Unix sockets, the same across restarts."""

    postgres_dsn: str
    redis_url: str
    milvus_uri: str


@dataclass(frozen=True, slots=True)
class State:
    """The last state that the owner wrote."""

    pid: int
    phase: Phase
    servers: Mapping[str, tuple[int | None, bool]] = field(default_factory=dict)
    """For each server its pid, or None while it is down, and whether it answers."""
    trouble: Trouble = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Home:
    """The paths of one stack; `root` is absolute and resolved, so that all processes agree on it."""

    root: Path

    @classmethod
    def at(cls, path: Path) -> "Home":
        """The home at `path`; creates nothing."""
        if sys.platform == "win32":
            raise ConfigError(f"the embedded servers do not run on Windows; set {URL_SETTINGS}")
        try:
            return cls(path.expanduser().resolve())
        except (OSError, RuntimeError, ValueError) as error:  # a symlink loop, an unknown user, a NUL
            raise ConfigError(f"BIEM_HOME={str(path)!r} is not a folder's name: {error}") from error

    @property
    def run(self) -> Path:
        return self.root / "run"

    @property
    def clients_lock(self) -> Path:
        return self.run / "clients.lock"

    @property
    def owner_lock(self) -> Path:
        return self.run / "owner.lock"

    @property
    def start_lock(self) -> Path:
        return self.run / "start.lock"

    @property
    def keep(self) -> Path:
        return self.run / "keep"

    @property
    def stopped(self) -> Path:
        return self.run / "stopped"

    @property
    def sockets(self) -> Path:
        """Folder of the sockets: `run`, or a short private folder if its path is too long or not usable in a URL."""
        own = str(self.run)
        if len(own) <= _MAX_SOCKET_FOLDER and re.fullmatch(r"[A-Za-z0-9/._-]+", own):
            return self.run
        name = f"biem-{hashlib.sha256(os.fsencode(own)).hexdigest()[:16]}"
        # Not TMPDIR: all processes must agree, in any environment.
        return Path("/tmp" if Path("/tmp").is_dir() else tempfile.gettempdir()) / name

    @property
    def urls(self) -> Urls:
        folder = self.sockets
        return Urls(
            # The port determines the socket's file name; without it PGPORT would.
            postgres_dsn=f"postgresql://postgres@/biem?host={folder}&port=5432",
            redis_url=f"unix://{folder}/valkey.sock",
            milvus_uri=f"unix:{folder}/milvus.sock",
        )

    def log(self, name: str) -> Path:
        return self.root / "log" / f"{name}.log"

    def create(self) -> None:
        """Create missing folders, readable only by this user."""
        with self.explained():
            for folder in (self.root, self.run, self.root / "log"):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.sockets.mkdir(mode=0o700, exist_ok=True)
            found = self.sockets.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_mode & 0o077:
            raise ConfigError(
                f"{self.sockets} must be a folder that is closed to other users: chmod 700 {self.sockets}"
            )
        if found.st_uid not in (os.geteuid(), self.root.stat().st_uid):
            raise ConfigError(f"{self.sockets} belongs to another user; set BIEM_HOME to a shorter path")

    def remove_sockets(self) -> None:
        """Delete a socket folder outside the home."""
        if self.sockets != self.run:
            shutil.rmtree(self.sockets, ignore_errors=True)

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Convert file system errors into errors that say what to do."""
        try:
            yield
        except OSError as error:
            if error.errno in _FULL:
                raise self.full() from error
            raise ConfigError(
                f"BIEM_HOME={self.root} cannot be used: {error.strerror}: {error.filename}; "
                f"set BIEM_HOME to a folder that user {os.geteuid()} may write, or set {URL_SETTINGS}"
            ) from error

    def is_full(self) -> bool:
        """Whether its disk is too full even for a lock file."""
        try:
            disk = os.statvfs(self.root)
        except OSError:
            return False
        return disk.f_bavail * disk.f_frsize < _LEAST_FREE_BYTES

    def full(self) -> StoreFull:
        """The error for a full disk."""
        return StoreFull(f"the disk of {self.root} is full: free space, or set BIEM_HOME to another disk")

    def read_state(self) -> State | None:
        """The owner's last state. Check `is_locked(owner_lock)` first: it is valid only while the owner runs."""
        try:
            said = json.loads((self.run / "state.json").read_bytes())
            servers = {name: (pid, ready) for name, (pid, ready) in said.pop("servers").items()}
            return State(**said, servers=servers)
        except (OSError, ValueError, TypeError, KeyError):  # no file, or one of another version
            return None

    def write_state(self, state: State) -> None:
        replace_file(self.run / "state.json", json.dumps(asdict(state)))

    def forget_state(self) -> None:
        (self.run / "state.json").unlink(missing_ok=True)


def replace_file(path: Path, text: str) -> None:
    """Replace a file atomically: readers see the old text or the new one."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        temporary.write_text(text)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def try_lock(path: Path, *, exclusive: bool) -> int | None:
    """Take the lock and return the descriptor that holds it until closed; None if it is held elsewhere."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def is_locked(path: Path) -> bool:
    """Whether the lock is held exclusively. Creates nothing; concurrent checks do not affect each other."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def complain(text: str) -> None:
    """Write a line to the owner's log; errors are ignored, because a full disk must not stop the servers."""
    with suppress(OSError):
        sys.stderr.write(f"biem: {text}\n")


def open_log(path: Path) -> int:
    """Open the log for appending; one that is too large is first renamed to `.1`."""
    with suppress(FileNotFoundError):
        if path.stat().st_size > _MAX_LOG_BYTES:
            path.replace(path.with_suffix(".log.1"))
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)


def tail(path: Path, start: int = 0, limit: int = 700) -> str:
    """The end of a log, not before byte `start`."""
    try:
        with path.open("rb") as log:
            log.seek(max(start, path.stat().st_size - limit))
            return log.read(limit).decode(errors="replace").strip()
    except OSError:
        return ""
