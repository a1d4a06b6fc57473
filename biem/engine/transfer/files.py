"""Files that are there as a whole or not at all, and only for their owner; and reading lines of files of strangers."""

import io
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, NoReturn, cast

from biem.errors import InvalidInput, StoreFull
from biem.importers.encodings import as_utf8, codec_of

_MOST_BYTES = 64 * 2**20
"""Of one line: far above the largest memory."""
_DISK_FULL = (28, 122)
"""ENOSPC and EDQUOT."""


def path_of(given: object, method: str, what: str) -> Path | None:
    """The path given, or None for an open file, which has this method; `InvalidInput` for anything else."""
    if not isinstance(given, str | Path):
        if not callable(getattr(given, method, None)):
            raise InvalidInput(f"{what} must be a path or an open binary file, not {type(given).__name__}")
        return None
    try:
        path = Path(given).expanduser()
        os.fsencode(path)
    except (RuntimeError, ValueError) as error:  # of an unknown user; not Unicode
        raise InvalidInput(f"{what} is no path: {error}") from None
    if "\0" in str(path):
        raise InvalidInput(f"{what} is no path: it has a NUL character")
    return path


@contextmanager
def whole_file(path: Path, *, overwrite: bool) -> Iterator[IO[bytes]]:
    """A new file with mode 600 that gets its name at the end of the block; after an error there is none."""
    try:
        if not overwrite:
            _require_free(path)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            try:
                yield file.file
                file.flush()
                os.fsync(file.fileno())
                _name(Path(file.name), path, overwrite=overwrite)
            finally:
                Path(file.name).unlink(missing_ok=True)
    except OSError as error:
        _refuse(path, error)


@contextmanager
def whole_folder(path: Path, *, overwrite: bool) -> Iterator[Path]:
    """The same for a folder, with mode 700."""
    try:
        if not overwrite:
            _require_free(path)
        built = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
        try:
            yield built
            if overwrite and path.is_dir():
                shutil.rmtree(path)
            built.rename(path)
        finally:
            shutil.rmtree(built, ignore_errors=True)
    except OSError as error:
        _refuse(path, error)


def _name(built: Path, path: Path, *, overwrite: bool) -> None:
    if overwrite:
        built.replace(path)
        return
    try:
        path.hardlink_to(built)  # unlike a rename, it replaces nothing
    except FileExistsError:
        _require_free(path)
    except OSError:  # a file system without hard links
        _require_free(path)
        built.replace(path)


def _require_free(path: Path) -> None:
    if path.exists() or path.is_symlink():
        raise InvalidInput(f"{path} exists; choose another path, or allow it to be replaced (--force, overwrite=True)")


def _refuse(path: Path, error: OSError) -> NoReturn:
    if error.errno in _DISK_FULL:
        raise StoreFull(f"the disk is full while {path} is written; free some space, then repeat") from error
    raise InvalidInput(f"{path} cannot be written: {error.strerror or error}") from error


@contextmanager
def opened(source: str | Path | BinaryIO) -> Iterator[BinaryIO]:
    """A file by its path, or a stream that is open already."""
    path = path_of(source, "readline", "source")
    if path is None:
        if isinstance(source, io.TextIOBase):
            raise InvalidInput("source is open as text; open it in binary mode ('rb')")
        yield cast(BinaryIO, source)
        return
    try:
        file = path.open("rb")
    except OSError as error:
        raise InvalidInput(f"{source} cannot be read: {error.strerror or error}") from error
    with file:
        yield file


def json_lines(file: BinaryIO) -> Iterator[tuple[int, Any, int]]:
    """The number of each line, its value and its size in bytes; `InvalidInput` names the line that is no JSON.

    A file in UTF-16 or UTF-32, as a shell may save what it redirects, is read as well.
    """
    number = 0
    while data := _line(file, number + 1):
        number += 1
        if number == 1 and (codec := codec_of(data[:4])) not in ("utf-8", "utf-8-sig"):
            file = as_utf8(file, codec, head=data, strict=True)
            data = _line(file, number)
        try:
            yield number, parsed(data, first=number == 1), len(data)
        except InvalidInput as error:
            raise InvalidInput(f"line {number}: {error}") from None


def _line(file: BinaryIO, number: int) -> bytes:
    try:
        return file.readline(_MOST_BYTES)
    except UnicodeDecodeError as error:  # only of a file that is decoded here
        raise InvalidInput(
            f"line {number}: not {error.encoding}: the file is damaged or cut off; write it again with "
            "`biem export --out PATH`, which no shell recodes"
        ) from None


def parsed(data: bytes, *, first: bool = False) -> Any:
    """The value of one line; raises `InvalidInput`."""
    if len(data) >= _MOST_BYTES:
        raise InvalidInput(f"the line is longer than {_MOST_BYTES:,} bytes")
    try:
        return json.loads(data.decode("utf-8-sig" if first else "utf-8"), parse_constant=_no_number)
    except UnicodeDecodeError as error:
        raise InvalidInput(f"not UTF-8 (byte 0x{data[error.start]:02X} at position {error.start})") from None
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"not JSON, or not all of it: {error}") from None


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")
