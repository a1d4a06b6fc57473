"""Who plays in `benchmarks.chaos`, and the faults they get: only processes that this one started.

A dead client, worker or beat is started again, as an init system would. A dead server is brought back by the owner of
the embedded servers, and a dead owner by their users.
"""

import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from biem.adapters.embedded import status
from biem.domain.scope import Scope

_ROOT = Path(__file__).parents[1]
SCOPES = (
    Scope("chaos", "ann"),
    Scope("chaos", "ann"),  # two processes write into one scope
    Scope("chaos", "bob"),
    Scope("chaos", "bob", "garden"),
)
SERVERS = ("postgres", "valkey", "milvus")
VICTIMS = ("client", "worker", "worker process", "beat", *SERVERS, "owner")
"""`worker` is all of its processes, `worker process` one child; the owner is the process that runs the servers."""
MIXES = ("each", "together", "long")
"""Every victim for itself; several at the same instant, the first time all of them; or frozen until calls give up."""
LONGEST_FREEZE_S = 4.0
"""Longer than the lease of a job, so that a worker sleeps through it."""
_GIVEN_UP_S = (11.0, 15.0)
"""Longer than a call of ours waits for a server that hangs."""
_MOMENTS = 5
"""How often several are struck together."""
LEASE_S = 2.0


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens to whom and when, in seconds from the start; `freeze_s` of 0 kills."""

    at_s: float
    victim: str
    freeze_s: float


def schedule(seed: int, seconds: float, mix: str = "each") -> list[Fault]:
    """Every victim is killed once and frozen once, in an order and at moments that the seed decides.

    With the mix *long* each freeze outlasts the calls that wait for it; with *together* some are killed and some frozen
    at the same instants, and at the first of them everything is killed: a power cut.
    """
    chance = random.Random(seed)
    if mix == "together":
        return _together(chance, seconds)
    shortest_s, longest_s = _GIVEN_UP_S if mix == "long" else (0.5, LONGEST_FREEZE_S)
    plans = [(victim, frozen) for victim in VICTIMS for frozen in (False, True)]
    chance.shuffle(plans)
    slot = seconds / len(plans)
    return [
        Fault((number + chance.random()) * slot, victim, chance.uniform(shortest_s, longest_s) if frozen else 0.0)
        for number, (victim, frozen) in enumerate(plans)
    ]


def _together(chance: random.Random, seconds: float) -> list[Fault]:
    faults = [Fault(0.0, victim, 0.0) for victim in VICTIMS]
    for moment in range(1, _MOMENTS):
        struck = chance.sample(VICTIMS, chance.randint(3, len(VICTIMS)))
        at_s = moment * seconds / _MOMENTS
        faults += [
            Fault(at_s, victim, chance.choice((0.0, chance.uniform(0.5, LONGEST_FREEZE_S)))) for victim in struck
        ]
    return faults


class Cast:
    """All processes of one seed. `tend` keeps them up; `close` ends them."""

    def __init__(self, home: Path, folder: Path, seed: int, environment: dict[str, str]) -> None:
        self._home = home
        self._folder = folder
        self._seed = seed
        self._chance = random.Random(f"victims {seed}")
        self._environment = environment
        self._lives = dict.fromkeys(range(len(SCOPES)), 0)
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._frozen: list[tuple[float, int, float]] = []
        self._retired: set[str] = set()
        self.kills = 0
        self.freezes = 0

    def notes(self, number: int) -> Path:
        """What a client noted, over all of its lives."""
        return self._folder / f"notes-{number}"

    def tend(self) -> None:
        """Start dead processes, except those that have retired."""
        for number in range(len(SCOPES)):
            self._keep_up(f"client {number}", lambda number=number: self._client(number))  # type: ignore[misc]
        pool = ["--pool", "prefork", "--concurrency", "2"]
        self._keep_up("worker", lambda: _celery("worker", "-Q", "encode,maintain", *pool))
        self._keep_up("beat", lambda: _celery("beat", "--pidfile", ""))

    def _keep_up(self, name: str, words: Callable[[], list[str]]) -> None:
        running = self._processes.get(name)
        if name in self._retired or (running is not None and running.poll() is None):
            return
        with (self._folder / f"{name.replace(' ', '-')}.log").open("ab") as log:
            self._processes[name] = subprocess.Popen(
                [sys.executable, *words()],
                cwd=_ROOT, env=self._environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip

    def _client(self, number: int) -> list[str]:
        life, scope = self._lives[number], SCOPES[number]
        self._lives[number] = life + 1
        shared = [self.notes(other) for other, theirs in enumerate(SCOPES) if theirs == scope]
        who = (self._home, scope.tenant, scope.user, scope.project)
        words = (*who, self.notes(number), self._seed, number, life, *shared)
        return ["-m", "benchmarks._chaos_client", *map(str, words)]

    def strike(self, fault: Fault, now: float) -> None:
        """Do it, if the victim lives just now; a whole group counts as one."""
        pids = self._pids(fault.victim)
        if not pids:
            return
        if not fault.freeze_s:
            _signal(pids, signal.SIGKILL)
            self.kills += 1
            return
        self.freezes += 1
        for pid, born in _signal(pids, signal.SIGSTOP):
            self._frozen.append((now + fault.freeze_s, pid, born))

    def thaw(self, now: float) -> None:
        """Let go on who was frozen long enough."""
        for entry in [entry for entry in self._frozen if entry[0] <= now]:
            self._frozen.remove(entry)
            with suppress(psutil.Error):  # killed while it was frozen
                process = psutil.Process(entry[1])
                if process.create_time() == entry[2]:
                    process.send_signal(signal.SIGCONT)

    def retire_clients(self, timeout_s: float) -> None:
        """Have the clients finish what they do and leave."""
        clients = {name for name in self._processes if name.startswith("client")}
        self._retired |= clients
        for name in clients:
            self._processes[name].terminate()
        for name in clients:
            try:
                self._processes[name].wait(timeout_s)
            except subprocess.TimeoutExpired:
                self._processes[name].kill()

    def close(self) -> None:
        """End everything that is left."""
        self.thaw(float("inf"))
        for process in self._processes.values():
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _pids(self, victim: str) -> list[int]:
        if victim in SERVERS or victim == "owner":
            return self._servers(victim)
        names = [name for name in self._processes if name.startswith(victim.removesuffix(" process"))]
        process = self._processes[self._chance.choice(sorted(names))] if names else None
        if process is None or process.poll() is not None:
            return []
        children = _children(process.pid)
        if victim == "worker process":
            return [self._chance.choice(children)] if children else []
        return [process.pid, *children] if victim == "worker" else [process.pid]

    def _servers(self, victim: str) -> list[int]:
        """The pid that the owner says, if that process is of this home."""
        now = status(self._home)
        pid = now.owner_pid if victim == "owner" else next(one.pid for one in now.servers if one.name == victim)
        with suppress(psutil.Error):
            if pid is not None and any(str(self._home) in word for word in psutil.Process(pid).cmdline()):
                return [pid]
        return []


def _celery(*arguments: str) -> list[str]:
    return ["-m", "celery", "-A", "biem.workers.app", *arguments, "--loglevel", "WARNING"]


def _children(pid: int) -> list[int]:
    with suppress(psutil.NoSuchProcess):
        return sorted(child.pid for child in psutil.Process(pid).children(recursive=True))
    return []


def _signal(pids: Iterable[int], number: signal.Signals) -> list[tuple[int, float]]:
    """Send it to each; who got it and when that process was born, as a pid may be given to another one."""
    reached = []
    for pid in pids:
        with suppress(psutil.Error):
            process = psutil.Process(pid)
            born = process.create_time()
            process.send_signal(number)
            reached.append((pid, born))
    return reached
