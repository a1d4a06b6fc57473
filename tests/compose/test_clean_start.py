"""From a clean clone to an agent that remembers, as `make up` promises: `make test-compose`, with Docker, in minutes.

The containers have a project, ports, volumes and their own password, so what runs here is left alone.
"""

import json
import os
import re
import socket
import stat
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

import biem
from tests.integration.server.test_mcp_access import asked, tool
from tests.support.fakes import eventually
from tests.support.servers import ROOT

_PORTS = {"POSTGRES": 55432, "REDIS": 56379, "MILVUS": 59530, "SERVER": 8766}
_FILES = ("-f", "docker-compose.yml", "-f", "docker-compose.milvus.yml")

Run = Callable[..., str]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """What was committed last, and nothing else of this folder."""
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(tmp_path / "clone")], check=True)
    return tmp_path / "clone"


@pytest.fixture
def ports() -> dict[str, int]:
    """Free ones of this machine."""
    with ExitStack() as stack:
        taken = {name: stack.enter_context(socket.create_server(("127.0.0.1", 0))) for name in _PORTS}
        return {name: one.getsockname()[1] for name, one in taken.items()}


@pytest.fixture
def run(clone: Path, ports: dict[str, int]) -> Iterator[Run]:
    """Runs a command in the clone and gives what it said; afterwards nothing of the project is left."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "DOCKER_HOST") if name in os.environ}
    environment = kept | {"COMPOSE_PROJECT_NAME": f"biem-test-{uuid.uuid4().hex[:8]}", "PYTHONPATH": str(clone)}
    environment["BIEM_ENV_FILE"] = str(clone / ".env")
    environment |= {f"BIEM_COMPOSE_{name}_PORT": str(port) for name, port in ports.items()}

    def told(*words: str) -> str:
        done = subprocess.run(
            words, cwd=clone, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{' '.join(words)}: {done.stdout[-2000:]} {done.stderr[-2000:]}"
        return done.stdout

    yield told
    told("docker", "compose", *_FILES, "down", "--volumes", "--timeout", "10")


@pytest.mark.skipif(not os.environ.get("BIEM_TEST_COMPOSE"), reason="BIEM_TEST_COMPOSE is not set: make test-compose")
@pytest.mark.timeout(1_800)
@pytest.mark.req("B61")
def test_one_command_in_a_clean_clone_and_a_program_on_the_host_remembers(
    clone: Path, ports: dict[str, int], run: Run
) -> None:
    # Given a clean clone / When everything is started with one command
    run("make", "up")

    # Then all that stays is healthy, and the settings are there, with a password that no one else reads
    states = run("docker", "compose", *_FILES, "ps", "--format", "{{.Service}} {{.Health}}").split("\n")
    assert sorted(filter(None, states)) == [
        f"{name} healthy" for name in ("beat", "milvus", "postgres", "redis", "server", "worker")
    ]
    settings = clone / ".env"
    assert stat.S_IMODE(settings.stat().st_mode) == 0o600
    assert "change-me" not in settings.read_text(encoding="utf-8")
    assert "nothing to do" in run("make", "migrate")

    # And a program on this machine that reads them remembers, in both languages; a worker's container encodes
    text = settings.read_text(encoding="utf-8")
    for name, port in _PORTS.items():
        text = re.sub(rf"\b{port}\b", str(ports[name]), text)
    settings.write_text(text, encoding="utf-8")
    command = str(Path(sys.executable).with_name("biem"))
    run(command, "remember", "The spare key lies under the blue flower pot")
    run(command, "remember", "林晓下周三飞里斯本，住 Hotel Avenida")

    eventually(lambda: json.loads(run(command, "stats", "--json"))["active"] == 2, 120.0)
    assert "flower pot" in run(command, "recall", "Where is the key?", "--top-k", "1")
    assert "Avenida" in run(command, "recall", "Where does Lin Xiao stay in Lisbon?", "--top-k", "1")

    # And another one, with a key that was made in a container, remembers through the server, and so does an agent
    made = json.loads(
        run("docker", "compose", *_FILES, "exec", "-T", "server", "biem", "--user", "ana", "--json", "keys", "add")
    )
    with biem.remote(f"http://127.0.0.1:{ports['SERVER']}", made["token"]) as memory:
        memory.remember("The anchor lies in the boathouse", wait=True)
        assert "boathouse" in memory.recall("Where is the anchor?")[0].node.text
    with httpx.Client(
        base_url=f"http://127.0.0.1:{ports['SERVER']}", headers={"Authorization": f"Bearer {made['token']}"}
    ) as agent:
        tools = {each["name"] for each in asked(agent, "tools/list", {})["result"]["tools"]}
        assert {"remember", "recall"} < tools
        assert "boathouse" in str(tool(agent, "recall", {"query": "Where is the anchor?"})["content"])

    # And when all was stopped and started again, it is still there
    run("make", "down")
    run("make", "up")
    assert "flower pot" in run(command, "recall", "Where is the key?", "--top-k", "1")
