"""Bio-Inspired Evolving Memory: memory for LLM agents.

with biem.connect() as memory:
    memory.remember("I am allergic to peanuts", speaker="Li Ming")
    print(memory.context("What can he not eat?").text)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from biem.bootstrap import connect
    from biem.bootstrap.asynchronous import aconnect
    from biem.client import remote
    from biem.domain.node import Hit, Hits, Node, Receipt
    from biem.domain.scope import Scope
    from biem.errors import BiemError, InvalidInput, NotFound, StoreUnavailable
    from biem.memory import Memory
    from biem.plugin import BIEMContextPlugin

__all__ = [
    "BIEMContextPlugin",
    "BiemError",
    "Hit",
    "Hits",
    "InvalidInput",
    "Memory",
    "Node",
    "NotFound",
    "Receipt",
    "Scope",
    "StoreUnavailable",
    "aconnect",
    "connect",
    "remote",
]

_HOMES = {
    "biem.bootstrap": ("connect",),
    "biem.bootstrap.asynchronous": ("aconnect",),
    "biem.client": ("remote",),
    "biem.domain.node": ("Hit", "Hits", "Node", "Receipt"),
    "biem.domain.scope": ("Scope",),
    "biem.errors": ("BiemError", "InvalidInput", "NotFound", "StoreUnavailable"),
    "biem.memory": ("Memory",),
    "biem.plugin": ("BIEMContextPlugin",),
}


def __getattr__(name: str) -> Any:
    """Load a public name at first use: the owner of the embedded servers and `biem --help` need no database
    client.
    """
    if name == "__version__":
        return import_module("importlib.metadata").version("biem")
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'biem' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, loaded or not."""
    return sorted([*__all__, "__version__"])
