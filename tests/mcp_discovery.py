"""What the SDK's server answers to the requests that a host makes at its start; `biem mcp` answers them from a file.

`python -m tests.mcp_discovery` writes the file again, after a change of `biem/server/mcp/tools.py` or of the SDK.
"""

import io
import json
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import biem
from biem.cli.server.bridge import serving
from biem.memory import Memory
from biem.server.mcp.tools import build

FILE = Path(biem.__file__).parent / "server" / "mcp" / "discovery.json"
HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
ALONE = ("2026-07-28",)
LISTS = ("tools/list", "resources/list", "resources/templates/list", "prompts/list")
_META = "io.modelcontextprotocol/"
_CLIENT = {"name": "a host", "version": "1"}


def initialize(protocol: str) -> dict[str, Any]:
    """The first request of a client of a version with a handshake."""
    return {"protocolVersion": protocol, "capabilities": {}, "clientInfo": _CLIENT}


def alone(protocol: str) -> dict[str, Any]:
    """The parameters of a request that stands alone."""
    stated = {"protocolVersion": protocol, "clientInfo": _CLIENT, "clientCapabilities": {}}
    return {"_meta": {_META + name: value for name, value in stated.items()}}


def requests(protocol: str) -> list[dict[str, Any]]:
    """What a host of this version asks, with the method as the id."""
    if protocol in ALONE:
        asked: list[tuple[str, Any]] = [(method, alone(protocol)) for method in ("server/discover", *LISTS)]
    else:
        asked = [("initialize", initialize(protocol)), *((method, {}) for method in (*LISTS, "ping"))]
    found = [{"jsonrpc": "2.0", "id": method, "method": method, "params": params} for method, params in asked]
    if protocol not in ALONE:
        found.insert(1, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    return found


def lines(messages: Sequence[Mapping[str, Any]]) -> bytes:
    """Messages as they travel."""
    return "".join(json.dumps(message) + "\n" for message in messages).encode()


def results(output: bytes) -> dict[str, Any]:
    """The result of each answer by id."""
    return {(found := json.loads(line))["id"]: found["result"] for line in output.splitlines()}


class Output(io.BytesIO):
    """Says when every answer is there; its content outlives what writes to it."""

    def __init__(self, answers: int) -> None:
        super().__init__()
        self._left = answers
        self.complete = threading.Event()

    def write(self, data: Any) -> int:
        """One message."""
        self._left -= bytes(data).count(b"\n")
        if not self._left:
            self.complete.set()
        return super().write(data)

    def close(self) -> None:
        """Nothing: it is read afterwards."""


class Input(io.RawIOBase):
    """Ends when every answer is there: the server gives up what it works on at the end of its input."""

    def __init__(self, content: bytes, complete: threading.Event) -> None:
        self._content = io.BytesIO(content)
        self._complete = complete

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """The content, then the end."""
        piece = self._content.read(len(buffer))
        if not piece:
            assert self._complete.wait(60)
        buffer[: len(piece)] = piece
        return len(piece)


def by_the_sdk(protocol: str) -> dict[str, Any]:
    """The results of the SDK's server, without any memory behind it."""

    def closed(_: str) -> Memory:
        raise AssertionError("discovery opened the memory")

    asked = requests(protocol)
    out = Output(sum("id" in message for message in asked))
    serve = serving(lambda transport: build(closed).run(transport))  # type: ignore[call-overload]
    serve(Input(lines(asked), out.complete), out)  # type: ignore[arg-type]
    return results(out.getvalue())


def document() -> dict[str, Any]:
    """The file's content, from the newest version of each kind."""
    handshake = by_the_sdk(HANDSHAKE[-1])
    first = {name: value for name, value in handshake.pop("initialize").items() if name != "protocolVersion"}
    return {
        "handshake": {"versions": HANDSHAKE, "initialize": first, "results": handshake},
        "alone": {"versions": ALONE, "results": by_the_sdk(ALONE[-1])},
    }


if __name__ == "__main__":
    FILE.write_text(json.dumps(document(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
