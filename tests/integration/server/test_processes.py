"""The real commands: `biem keys` and `biem serve` with two processes, started, asked, revoked and ended."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

import biem
from tests.support.cli_process import Cli
from tests.support.fakes import eventually


@pytest.fixture(scope="module")
def cli(home: Path, stack: object) -> Cli:
    """The command on the session's servers."""
    return Cli(home)


@pytest.fixture
def served(home: Path, environment: dict[str, str], cli: Cli) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The address of two processes, and the one that began them."""
    process = cli.start("serve", "--port", "0", "--workers", "2", env=environment)
    try:
        assert process.stderr is not None
        said = process.stderr.readline().decode()
        address = re.match(r"http://\S+", said)
        assert address, said
        yield address[0], process
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert process.returncode in (0, 143)


_STOPPED_EARLY = """
import os, signal, sys
import uvicorn
from biem.cli.app import main

made = uvicorn.Config.get_loop_factory

def stopped(config):
    os.kill(os.getpid(), signal.SIGTERM)
    return made(config)

uvicorn.Config.get_loop_factory = stopped
main()
"""


def test_a_server_that_is_stopped_while_it_starts_ends_without_a_word(home: Path, environment: dict[str, str]) -> None:
    # Given a server that gets the signal between the making of its event loop and its start / When it ends
    command = [sys.executable, "-c", _STOPPED_EARLY, "--home", str(home), "serve", "--port", "0"]
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    ended = subprocess.run(command, env=kept | environment, capture_output=True, text=True, timeout=120, check=False)

    # Then it has only said its address
    assert re.fullmatch(r"http://\S+ \(Ctrl-C ends it\)\n", ended.stderr), ended.stderr
    assert ended.returncode == 128 + signal.SIGTERM


@pytest.mark.long
def test_two_processes_serve_a_key_until_it_is_revoked(
    served: tuple[str, subprocess.Popen[bytes]], cli: Cli, environment: dict[str, str]
) -> None:
    # Given a key made on the command line
    url, _ = served
    made = cli.process("--user", "served", "--json", "keys", "add", "--name", "test", env=environment).document
    token = made["token"]
    assert (made["user"], made["grants"]) == ("served", ["read", "write"])
    listed = cli.process("--json", "keys", "list", env=environment)
    assert made["id"] in [key["id"] for key in listed.document]
    assert token[-43:] not in listed.stdout  # its secret, which may have any letters

    # When a program uses the server in its own place memory / Then what it stores is found
    eventually(lambda: _ready(url), timeout_s=120)
    with biem.remote(url, token) as memory:
        one = memory.remember("The lamp oil is in the shed", wait=True)
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda _: memory.recall("Where is the lamp oil?")[0].node.id, range(8)))
        assert found == [one] * 8

    # And when the key is revoked on the command line, no process answers it any more
    assert cli.process("keys", "revoke", made["id"], env=environment).stdout.strip() == "revoked"
    with httpx.Client(headers={"Authorization": f"Bearer {token}"}) as browser:
        eventually(lambda: all(browser.get(f"{url}/v1/count").status_code == 401 for _ in range(8)))


def _ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/ready", timeout=5).status_code == 200
    except httpx.HTTPError:
        return False
