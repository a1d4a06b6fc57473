"""Start the owner without the rest of biem: run by path, it stands in for the packages above `supervisor`.

`python -m biem.adapters.embedded.supervisor` would run `biem/__init__.py`, which imports every adapter: a second or two
for which clients that lost their owner would wait, and a broken package could keep the servers from coming back at all.
"""

import importlib
import sys
from pathlib import Path
from types import ModuleType


def main(arguments: list[str]) -> None:
    """Make `biem.adapters.embedded` importable without running what its parents import, then become the owner."""
    folder = Path(__file__).resolve().parent
    places = {"biem": folder.parents[1], "biem.adapters": folder.parents[0], "biem.adapters.embedded": folder}
    for package, place in places.items():
        stand_in = ModuleType(package)
        stand_in.__path__ = [str(place)]
        sys.modules[package] = stand_in
    importlib.import_module("biem.adapters.embedded.supervisor").main(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
