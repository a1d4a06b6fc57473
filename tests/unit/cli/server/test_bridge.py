"""`biem mcp` answers what a host asks at its start as the SDK's server does, and leaves everything else to that."""

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from biem.cli.server.bridge import bridge, serving
from biem.errors import NotFound
from biem.memory import Memory
from biem.server.mcp.tools import build
from tests import mcp_discovery
from tests.mcp_discovery import ALONE, HANDSHAKE, alone, by_the_sdk, initialize, lines, requests, results

INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def request(number: int | str, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, **({} if params is None else {"params": params})}


def _none(grant: str) -> Memory:
    raise NotFound("no memory yet")


def bridged(content: bytes) -> tuple[bytes, bytes | None]:
    """What is answered without the SDK, and what was handed to it; None: nothing."""
    out, handed = io.BytesIO(), list[bytes]()
    bridge(io.BufferedReader(io.BytesIO(content)), out, lambda given, _: handed.append(given.read()))
    return out.getvalue(), handed[0] if handed else None


def test_the_file_is_what_the_sdk_answers_today() -> None:
    written = json.loads(mcp_discovery.FILE.read_text("utf-8"))
    found = json.loads(json.dumps(mcp_discovery.document()))
    assert written == found, "run: python -m tests.mcp_discovery"


@pytest.mark.parametrize("protocol", [*HANDSHAKE, *ALONE])
def test_a_host_of_every_version_is_answered_as_by_the_sdk(protocol: str) -> None:
    answered, handed = bridged(lines(requests(protocol)))
    assert handed is None
    assert results(answered) == by_the_sdk(protocol)


BEGUN = [request(1, "initialize", initialize(HANDSHAKE[-1])), INITIALIZED, request(2, "tools/list")]
FIRST = [request(1, "server/discover", alone(ALONE[-1])), request(2, "tools/list", alone(ALONE[-1]))]


@pytest.mark.parametrize(
    ("before", "odd"),
    [
        ([], b"{\n"),
        ([], b"[]\n"),
        ([], b"\n"),
        ([], b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}\n'),
        ([], lines([request(1, "tools/list")])),
        ([], lines([request(1, "initialize", initialize("2020-01-01"))])),
        ([], lines([request(1, "initialize", {"protocolVersion": HANDSHAKE[-1]})])),
        ([], lines([request(1, "initialize", {**initialize(HANDSHAKE[-1]), "protocolVersion": ["x"]})])),
        ([], lines([request(1, "tools/list", alone("2099-01-01"))])),
        ([], lines([request(1, "tools/list", {"_meta": {"io.modelcontextprotocol/protocolVersion": ALONE[-1]}})])),
        ([], lines([request(1, "tools/list", {"_meta": 7})])),
        ([], lines([{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}])),
        ([], lines([{"jsonrpc": "2.0", "id": None, "method": "ping"}])),
        (BEGUN, lines([request(3, "tools/call", {"name": "inspect"})])),
        (BEGUN, lines([request(3, "tools/list", {"cursor": "x"})])),
        (BEGUN, lines([request(3, "tools/list", alone(ALONE[-1]))])),
        (BEGUN, lines([request(3, "initialize", initialize(HANDSHAKE[-1]))])),
        (FIRST, lines([request(3, "initialize", initialize(HANDSHAKE[-1]))])),
        (FIRST, lines([request(3, "tools/list")])),
        (FIRST, lines([request(3, "ping", alone(ALONE[-1]))])),
    ],
)
def test_anything_else_goes_to_the_sdk_with_what_the_connection_began_with(
    before: Sequence[Mapping[str, Any]], odd: bytes
) -> None:
    # Given a connection, after its first requests / When something else comes, and more behind it
    more = lines([request(9, "ping"), INITIALIZED])
    answered, handed = bridged(lines(before) + odd + more)

    # Then the SDK gets it and all that follows, behind the request that decides on the version
    assert set(results(answered)) == {message["id"] for message in before if "id" in message}
    begun = [message for message in before if message.get("id", 1) == 1]
    assert handed == lines(begun) + odd + more


@pytest.mark.parametrize("begun", [BEGUN, FIRST])
def test_the_host_gets_each_answer_once(begun: list[dict[str, Any]]) -> None:
    # Given a memory behind the tools
    more = alone(ALONE[-1]) if begun is FIRST else {}
    call = {"name": "inspect", "arguments": {}, **more}
    asked = [*begun, request(3, "tools/call", call), request("4", "prompts/list", more)]
    out = mcp_discovery.Output(4)

    # When a host goes on to use a tool / Then the SDK answers that, and nothing that was answered before
    source = io.BufferedReader(mcp_discovery.Input(lines(asked), out.complete))
    bridge(source, out, serving(lambda transport: build(_none).run(transport)))  # type: ignore[call-overload]
    answers = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [answer["id"] for answer in answers] in ([1, 2, 3, "4"], [1, 2, "4", 3])
    called = next(answer for answer in answers if answer["id"] == 3)["result"]
    assert called["isError"]
    assert "no memory yet" in called["content"][0]["text"]


def test_notifications_before_any_request_are_answered_with_nothing() -> None:
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    assert bridged(lines([cancelled, INITIALIZED])) == (b"", None)
    assert bridged(b"") == (b"", None)


@pytest.mark.parametrize(
    ("odd", "asked"),
    [
        (b'{"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "recall", "arguments": '
         b'{"query": "half an emoji \\ud83d"}}}', 9),
        (b"{broken", None),
        (b"[]", None),
        (b"\xff\xfe", None),
        (b"[" * 100_000, None),
    ],
)  # fmt: skip
def test_a_message_that_cannot_be_read_is_answered_with_an_error(odd: bytes, asked: int | None) -> None:
    # Given a connection that has begun, a message that the SDK leaves without an answer, and another one
    content = lines(BEGUN) + odd + b"\n" + lines([request(10, "ping")])

    # When they are answered / Then the odd one has an error of its id, and the other one its answer
    out = mcp_discovery.Output(4)
    source = io.BufferedReader(mcp_discovery.Input(content, out.complete))
    bridge(source, out, serving(lambda transport: build(_none).run(transport)))  # type: ignore[call-overload]
    answers = {each["id"]: each for each in map(json.loads, out.getvalue().splitlines())}
    assert answers[asked]["error"]["code"] == -32700
    assert "cannot be read as JSON" in answers[asked]["error"]["message"]
    assert answers[10]["result"] == {}
