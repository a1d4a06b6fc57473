"""Keeps one server process alive: starts it, checks whether it answers, restarts it after a crash, stops it.

Nothing here blocks, except for `initdb`, once per home: the owner calls `tend` of each server in turn, so the three
start concurrently. All starts run on the owner's main thread, because the kernel's parent-death signal
refers to the parent *thread*.
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
"""Consecutive failed starts before waiting clients get an error."""
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.1, 5.0
_STEADY_S = 30.0
"""Uptime after which the failure count is reset."""
_START_LIMIT_S = 60.0
"""Maximum time of a recovery; PostgreSQL replays at most 256 MB of WAL."""
_EVICT_AFTER_S = 5.0
"""Time that a leftover process gets to stop."""
_EVICT_PAUSE_S = 0.2

Run = Callable[[Sequence[str], str], None]
"""Runs a command to its end as the server's user with the given standard input; raises when it fails."""


class Server(Protocol):
    """Description of a server that can be supervised."""

    home: Home
    data: Path
    socket: Path
    death_signal: signal.Signals
    """Stops it immediately without data loss. Sent by the kernel when the owner dies."""

    @property
    def name(self) -> str:
        """Its name in logs, locks and states."""

    @property
    def user(self) -> tuple[int, int] | None:
        """uid and gid of its process; None for the owner's user."""

    def prepare(self, run: Run) -> None:
        """Create missing data and remove files of a dead server. The caller ensures that no server runs."""

    def command(self) -> list[str]:
        """The program and its arguments; they contain `data`, by which a leftover is recognised."""

    def environment(self) -> dict[str, str]:
        """Its whole environment: nothing is inherited, so the user's PGPORT or TZ has no effect."""

    def answers(self) -> bool:
        """Whether it serves requests now. Never raises."""

    def ask_to_stop(self, terminate: Callable[[signal.Signals], None]) -> None:
        """Start a clean stop and return immediately."""


class SupervisedServer:
    """One server and its state. `ready` is true from its first answer until its process ends."""

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
        """The running process, if any."""
        return None if self._process is None else self._process.pid

    def tend(self, now: float) -> None:
        """Do the next step for this server; `now` is monotonic seconds. Does not block."""
        if self._process is None:
            if now >= self._not_before:
                self._start(now)
        elif (status := self._process.poll()) is not None:
            self._process = None
            self._failed(now, status)
        elif self.ready:
            if not self.server.socket.exists():  # the socket was deleted: clients cannot connect
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
        else:  # poll after a tenth of the time waited: fast at first, few log lines in a long recovery
            self._not_before = now + (now - self._changed_at) / 10

    def begin_stop(self, *, at_once: bool) -> None:
        """Ask the server to stop, cleanly or immediately."""
        if self._process is None:
            return
        if at_once:
            self._process.send_signal(self.server.death_signal)
        else:
            self.server.ask_to_stop(self._process.send_signal)

    def finish_stop(self, timeout_s: float) -> None:
        """Wait until it has stopped; escalate after each `timeout_s`."""
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
                os.close(lock)  # now only the server and its children hold it
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
                ConfigError(self._log_tail())
                if done.returncode == launch.CANNOT_LAUNCH
                else StoreUnavailable(self._log_tail())
            )

    def _evict(self, now: float) -> None:
        """Stop an earlier server, or a process of it, that still holds the lock, if it provably belongs to this home.

        The server gets the signal first, since it stops its own processes; remaining processes of a dead one get it,
        too. After `_EVICT_AFTER_S` they are killed: acknowledged data is in the WAL. Only if that fails, waiting
        clients get an error.
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
        """The earlier main process, if it runs: the lock file has its pid, and its command line this data folder."""
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
        reason = self._log_tail() if isinstance(why, int) else str(why)
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

    def _log_tail(self) -> str:
        text = tail(self._log_path, self._log_start) or "its log is empty"
        if self.server.user is not None and "cannot launch" in text:
            text += (
                f" (root hands PostgreSQL to uid {self.server.user[0]}: that needs CAP_SETUID, CAP_SETGID, CAP_CHOWN "
                f"and CAP_DAC_OVERRIDE; else run biem as an ordinary user, or set {URL_SETTINGS})"
            )
        return f"{text} (log: {self._log_path})"


def command_line(pid: int) -> str:
    """The arguments of a running process, joined by blanks; empty if there is none."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="surrogateescape")
    except OSError:
        if Path("/proc/self/cmdline").exists():
            return ""
    found = subprocess.run(["/bin/ps", "-ww", "-o", "command=", "-p", str(pid)], capture_output=True, check=False)
    return found.stdout.decode(errors="surrogateescape")
