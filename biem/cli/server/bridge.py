"""MCP over stdin and stdout: what a host asks at its start is answered from a file, anything else by the SDK's server.

A host starts `biem mcp` with each of its sessions, waits for the list of tools, and often calls none: the SDK, .7 s of
CPU and 60 MB, is loaded by the first message that needs it. That message and all that follow go to it, after those
with which the connection began.
"""

import io
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from importlib.resources import files
from typing import Any, BinaryIO

_META = "io.modelcontextprotocol/"
_REQUIRED = {"protocolVersion": str, "clientInfo": dict, "clientCapabilities": dict}
"""Of `_meta` in a request that stands alone."""
_PARSE_ERROR = -32700
_INITIALIZED = "notifications/initialized"
Serve = Callable[[io.RawIOBase, io.RawIOBase], None]
"""Serves MCP on an input and an output until the input ends."""


class Discovery:
    """The answers that depend on nothing but the versions of biem and of the protocol; see `tests.mcp_discovery`.

    The first request decides for the connection whether there is a handshake or each request stands alone.
    """

    def __init__(self) -> None:
        found = json.loads((files("biem.server.mcp") / "discovery.json").read_text(encoding="utf-8"))
        self._handshake: Mapping[str, Any] = found["handshake"]
        self._alone: Mapping[str, Any] = found["alone"]
        self._begun: Mapping[str, Any] | None = None

    def answer(self, message: Mapping[str, Any]) -> dict[str, Any] | None:
        """The result for a request; None if it is not one of these, or not as it should be."""
        method, params = message["method"], message.get("params", {})
        if message.keys() - {"jsonrpc", "id", "method", "params"} or not isinstance(params, dict):
            return None
        if method == "initialize":
            return self._initialized(params)
        meta = params.get("_meta", {})
        if params.keys() - {"_meta"} or not isinstance(meta, dict):
            return None
        kind = self._alone if f"{_META}protocolVersion" in meta else self._handshake
        if kind is self._alone:
            stated = {name: meta.get(_META + name) for name in _REQUIRED}
            is_whole = all(isinstance(stated[name], each) for name, each in _REQUIRED.items())
            if not is_whole or stated["protocolVersion"] not in kind["versions"]:
                return None
        result = kind["results"].get(method)
        if result is None or self._begun not in ((kind, None) if kind is self._alone else (kind,)):
            return None
        self._begun = kind
        return _of_this_version(result)

    def _initialized(self, params: Mapping[str, Any]) -> dict[str, Any] | None:
        wanted = params.get("protocolVersion")
        is_whole = isinstance(params.get("clientInfo"), dict) and isinstance(params.get("capabilities"), dict)
        if self._begun is not None or wanted not in self._handshake["versions"] or not is_whole:
            return None
        self._begun = self._handshake
        return {**_of_this_version(self._handshake["initialize"]), "protocolVersion": wanted}


def _of_this_version(result: Mapping[str, Any]) -> dict[str, Any]:
    """The result with the version of biem, wherever it says which server it is."""
    found = dict(result)
    meta, key = found.get("_meta", {}), f"{_META}serverInfo"
    if "serverInfo" in found:
        found["serverInfo"] = {**found["serverInfo"], "version": version("biem")}
    if key in meta:
        found["_meta"] = {**meta, key: {**meta[key], "version": version("biem")}}
    return found


def bridge(reader: BinaryIO, writer: BinaryIO, serve: Serve) -> None:
    """Answer a host until its messages end; `serve` is called with the first that is not answered here."""
    discovery = Discovery()
    begun: list[bytes] = []  # the first request, which decides on the connection, and the end of the handshake
    known: object = None  # the id of that request, which the host has an answer to
    while line := reader.readline():
        message = _message(line)
        if message is not None and "id" not in message:
            if message["method"] == _INITIALIZED:
                begun.append(line)
            continue  # other notifications are about requests under way, and there are none
        result = None if message is None else discovery.answer(message)
        if message is None or result is None:
            serve(Replayed(b"".join([*begun, line]), reader), Answered(known, writer))
            return
        if known is None:
            begun.append(line)
            known = message["id"]
        document = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        writer.write(json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
        writer.flush()


def _message(line: bytes) -> dict[str, Any] | None:
    """A request or a notification; None for anything else."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or found.get("jsonrpc") != "2.0" or not isinstance(found.get("method"), str):
        return None
    return found if "id" not in found or type(found["id"]) in (int, str) else None


class Replayed(io.RawIOBase):
    """An input that begins with what was read of it before."""

    def __init__(self, first: bytes, rest: BinaryIO) -> None:
        self._first = first
        self._rest = rest

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """As many bytes as there are now; 0 at the end."""
        piece, self._first = self._first[: len(buffer)], self._first[len(buffer) :]
        piece = piece or self._rest.read1(len(buffer))  # type: ignore[attr-defined]
        buffer[: len(piece)] = piece
        return len(piece)


class Understood(io.RawIOBase):
    """The messages of an input that the SDK can read. It leaves others without an answer, and a host would wait for
    one: they are answered with an error here.
    """

    def __init__(self, reader: io.RawIOBase, writer: io.RawIOBase) -> None:
        self._lines = iter(io.BufferedReader(reader).readline, b"")
        self._writer = writer
        self._rest = b""

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """The next message, or a part of it; 0 at the end."""
        while not self._rest:
            line = next(self._lines, b"")
            if not line:
                return 0
            fault = _fault(line)
            if fault is None:
                self._rest = line
            else:
                self._writer.write(json.dumps(fault).encode() + b"\n")
        piece, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(piece)] = piece
        return len(piece)


def _fault(line: bytes) -> dict[str, Any] | None:
    """The answer to a message that is no JSON for the SDK, which takes no half of a surrogate pair; None for others."""
    from pydantic_core import from_json

    text = line.decode(errors="replace")
    if not text.strip():
        return None
    try:
        said = "" if isinstance(from_json(text), dict) else "an object is expected"
    except ValueError as error:
        said = str(error)
    if not said:
        return None
    try:
        found = json.loads(text)["id"]
    except (ValueError, LookupError, TypeError, RecursionError):
        found = None
    asked = found if type(found) in (int, str) else None
    answer = {"code": _PARSE_ERROR, "message": f"the message cannot be read as JSON: {said}"}
    return {"jsonrpc": "2.0", "id": asked, "error": answer}


class Answered(io.RawIOBase):
    """An output of one message a write, without the answer to the request of this id, which was given before.

    None: with all answers.
    """

    def __init__(self, known: object, writer: BinaryIO) -> None:
        self._known = known
        self._writer = writer

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, data: Any) -> int:
        """Write all of it at once."""
        if self._known is not None and json.loads(bytes(data)).get("id") == self._known:
            self._known = None
        else:
            self._writer.write(data)
            self._writer.flush()
        return len(data)


def serving(run: Callable[[str], None]) -> Serve:
    """Makes a server of the SDK, which takes the standard streams of Python, serve on others."""

    def serve(reader: io.RawIOBase, writer: io.RawIOBase) -> None:
        before = sys.stdin, sys.stdout
        sys.stdin = io.TextIOWrapper(io.BufferedReader(Understood(reader, writer)), encoding="utf-8", errors="replace")
        sys.stdout = io.TextIOWrapper(writer, encoding="utf-8")
        try:
            run("stdio")
        finally:
            sys.stdin, sys.stdout = before

    return serve


@contextmanager
def wire() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """Standard input and output of this process, which nothing else reads or writes meanwhile.

    What a library prints goes to stderr, and a child process has no input.
    """
    sys.stdout.flush()
    own = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    try:
        # Not closed: a thread of the server may read on when it ends.
        yield os.fdopen(own[0], "rb", closefd=False), os.fdopen(own[1], "wb", closefd=False)
    finally:
        os.dup2(own[0], 0)
        os.dup2(own[1], 1)
