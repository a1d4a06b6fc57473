"""Starts the owner without importing the rest of biem. Run by path; replaces the parent packages of `owner_process`.

`python -m biem.adapters.embedded.owner_process` would run `biem/__init__.py`, which imports every adapter. That takes a
second or two, during which clients without an owner wait, and a broken package could prevent the servers' restart.
"""

import importlib
import sys
from pathlib import Path
from types import ModuleType


def main(arguments: list[str]) -> None:
    """Make `biem.adapters.embedded` importable without running its parent packages, then become the owner."""
    folder = Path(__file__).resolve().parent
    places = {"biem": folder.parents[1], "biem.adapters": folder.parents[0], "biem.adapters.embedded": folder}
    for package, place in places.items():
        stand_in = ModuleType(package)
        stand_in.__path__ = [str(place)]
        sys.modules[package] = stand_in
    importlib.import_module("biem.adapters.embedded.owner_process").main(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
