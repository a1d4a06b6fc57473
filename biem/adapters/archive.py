"""The file of a backup: a ZIP with one member a table, as PostgreSQL's COPY writes it, and a manifest at the end.

    manifest.json       format, migrations, snapshot time, per table: columns, rows, SHA-256; positions of sequences
    tables/NAME.copy    text format, UTF-8, columns in the manifest's order

A file that was cut short has no directory of members and cannot be opened; a changed one fails its checksums.
"""

import hashlib
import os
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from biem.errors import InvalidInput, StoreFull

FORMAT = 1
_MANIFEST = "manifest.json"
_CHUNK = 1 << 20
_DAMAGE = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, OSError, ValueError, EOFError)
"""What reading a damaged ZIP raises: a flag that changed may ask for a password or another compression."""
_FULL = (28, 122)
"""errno of a full disk and of a used-up quota."""


class Table(BaseModel):
    """One table of a backup."""

    model_config = ConfigDict(extra="forbid")

    name: str
    columns: list[str]
    rows: int
    sha256: str


class Manifest(BaseModel):
    """What a backup holds. `migrations` are numbers and digests of those that were applied."""

    model_config = ConfigDict(extra="forbid")

    format: int
    taken_at: str
    migrations: dict[int, str]
    tables: list[Table]
    sequences: dict[str, int]


class Writer:
    """Adds tables to a backup that is being made."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    def table(self, name: str, columns: list[str], chunks: Iterable[bytes], heard: Callable[[int], None]) -> Table:
        """Add what COPY says; `heard` is told the rows so far."""
        digest, rows = hashlib.sha256(), 0
        with self._archive.open(_member(name), "w", force_zip64=True) as member:
            for chunk in _joined(chunks):
                digest.update(chunk)
                rows += chunk.count(b"\n")  # COPY escapes line breaks within a value
                member.write(chunk)
                heard(rows)
        return Table(name=name, columns=columns, rows=rows, sha256=digest.hexdigest())

    def manifest(self, manifest: Manifest) -> None:
        """Say what was added; the last thing to do."""
        self._archive.writestr(_MANIFEST, manifest.model_dump_json(indent=1))


@contextmanager
def written(path: Path) -> Iterator[Writer]:
    """A backup at `path`: there whole when the block ends, and not at all, or as it was before, when it breaks off."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        try:
            descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "w+b") as file:
                with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
                    yield Writer(archive)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
            _sync_folder(path.parent)
        except OSError as error:
            if error.errno in _FULL:
                raise StoreFull(f"the disk of {path} is full; free some space, then repeat") from error
            raise InvalidInput(f"{path} cannot be written: {error.strerror}") from error
    finally:
        temporary.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """A rename is durable when its folder is; some file systems cannot be asked."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


class Reader:
    """An opened backup whose checksums are right."""

    def __init__(self, archive: zipfile.ZipFile, manifest: Manifest) -> None:
        self._archive = archive
        self.manifest = manifest

    def chunks(self, table: Table) -> Iterator[bytes]:
        """The content of a table."""
        with self._archive.open(_member(table.name)) as member:
            while chunk := member.read(_CHUNK):
                yield chunk

    def verify(self) -> None:
        """Read everything once; `InvalidInput` names the first table that is not what was written."""
        for table in self.manifest.tables:
            digest, rows = hashlib.sha256(), 0
            try:
                for chunk in self.chunks(table):
                    digest.update(chunk)
                    rows += chunk.count(b"\n")
            except (KeyError, *_DAMAGE) as error:
                raise InvalidInput(f"the backup is damaged: table {table.name} cannot be read") from error
            if digest.hexdigest() != table.sha256 or rows != table.rows:
                raise InvalidInput(f"the backup is damaged: table {table.name} has another checksum")


@contextmanager
def opened(path: Path) -> Iterator[Reader]:
    """A backup, verified. Raises `InvalidInput` when the file is none, is damaged, or of a later format."""
    try:
        archive = zipfile.ZipFile(path)
    except _DAMAGE as error:
        raise InvalidInput(f"{path} is no backup of biem, or was cut short ({error})") from error
    with archive:
        try:
            manifest = Manifest.model_validate_json(archive.read(_MANIFEST))
        except (KeyError, ValidationError, *_DAMAGE) as error:
            raise InvalidInput(f"{path} is no backup of biem, or of another version of it") from error
        if manifest.format != FORMAT:
            raise InvalidInput(f"{path} has format {manifest.format}; this version reads {FORMAT}")
        reader = Reader(archive, manifest)
        reader.verify()
        yield reader


def _joined(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """COPY gives a row at a time; a compressor wants more."""
    part = bytearray()
    for chunk in chunks:
        part += chunk
        if len(part) >= _CHUNK:
            yield bytes(part)
            part.clear()
    yield bytes(part)


def _member(table: str) -> str:
    return f"tables/{table}.copy"
