"""`biem mcp`: the memory as an MCP server on standard input and output, for the program that started it."""

import os
import threading
from contextlib import AbstractContextManager, ExitStack, suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

import typer

from biem.cli.invocation import of
from biem.cli.server.bridge import bridge, serving, wire
from biem.errors import InvalidInput, MissingExtra

if TYPE_CHECKING:
    from biem.cli.invocation import Invocation
    from biem.memory import Memory

URL, KEY = "BIEM_URL", "BIEM_KEY"
"""Variables that lead to a server."""


def mcp(
    context: typer.Context,
    url: Annotated[
        str, typer.Option(envvar=URL, help="Address of a running `biem serve`; its key is the variable BIEM_KEY.")
    ] = "",
) -> None:
    """Serve MCP over stdin and stdout until stdin ends; for programs such as those of `biem connect`.

    Without a server the memory of --tenant, --user and --project is opened in this process, by the first call. With
    one, they choose among the scopes that its key is open for. Logs go to stderr.
    """
    if find_spec("mcp") is None:
        raise MissingExtra("`biem mcp` needs the MCP SDK; run: pip install 'biem[mcp]'")
    key = os.environ.get(KEY, "")  # noqa: TID251  no option: others see the command line
    if url and not key:
        raise InvalidInput(f"{URL} needs a key in the variable {KEY}: biem keys add")

    def run(transport: str) -> None:
        from biem.server.mcp.tools import build

        build(memory).run(transport)  # type: ignore[call-overload]

    with LateMemory(of(context), url, key) as memory, wire() as (reader, writer), suppress(BrokenPipeError):
        bridge(reader, writer, serving(run))


class LateMemory:
    """Opens the memory at its first use. Thread-safe."""

    def __init__(self, invocation: "Invocation", url: str, key: str) -> None:
        self._invocation = invocation
        self._url = url
        self._key = key
        self._lock = threading.Lock()
        self._stack = ExitStack()
        self._opened: Memory | None = None

    def __call__(self, _grant: str) -> "Memory":
        """The memory; a server checks itself what its key allows. Raises what `connect` and `remote` raise."""
        with self._lock:
            if self._opened is None:
                opened = self._stack.enter_context(self._open())
                named = self._named() if self._url else {}
                self._opened = opened.scope(**named) if named else opened
            return self._opened

    def _named(self) -> dict[str, str]:
        """The scope that the command line names: a key may be open for it, and one of another scope refuses it."""
        given = {part: getattr(self._invocation, part) for part in ("tenant", "user", "project")}
        return {part: name for part, name in given.items() if name is not None}

    def __enter__(self) -> "LateMemory":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _open(self) -> "AbstractContextManager[Memory]":
        if self._url:
            from biem.client import remote

            return remote(self._url, self._key)
        return self._invocation.memory()
