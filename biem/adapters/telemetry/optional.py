"""Imports of optional packages."""

from importlib import import_module
from typing import Any

from biem.errors import MissingExtra


def load(module: str, wanted_by: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(f"{wanted_by} needs a package that is missing; run: pip install 'biem[observe]'") from error
