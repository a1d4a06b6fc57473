"""`biem serve` killed with SIGKILL while it takes posts: what is posted again after its return is stored once."""

import re
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from biem.bootstrap.server import open_keys
from tests.support.cli_process import Cli
from tests.support.fakes import eventually
from tests.support.servers import Configure

SENDERS = 10
EACH = 6
"""Posts of each sender: one under a key that all senders use, the others under their own keys."""
SHARED = "the shared one"


class Server:
    """One run of the command."""

    def __init__(self, process: subprocess.Popen[bytes], url: str) -> None:
        self.process = process
        self.url = url


@contextmanager
def serving(cli: Cli, environment: dict[str, str]) -> Iterator[Server]:
    """A run that answers; it is killed at the end at the latest."""
    process = cli.start("serve", "--port", "0", env=environment)
    try:
        assert process.stderr is not None
        said = process.stderr.readline().decode()
        address = re.match(r"http://\S+", said)
        assert address, said
        eventually(lambda: _ready(address[0]), timeout_s=120)
        yield Server(process, address[0])
    finally:
        process.kill()
        process.communicate(timeout=60)


def _ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/ready", timeout=5).status_code == 200
    except httpx.HTTPError:
        return False


class Senders:
    """Programs that post at the same time; `told` has the id that each key was answered."""

    def __init__(self, token: str, run: int) -> None:
        self._headers = {"Authorization": f"Bearer {token}"}
        self._lock = threading.Lock()
        self.run = run
        self.told: dict[str, str] = {}
        self.failed = 0

    def texts(self, sender: int) -> dict[str, str]:
        """What one sender posts: a text for each key."""
        own = {f"{self.run}-{sender}-{n}": f"Run {self.run}: crate {n} of sender {sender}" for n in range(EACH - 1)}
        return {f"{self.run}-{SHARED}": f"Run {self.run}: {SHARED}"} | own

    def every(self) -> dict[str, str]:
        """All keys and texts."""
        return {key: text for sender in range(SENDERS) for key, text in self.texts(sender).items()}

    def post(self, server: Server, *, kill_at: int | None = None) -> None:
        """Post everything at once; the server is killed when it has answered `kill_at` posts."""

        def send(sender: int) -> None:
            with httpx.Client(base_url=server.url, headers=self._headers, timeout=60) as browser:
                for key, text in self.texts(sender).items():
                    try:
                        answer = browser.post("/v1/memories", json={"text": text}, headers={"Idempotency-Key": key})
                    except httpx.HTTPError:
                        with self._lock:
                            self.failed += 1
                        continue
                    assert answer.status_code == 201, answer.text
                    [memory_id] = answer.json()["ids"]
                    with self._lock:
                        # Then the same key is never answered with another id, before or after a kill
                        assert self.told.setdefault(key, memory_id) == memory_id
                        if kill_at is not None and len(self.told) >= kill_at:
                            server.process.kill()

        with ThreadPoolExecutor(SENDERS) as pool:
            list(pool.map(send, range(SENDERS)))


@pytest.fixture(scope="module")
def token(settings: Configure) -> str:
    """Its own key scope."""
    with open_keys(settings()) as keys:
        return keys.add("acme", "killed", None, ["read", "write"]).token


@pytest.mark.long
def test_posts_repeated_after_a_kill_are_stored_once_and_none_is_lost(
    home: Path, stack: object, environment: dict[str, str], token: str
) -> None:
    cli = Cli(home)
    runs: list[Senders] = []
    lost = 0
    everything = 1 + SENDERS * (EACH - 1)
    for run, kill_at in enumerate(range(1, everything, 4)):
        # Given ten programs that post, some under one key, and a server that dies after some answers
        senders = Senders(token, run)
        with serving(cli, environment) as server:
            if runs:
                runs[-1].post(server)
            senders.post(server, kill_at=kill_at)
            assert server.process.wait(60) == -9
        assert kill_at <= len(senders.told)
        lost += senders.failed
        runs.append(senders)
    assert lost > 0  # some posts met the kill

    # When each posts all of it again, twice, after the server is back
    with serving(cli, environment) as server:
        for _ in range(2):
            runs[-1].post(server)
        with httpx.Client(base_url=server.url, headers={"Authorization": f"Bearer {token}"}, timeout=60) as browser:
            nodes, after = [], ""
            while True:
                page = browser.get("/v1/memories", params={"limit": 500, "status": "all", "after": after}).json()
                nodes += page["items"]
                after = page["next"]
                if not after:
                    break
            counted = browser.get("/v1/count").json()["count"]

    # Then every post is there once, under the id that its sender was given
    expected = {senders.told[key]: (key, text) for senders in runs for key, text in senders.every().items()}
    assert len(expected) == everything * len(runs)
    assert {node["id"]: (node["ref"], node["text"]) for node in nodes} == expected
    assert len(nodes) == counted == len(expected)
