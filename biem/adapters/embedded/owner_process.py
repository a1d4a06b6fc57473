"""The owner of a stack: a separate process that runs the three servers as long as clients use them.

Started by a client as `python boot.py HOME LINGER_S START_LOCK_FD`, where LINGER_S may be empty. It detaches from the
client.
It ends when no process holds `clients.lock`, and holds that lock while it stops the servers: a client that arrives
meanwhile waits until it has ended and starts another owner, so no client joins a stack that is stopping.
"""

import fcntl
import os
import signal
import threading
import time
from pathlib import Path

from biem.adapters.embedded.home import Home, State, complain, is_locked, try_lock
from biem.adapters.embedded.servers import Milvus, Postgres, Valkey
from biem.adapters.embedded.supervised_server import SupervisedServer
from biem.errors import BiemError

_LINGER_S = 1.0
"""Time that the servers outlive their last client, so that consecutive scripts need not restart them."""
_PERIOD_S, _BUSY_PERIOD_S, _BUSY_S = 0.2, 0.01, 5.0
"""Polling interval: 0.01 s for the first 5 s of a start, then 0.2 s."""
_STOP_S = 15.0
"""Time for a server to stop cleanly before it is stopped immediately."""


class Owner:
    """Runs the servers of one home. Holds `owner.lock` from `claim` to the end of its process."""

    def __init__(self, home: Home, linger_s: float, lock: int) -> None:
        self._home = home
        self._linger_s = linger_s
        self._lock = lock
        self._told_to_stop = threading.Event()
        # The slowest last: the others start during initdb.
        self._servers = [SupervisedServer(server) for server in (Milvus(home), Valkey(home), Postgres(home))]
        self._said: State | None = None

    def run(self) -> None:
        """Run until no client is left, a stop is requested, or the home is removed."""
        signal.signal(signal.SIGTERM, lambda *_: self._told_to_stop.set())
        idle_since: float | None = None
        busy_since = time.monotonic()
        clients: int | None = None
        self._home.create()  # the previous owner may have cleaned up after the client's check
        self._say("starting")
        while not self._told_to_stop.is_set() and not self._home.stopped.exists() and self._at_home():
            now = time.monotonic()
            clients = None if self._home.keep.exists() else try_lock(self._home.clients_lock, exclusive=True)
            if clients is None:
                idle_since = None
            else:
                idle_since = now if idle_since is None else idle_since
                if now - idle_since >= self._linger_s:
                    break
                os.close(clients)
                clients = None
            for server in self._servers:
                server.tend(time.monotonic())
            ready = all(server.ready for server in self._servers)
            self._say("ready" if ready else "starting")
            if ready:
                busy_since = now
            self._told_to_stop.wait(_BUSY_PERIOD_S if not ready and now - busy_since < _BUSY_S else _PERIOD_S)
        self._stop()

    def _at_home(self) -> bool:
        """Whether the home's lock files are still the ones held here; false if the folder was removed."""
        try:
            return os.path.samestat(self._home.owner_lock.stat(), os.fstat(self._lock))
        except OSError:
            return False

    def _say(self, phase: str) -> None:
        worst = next((server for server in self._servers if server.trouble), None)
        state = State(
            pid=os.getpid(),
            phase="ready" if phase == "ready" else "stopping" if phase == "stopping" else "starting",
            servers={each.server.name: (each.pid, each.ready) for each in self._servers},
            trouble=worst.trouble if worst else "",
            reason=worst.reason if worst else "",
        )
        if state != self._said:
            try:
                self._home.write_state(state)
                self._said = state
            except OSError as error:  # a full disk must not stop the servers; retried next time
                complain(f"cannot write the state: {error}")

    def _stop(self) -> None:
        at_home = self._at_home()
        if at_home:
            self._say("stopping")
        for server in self._servers:
            server.begin_stop(at_once=not at_home)
        for server in self._servers:
            server.finish_stop(_STOP_S)
        if at_home:
            self._home.forget_state()
            self._home.remove_sockets()


def claim(home: Home) -> int | None:
    """Become the owner: returns the descriptor of the lock, or None if another owner runs.

    The caller holds `start.lock`, so there is no concurrent claim. The previous owner's state is deleted before the
    lock is taken: readers that see it held get this owner's state or none.
    """
    if is_locked(home.owner_lock):
        return None
    home.forget_state()
    descriptor = os.open(home.owner_lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)  # only a status check can hold it, briefly
    return descriptor


def main(arguments: list[str]) -> None:
    """Detach from the client, become the owner, serve."""
    home, linger_s, start_lock = Home(Path(arguments[0])), float(arguments[1] or _LINGER_S), int(arguments[2])
    if os.fork() > 0:
        os._exit(0)  # the client reaps this process; init adopts the owner
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)  # not SIG_IGN: the servers would inherit it and ignore our SIGINT
    lock = claim(home)
    os.close(start_lock)
    if lock is None:
        return
    try:
        Owner(home, linger_s, lock).run()
    except BiemError as error:
        complain(str(error))
