"""Files of one JSON object a line, written by programs."""

import json
from collections.abc import Iterator
from typing import Any, BinaryIO

from biem.importers.files import File
from biem.importers.record import BadLine


def objects(file: File, stream: BinaryIO) -> Iterator[tuple[int, dict[str, Any]] | BadLine]:
    """Each object with the number of its line; blank lines are skipped, and others are reported."""
    for number, line in enumerate(stream, start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line.decode("utf-8-sig").rstrip("\r\n"))
        except UnicodeDecodeError as error:
            yield BadLine(file.name, number, error.start + 1, f"not UTF-8 (byte 0x{line[error.start]:02X})")
        except json.JSONDecodeError as error:
            yield BadLine(file.name, number, error.colno, f"{error.msg}; expected one JSON object on one line")
        except (ValueError, RecursionError) as error:
            yield BadLine(file.name, number, 1, f"not readable as JSON ({error})")
        else:
            if isinstance(value, dict):
                yield number, value
            else:
                yield BadLine(file.name, number, 1, "expected a JSON object")
