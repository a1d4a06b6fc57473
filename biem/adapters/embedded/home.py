"""The folder of one stack: where everything lies, who holds which lock, what the owner last said.

    HOME/postgres  HOME/valkey  HOME/milvus     the data
    HOME/log/*.log                              one log a server, and the owner's
    HOME/run/clients.lock                       shared by every process that uses the stack
    HOME/run/owner.lock                         exclusive: the process that runs the servers lives
    HOME/run/start.lock                         exclusive: somebody is starting an owner
    HOME/run/{postgres,valkey,milvus}.lock      exclusive: held by the server itself and its children; holds its pid
    HOME/run/state.json                         what the owner last said; valid only while owner.lock is held
    HOME/run/keep, HOME/run/stopped             the user's wish: stay up without clients; stay down despite clients

All locks are flock(2): the kernel drops them when the last process that holds them dies, however it dies.
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

if sys.platform != "win32":  # importing biem must work there, too: with URLs of other servers it can be used
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
    """Where the three servers answer: Unix sockets, the same across restarts."""

    postgres_dsn: str
    redis_url: str
    milvus_uri: str


@dataclass(frozen=True, slots=True)
class State:
    """What the owner last said about itself."""

    pid: int
    phase: Phase
    servers: Mapping[str, tuple[int | None, bool]] = field(default_factory=dict)
    """Per server its pid, or None while it is down, and whether it answers."""
    trouble: Trouble = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Home:
    """The paths of one stack; `root` is absolute and has no links, so that all processes agree on it."""

    root: Path

    @classmethod
    def at(cls, path: Path) -> "Home":
        """The home that `path` means; nothing is created."""
        if sys.platform == "win32":
            raise ConfigError(f"the embedded servers do not run on Windows; set {URL_SETTINGS}")
        try:
            return cls(path.expanduser().resolve())
        except (OSError, RuntimeError, ValueError) as error:  # a loop of links, no such user, a NUL
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
        """Where the sockets lie: `run`, or a short private folder if its path is too long or unfit for a URL."""
        own = str(self.run)
        if len(own) <= _MAX_SOCKET_FOLDER and re.fullmatch(r"[A-Za-z0-9/._-]+", own):
            return self.run
        name = f"biem-{hashlib.sha256(os.fsencode(own)).hexdigest()[:16]}"
        # Not TMPDIR: all processes must agree, whatever their environment.
        return Path("/tmp" if Path("/tmp").is_dir() else tempfile.gettempdir()) / name

    @property
    def urls(self) -> Urls:
        folder = self.sockets
        return Urls(
            # The port names the socket's file; without it PGPORT of the environment would.
            postgres_dsn=f"postgresql://postgres@/biem?host={folder}&port=5432",
            redis_url=f"unix://{folder}/valkey.sock",
            milvus_uri=f"unix:{folder}/milvus.sock",
        )

    def log(self, name: str) -> Path:
        return self.root / "log" / f"{name}.log"

    def create(self) -> None:
        """Make the folders that are missing, readable only by this user."""
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
        """Tidy up a folder of sockets outside the home."""
        if self.sockets != self.run:
            shutil.rmtree(self.sockets, ignore_errors=True)

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn what the file system refuses into an error that says what to do."""
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
        """Whether its disk has no room even for a lock file."""
        try:
            disk = os.statvfs(self.root)
        except OSError:
            return False
        return disk.f_bavail * disk.f_frsize < _LEAST_FREE_BYTES

    def full(self) -> StoreFull:
        """The error that says so."""
        return StoreFull(f"the disk of {self.root} is full: free space, or set BIEM_HOME to another disk")

    def read_state(self) -> State | None:
        """What the owner last said. Ask `is_locked(owner_lock)` first: only a living owner's word counts."""
        try:
            said = json.loads((self.run / "state.json").read_bytes())
            servers = {name: (pid, ready) for name, (pid, ready) in said.pop("servers").items()}
            return State(**said, servers=servers)
        except (OSError, ValueError, TypeError, KeyError):  # none, or of another version
            return None

    def write_state(self, state: State) -> None:
        replace_file(self.run / "state.json", json.dumps(asdict(state)))

    def forget_state(self) -> None:
        (self.run / "state.json").unlink(missing_ok=True)


def replace_file(path: Path, text: str) -> None:
    """Readers see the old text or the new one, never a part."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        temporary.write_text(text)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def try_lock(path: Path, *, exclusive: bool) -> int | None:
    """Take the lock and return the descriptor that holds it until closed; None when another one is in the way."""
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
    """Whether somebody holds the lock exclusively. Creates nothing, and two who ask do not see each other."""
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
    """A line in the owner's log; on a full disk nobody hears it, and the servers must outlive that."""
    with suppress(OSError):
        sys.stderr.write(f"biem: {text}\n")


def open_log(path: Path) -> int:
    """A descriptor to append to the log; one that has grown too long becomes `.1` first."""
    with suppress(FileNotFoundError):
        if path.stat().st_size > _MAX_LOG_BYTES:
            path.replace(path.with_suffix(".log.1"))
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)


def tail(path: Path, start: int = 0, limit: int = 700) -> str:
    """The end of a log, at most from byte `start` on."""
    try:
        with path.open("rb") as log:
            log.seek(max(start, path.stat().st_size - limit))
            return log.read(limit).decode(errors="replace").strip()
    except OSError:
        return ""
