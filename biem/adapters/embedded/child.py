"""Keep one server process alive: start it, notice when it answers, start it again when it dies, stop it.

Nothing here waits, except for `initdb`, once in a home's life: the owner calls `tend` of each server in turn, so the
three start side by side. All starts happen on one thread, the owner's main one, because the kernel's "die with
your parent" means the parent *thread*.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from biem.adapters.embedded import launch
from biem.adapters.embedded.home import URL_SETTINGS, Home, Trouble, complain, open_log, tail, try_lock
from biem.adapters.embedded.leftovers import leftovers
from biem.errors import BiemError, ConfigError, StoreFull, StoreUnavailable

FAILURES_TO_REPORT = 3
"""Failed starts in a row before those who wait are told."""
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.1, 5.0
_STEADY_S = 30.0
"""A server that lived this long has recovered: its failures are forgotten."""
_START_LIMIT_S = 60.0
"""Longest recovery; PostgreSQL replays at most 256 MB of WAL."""
_EVICT_AFTER_S = 5.0
"""A leftover that was asked to stop gets this long."""
_EVICT_PAUSE_S = 0.2

Run = Callable[[Sequence[str], str], None]
"""Run a command to its end as the server's user with the given standard input; raises when it fails."""


class Server(Protocol):
    """What must be known of a server to keep it running."""

    home: Home
    data: Path
    socket: Path
    death_signal: signal.Signals
    """Ends it at once without loss. Sent by the kernel when the owner dies."""

    @property
    def name(self) -> str:
        """Its name in logs, locks and states."""

    @property
    def user(self) -> tuple[int, int] | None:
        """Whom it runs as, uid and gid; None for the owner's user."""

    def prepare(self, run: Run) -> None:
        """Make data that is missing and clear what a dead server left. The caller proved that no server lives."""

    def command(self) -> list[str]:
        """The program and its arguments; names `data`, by which a leftover is recognised."""

    def environment(self) -> dict[str, str]:
        """All it gets: nothing is inherited, so no PGPORT or TZ of the user can bend it."""

    def answers(self) -> bool:
        """Whether it does real work now. Never raises."""

    def ask_to_stop(self, terminate: Callable[[signal.Signals], None]) -> None:
        """Begin a clean stop and return at once."""


class Child:
    """One server and what became of it. `ready` is true from the first answer to the next death."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.ready = False
        self.trouble: Trouble = ""
        self.reason = ""
        self._lock_path = server.home.run / f"{server.name}.lock"
        self._log_path = server.home.log(server.name)
        self._log_start = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._changed_at = 0.0
        self._not_before = 0.0
        self._failures = 0
        self._evicting_since: float | None = None

    @property
    def pid(self) -> int | None:
        """The living process, if any."""
        return None if self._process is None else self._process.pid

    def tend(self, now: float) -> None:
        """Do the next thing this server needs; `now` is monotonic seconds. Returns at once."""
        if self._process is None:
            if now >= self._not_before:
                self._start(now)
        elif (status := self._process.poll()) is not None:
            self._process = None
            self._failed(now, status)
        elif self.ready:
            if not self.server.socket.exists():  # somebody tidied it away: nobody can connect any more
                self._process.send_signal(self.server.death_signal)
            elif self._failures and now - self._changed_at > _STEADY_S:
                self._failures = 0
        elif now < self._not_before:
            return
        elif self.server.answers():
            self.ready, self._changed_at = True, now
            self.trouble, self.reason = "", ""
        elif now - self._changed_at > _START_LIMIT_S:
            self._process.kill()
        else:  # a tenth of the wait so far: quick at first, and a long recovery's log stays short
            self._not_before = now + (now - self._changed_at) / 10

    def begin_stop(self, *, at_once: bool) -> None:
        """Ask the server to stop, cleanly or at once."""
        if self._process is None:
            return
        if at_once:
            self._process.send_signal(self.server.death_signal)
        else:
            self.server.ask_to_stop(self._process.send_signal)

    def finish_stop(self, timeout_s: float) -> None:
        """Wait until it is gone; harder means after each `timeout_s`."""
        if self._process is None:
            return
        for harder in (self.server.death_signal, signal.SIGKILL):
            try:
                self._process.wait(timeout_s)
                break
            except subprocess.TimeoutExpired:
                self._process.send_signal(harder)
        self._process.wait()
        self._process, self.ready = None, False
        with suppress(OSError):
            self.server.socket.unlink(missing_ok=True)

    def _start(self, now: float) -> None:
        try:
            lock = try_lock(self._lock_path, exclusive=True)
            if lock is None:
                self._evict(now)
                return
            self._evicting_since = None
            try:
                log = open_log(self._log_path)
                try:
                    self._log_start = os.fstat(log).st_size
                    self.server.prepare(lambda command, text: self._run(command, text, lock, log))
                    self._process = subprocess.Popen(
                        self._launched(self.server.command(), lock),
                        stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=(lock,),
                        cwd=self.server.data,
                    )  # fmt: skip
                finally:
                    os.close(log)
            finally:
                os.close(lock)  # from here on only the server and its children hold it
            self._changed_at = now
        except (OSError, BiemError) as error:
            self._failed(now, error)

    def _launched(self, command: Sequence[str], lock: int) -> list[str]:
        user = self.server.user or (-1, -1)
        numbers = (lock, os.getpid(), int(self.server.death_signal), *user)
        environment = (f"{name}={value}" for name, value in self.server.environment().items())
        return [sys.executable, "-I", "-S", launch.__file__, *map(str, numbers), *environment, *command]

    def _run(self, command: Sequence[str], text: str, lock: int, log: int) -> None:
        done = subprocess.run(
            self._launched(command, lock),
            input=text.encode(), stdout=log, stderr=log, pass_fds=(lock,),
            cwd=self.server.home.root, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            raise (
                ConfigError(self._said()) if done.returncode == launch.CANNOT_LAUNCH else StoreUnavailable(self._said())
            )

    def _evict(self, now: float) -> None:
        """An earlier server, or a process of it, still holds the lock: make it go, if it is provably of this home.

        The server itself is asked first, as it stops its own processes; what is left of a dead one is asked, too. After
        `_EVICT_AFTER_S` they are killed: what was acknowledged is in the WAL. Only when that does not help, those who
        wait are told.
        """
        if self._evicting_since is None:
            self._evicting_since = now
            main = self._main_leftover()
            how = signal.SIGINT if main and self.server.name == "postgres" else signal.SIGTERM
            asked = [main] if main else leftovers(self.server.data, self._lock_path)
        elif now - self._evicting_since < _EVICT_AFTER_S:
            return
        else:
            how = signal.SIGKILL
            main = self._main_leftover()
            asked = [*([main] if main else []), *leftovers(self.server.data, self._lock_path)]
            self._not_before = now + _EVICT_PAUSE_S
            if now - self._evicting_since > 2 * _EVICT_AFTER_S:
                self.trouble = "unavailable"
                self.reason = f"{self.server.name} of an earlier owner still uses {self.server.data} and does not stop"
        for pid in dict.fromkeys(asked):
            with suppress(OSError):
                os.kill(pid, how)

    def _main_leftover(self) -> int | None:
        """The earlier server itself, if it lives: the lock has its pid, and its command line this data."""
        try:
            pid = int(self._lock_path.read_text())
        except (OSError, ValueError):
            return None
        return pid if str(self.server.data) in command_line(pid) else None

    def _failed(self, now: float, why: int | Exception) -> None:
        self._failures += 1
        self._not_before = now + min(_FIRST_PAUSE_S * 2 ** (self._failures - 1), _LONGEST_PAUSE_S)
        self._changed_at = now
        self.ready = False
        reason = self._said() if isinstance(why, int) else str(why)
        trouble: Trouble
        if "No space left on device" in reason or "Disk quota exceeded" in reason or isinstance(why, StoreFull):
            trouble = "full"
        elif why == launch.CANNOT_LAUNCH or isinstance(why, ConfigError):
            trouble = "config"
        else:
            trouble = "unavailable"
        complain(f"{self.server.name} failed ({why}), {self._failures} in a row")
        if trouble == "config" or self._failures >= FAILURES_TO_REPORT:
            self.trouble, self.reason = trouble, f"{self.server.name} does not start: {reason}"

    def _said(self) -> str:
        text = tail(self._log_path, self._log_start) or "it said nothing"
        if self.server.user is not None and "cannot launch" in text:
            text += (
                f" (root hands PostgreSQL to uid {self.server.user[0]}: that needs CAP_SETUID, CAP_SETGID, CAP_CHOWN "
                f"and CAP_DAC_OVERRIDE; else run biem as an ordinary user, or set {URL_SETTINGS})"
            )
        return f"{text} (log: {self._log_path})"


def command_line(pid: int) -> str:
    """The words of a living process, joined by blanks; empty when there is none."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="surrogateescape")
    except OSError:
        if Path("/proc/self/cmdline").exists():
            return ""
    found = subprocess.run(["/bin/ps", "-ww", "-o", "command=", "-p", str(pid)], capture_output=True, check=False)
    return found.stdout.decode(errors="surrogateescape")
