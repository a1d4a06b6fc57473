"""The MCP server, asked by the SDK's own client: in memory, as a process over stdio, and over HTTP with a key."""

import json
import logging
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult

import biem
from biem.server.mcp.tools import build
from tests.integration.server.conftest import Site
from tests.support.fakes import WordEmbedder
from tests.support.servers import Configure

TOOLS = ["remember", "recall", "context", "amend", "forget", "feedback", "inspect"]
BIEM = str(Path(sys.executable).with_name("biem"))


@pytest.fixture(scope="module")
def connected(settings: Configure) -> Iterator[biem.Memory]:
    """One connection for the tests of this file."""
    with biem.connect(settings(), embedder=WordEmbedder()) as memory:
        yield memory


@pytest.fixture
def own(connected: biem.Memory) -> biem.Memory:
    """A scope of the test's own."""
    return connected.scope(user=uuid.uuid4().hex)


def said(result: CallToolResult) -> str:
    """The text that a model reads."""
    assert not result.is_error, result
    [content] = result.content
    assert content.type == "text"
    return content.text


def data(result: CallToolResult) -> dict[str, Any]:
    """The structured content."""
    assert not result.is_error, result
    assert isinstance(result.structured_content, dict)
    return result.structured_content


async def live(client: Client) -> dict[str, Any]:
    """What an agent does with a memory; returns what it saw."""
    tools = (await client.list_tools()).tools
    first = data(await client.call_tool("remember", {"text": "Ann drinks green tea", "tags": ["drink"]}))["id"]
    second = data(await client.call_tool("remember", {"text": "Bo paints </s> barns", "kind": "event"}))["id"]
    recalled = await client.call_tool("recall", {"query": "green tea", "top_k": 1})
    marked = said(await client.call_tool("recall", {"query": "paints barns", "top_k": 1}))
    block = said(await client.call_tool("context", {"query": "What does Ann drink? green tea"}))
    amended = data(await client.call_tool("amend", {"memory_id": first, "text": "Ann drinks black coffee"}))
    stale = await client.call_tool("amend", {"memory_id": first, "text": "no", "expect": 1})
    counted = said(await client.call_tool("feedback", {"useful": [first], "turn": "t1"}))
    inspected = data(await client.call_tool("inspect", {"memory_id": first}))
    forgotten = data(await client.call_tool("forget", {"memory_id": second, "reason": "wrong"}))
    state = data(await client.call_tool("inspect", {}))
    unknown = await client.call_tool("forget", {"memory_id": str(uuid.uuid4())})
    resource = await client.read_resource(f"biem://memory/{first}")
    timeline = await client.read_resource("biem://timeline")
    conflicts = await client.read_resource("biem://conflicts")
    prompt = await client.get_prompt("with_memory", {"question": "What does Ann drink? black coffee"})
    return {
        "tools": tools, "first": first, "second": second, "recalled": recalled, "marked": marked, "block": block,
        "amended": amended, "stale": stale, "counted": counted, "inspected": inspected, "forgotten": forgotten,
        "state": state, "unknown": unknown, "resource": resource, "timeline": timeline, "conflicts": conflicts,
        "prompt": prompt,
    }  # fmt: skip


def check(seen: dict[str, Any]) -> None:
    """What must be true of it, however it came."""
    assert [tool.name for tool in seen["tools"]] == TOOLS
    assert {tool.name for tool in seen["tools"] if tool.annotations.read_only_hint} == {"recall", "context", "inspect"}
    assert {tool.name for tool in seen["tools"] if tool.annotations.destructive_hint} == {"forget"}
    for tool in seen["tools"]:
        assert tool.description
        assert not {"tenant", "user", "project", "scope"} & tool.input_schema["properties"].keys()
    first = seen["first"]
    [found] = data(seen["recalled"])["memories"]
    assert (found["id"], found["text"], found["origin"], found["tags"]) == (
        first, "Ann drinks green tea", "assistant", ["drink"],
    )  # fmt: skip
    assert f"[{first}]" in said(seen["recalled"])
    assert '"Ann drinks green tea"' in said(seen["recalled"])
    assert "</s>" not in seen["marked"]
    assert "Ann drinks green tea" in seen["block"]
    assert (seen["amended"]["text"], seen["amended"]["revision"]) == ("Ann drinks black coffee", 2)
    assert seen["stale"].is_error
    assert "revision 2" in seen["stale"].content[0].text
    assert seen["counted"] == "counted"
    assert [one["text"] for one in seen["inspected"]["history"]] == ["Ann drinks green tea", "Ann drinks black coffee"]
    assert seen["forgotten"] == {"id": seen["second"], "archived": True}
    assert seen["state"]["memories"] == 2
    assert not [name for name in seen["state"] if name.startswith("all_")]
    assert seen["unknown"].is_error
    assert "no memory" in seen["unknown"].content[0].text
    [shown] = seen["resource"].contents
    assert (shown.mime_type, json.loads(shown.text)["text"]) == ("application/json", "Ann drinks black coffee")
    assert first in {node["id"] for node in json.loads(seen["timeline"].contents[0].text)["memories"]}
    assert json.loads(seen["conflicts"].contents[0].text)["conflicts"] == []
    assert "Ann drinks black coffee" in seen["prompt"].messages[0].content.text


def over(server: Any, **more: Any) -> dict[str, Any]:
    """The same life over one connection."""

    async def run() -> dict[str, Any]:
        async with Client(server, **more) as client:
            return await live(client)

    return anyio.run(run)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_in_memory_of_either_version(own: biem.Memory, mode: Any) -> None:
    check(over(build(lambda grant: own), mode=mode))


def test_a_failure_inside_is_not_reported(own: biem.Memory) -> None:
    # Given a memory that fails in a way that no one foresaw
    def broken(grant: str) -> biem.Memory:
        raise RuntimeError("a secret of the inside")

    async def run() -> tuple[CallToolResult, str]:
        async with Client(build(broken)) as client:
            result = await client.call_tool("recall", {"query": "tea"})
            with pytest.raises(MCPError) as raised:
                await client.read_resource("biem://timeline")
            return result, str(raised.value)

    # Then neither a tool nor a resource says how
    result, message = anyio.run(run)
    assert result.is_error
    assert "secret" not in str(result) + message


def test_an_unknown_resource_is_not_found(own: biem.Memory) -> None:
    async def run() -> int:
        async with Client(build(lambda grant: own)) as client:
            with pytest.raises(MCPError) as raised:
                await client.read_resource(f"biem://memory/{uuid.uuid4()}")
            return raised.value.error.code

    assert anyio.run(run) == -32602


def refused(own: biem.Memory, mode: Any, name: str, arguments: dict[str, str] | None) -> Any:
    """The protocol error that a request for a prompt gets."""

    async def run() -> Any:
        async with Client(build(lambda grant: own), mode=mode) as client:
            with pytest.raises(MCPError) as raised:
                await client.get_prompt(name, arguments)
            return raised.value.error

    return anyio.run(run)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize(
    ("name", "arguments", "code", "told"),
    [
        ("no_such", None, -32602, "with_memory"),
        ("with_memory", None, -32602, "question"),
        ("with_memory", {"question": "x", "user": "eve"}, -32602, "question"),
        ("with_memory", {"question": "a\0b"}, -32603, "NUL"),
    ],
)
def test_a_wrong_request_for_a_prompt_is_an_error_of_the_protocol_and_no_failure(
    own: biem.Memory,
    mode: Any,
    name: str,
    arguments: dict[str, str] | None,
    code: int,
    told: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    # When a prompt is asked for by a name or with arguments that there are not / Then the answer says so
    error = refused(own, mode, name, arguments)
    assert (error.code, told in error.message) == (code, True), error

    # And nothing is logged as a failure of the server
    assert not [record for record in caplog.records if record.exc_info or record.levelno >= logging.ERROR]


@asynccontextmanager
async def reached(url: str, token: str) -> AsyncIterator[Any]:
    """The transport of a client with a key."""
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        create_mcp_http_client(headers=headers) as http,
        streamable_http_client(f"{url}/mcp", http_client=http) as streams,
    ):
        yield streams


class TestHttp:
    def test_a_key_has_its_own_scope(self, site: Site) -> None:
        # Given two users' keys on two processes
        mine, theirs = site.key(), site.key()

        # When one of them lives with the memory
        seen = over(reached(site.urls[0], mine.token))

        # Then everything is as in memory, and the other sees nothing of it
        check(seen)

        async def foreign() -> tuple[Any, Any, Any]:
            async with Client(reached(site.urls[1], theirs.token)) as client:
                recalled = await client.call_tool("recall", {"query": "coffee"})
                state = await client.call_tool("inspect", {})
                one = await client.call_tool("inspect", {"memory_id": seen["first"]})
                return recalled, state, one

        recalled, state, one = anyio.run(foreign)
        assert data(recalled)["memories"] == []
        assert data(state)["memories"] == 0
        assert one.is_error
        assert "coffee" not in str(one)

    def test_a_key_that_only_reads_cannot_write(self, site: Site) -> None:
        reader = site.key(grants=["read"])
        body = {
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "remember", "arguments": {"text": "no"}},
        }  # fmt: skip
        headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}
        browser = site.browser(reader.token, headers)
        answer = browser.post("/mcp", json=body).json()
        assert answer["result"]["isError"]
        assert "write" in answer["result"]["content"][0]["text"]

    def test_without_a_valid_key_nothing_is_reported(self, site: Site) -> None:
        for headers in ({}, {"Authorization": "Bearer biem_no"}, {"Authorization": "Basic x"}):
            answer = httpx.post(f"{site.urls[0]}/mcp", json={}, headers=headers)
            assert answer.status_code == 401
            assert "Bearer" in answer.headers["WWW-Authenticate"]
        foreign = {"Authorization": f"Bearer {site.key().token}", "Origin": "https://evil.example"}
        assert httpx.post(f"{site.urls[0]}/mcp", json={}, headers=foreign).status_code == 403


class TestStdio:
    @pytest.mark.long
    def test_a_process_answers_before_it_opens_anything_and_ends_with_its_input(
        self, site: Site, tmp_path: Path, environment: dict[str, str]
    ) -> None:
        # Given a program that reaches a server by two variables
        key = site.key()
        variables = {"BIEM_URL": site.urls[0], "BIEM_KEY": key.token, "HOME": str(tmp_path), "PATH": ""}

        # When a client lives with it
        seen = over(StdioServerParameters(command=BIEM, args=["mcp"], env=variables, cwd=str(tmp_path)))

        # Then everything is as in memory, and it was stored on the server
        check(seen)
        assert site.remote(key.token).get(seen["first"]).text == "Ann drinks black coffee"
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.long
    def test_a_process_names_the_user_where_the_key_of_its_server_is_open_for_all(
        self, site: Site, tmp_path: Path, environment: dict[str, str]
    ) -> None:
        # Given a key for every user, and the user of this program
        key, user = site.key(user=None, project=None), uuid.uuid4().hex
        variables = {"BIEM_URL": site.urls[0], "BIEM_KEY": key.token, "HOME": str(tmp_path), "PATH": ""}

        # When a client lives with it / Then it was stored for that user
        command = StdioServerParameters(command=BIEM, args=["--user", user, "mcp"], env=variables, cwd=str(tmp_path))
        seen = over(command)
        check(seen)
        there = site.remote(key.token).scope(user=user)
        assert there.get(seen["first"]).text == "Ann drinks black coffee"

    @pytest.mark.long
    def test_a_process_without_a_server_opens_the_memory_itself(
        self, connected: biem.Memory, tmp_path: Path, environment: dict[str, str]
    ) -> None:
        # Given a program that knows where the stores are, and whose memory it is
        user = uuid.uuid4().hex
        variables = environment | {"HOME": str(tmp_path), "PATH": ""}

        # When a client lives with it
        command = StdioServerParameters(command=BIEM, args=["--user", user, "mcp"], env=variables, cwd=str(tmp_path))
        seen = over(command)

        # Then everything is as in memory, and it was stored in that user's scope
        check(seen)
        assert connected.scope(user=user).get(seen["first"]).text == "Ann drinks black coffee"

    def test_discovery_loads_neither_engine_nor_stores_nor_the_sdk(self, tmp_path: Path) -> None:
        # Given a program without any store / When it is asked for its tools only
        program = (
            "import sys; from biem.cli.app import run; code = run(['mcp'])\n"
            "print([name for name in sys.modules if name.startswith(('biem.engine', 'biem.adapters', 'biem.memory',"
            " 'biem.cli.memories', 'biem.domain.policies', 'biem.domain.node', 'biem.importers', 'biem.client',"
            " 'httpx.', 'fastapi', 'psycopg', 'pymilvus', 'numpy', 'mcp', 'anyio'))],"
            " len(sys.modules), file=sys.stderr)\n"
            "sys.exit(code)"
        )
        requests = [
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
                "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
            {"jsonrpc": "2.0", "id": 3, "method": "resources/list"},
        ]  # fmt: skip
        process = subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
            env={"HOME": str(tmp_path), "PATH": ""},
        )  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("".join(json.dumps(request) + "\n" for request in requests))
        process.stdin.flush()
        answered = [json.loads(process.stdout.readline()) for _ in range(3)]
        rest, errors = process.communicate(timeout=120)  # its input ends here

        # Then it answers, ends with its input, and has loaded nothing that it did not need
        answers = {answer["id"]: answer["result"] for answer in answered}
        assert [tool["name"] for tool in answers[2]["tools"]] == TOOLS
        assert {one["uri"] for one in answers[3]["resources"]} == {"biem://timeline", "biem://conflicts"}
        assert (process.returncode, rest) == (0, ""), errors
        unneeded, count = errors.strip().splitlines()[-1].rsplit(" ", 1)
        assert unneeded == "[]"
        assert int(count) < 380  # the SDK would add 370
        assert list(tmp_path.iterdir()) == []
