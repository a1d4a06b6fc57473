"""A memory on a server: `biem.remote(url, key)` has the facade's methods, types and errors."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from biem.client.memory import RemoteMemory

_TIMEOUT_S = 90.0
"""Longer than the server waits for indexing."""


def remote(url: str, key: str, *, timeout_s: float = _TIMEOUT_S) -> "RemoteMemory":
    """The memory behind a server (`biem serve`), in the scope of a key (`biem keys add`).

    It has the methods of `Memory`, with their results and errors, except those that work on the server's own machine.
    Nothing is sent before the first call. Where the key is open for every user or project, `scope` chooses one.
    Raises `ConfigError` for an address that cannot be read or has a password, and `KeyInvalid` for a malformed key.
    """
    from biem.client.http import Connection
    from biem.client.memory import RemoteMemory

    return RemoteMemory(Connection(url, key, timeout_s=timeout_s))
