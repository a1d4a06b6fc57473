"""The file of a backup: a ZIP with one member a table, as PostgreSQL's COPY writes it, and a manifest at the end.

    manifest.json       format, migrations, snapshot time, per table: columns, rows, SHA-256; positions of sequences
    tables/NAME.copy    text format, UTF-8, columns in the manifest's order

A file that was cut short has no directory of members and cannot be opened; a changed one fails its checksums. A file
that was made to do harm is refused before anything of it is used: what is read at once is bounded and does
not depend on the sizes that the file declares.
"""

import hashlib
import os
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from biem.errors import InvalidInput, StoreFull

FORMAT = 1
_MANIFEST = "manifest.json"
_CHUNK = 1 << 20
_MOST_MANIFEST_BYTES = 1 << 20
_MOST_DIRECTORY_BYTES = 1 << 20
_LONGEST_LINE = 64 << 20
"""Bytes of one row. PostgreSQL reads a row into memory as a whole; ours have a quarter of a megabyte of text."""
_HARMLESS_BYTES, _MOST_RATIO = 64 << 20, 250
"""Largest allowed compression ratio of a table of more than the first limit: ids and hashes do not compress."""
_END, _END_64 = (b"PK\x05\x06", 22, slice(12, 16)), (b"PK\x06\x06", 56, slice(40, 48))
_LOCATOR = (b"PK\x06\x07", 20)
"""Records at the end of a ZIP: how they begin, their bytes, and where the size of the directory stands in them."""
_DAMAGE = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, OSError, ValueError, EOFError)
"""What reading a damaged ZIP raises: a flag that changed may ask for a password or another compression."""
_FULL = (28, 122)
"""errno of a full disk and of a used-up quota."""


class Table(BaseModel):
    """One table of a backup."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(pattern=r"^[a-z_][a-z0-9_]{0,62}$")
    columns: list[str]
    rows: int = Field(ge=0)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class Manifest(BaseModel):
    """What a backup holds. `migrations` are numbers and digests of those that were applied."""

    model_config = ConfigDict(extra="forbid")

    format: int
    taken_at: str
    migrations: dict[int, str]
    tables: list[Table]
    sequences: dict[str, Annotated[int, Field(ge=1, lt=1 << 62)]]


class _Lines:
    """Counts the rows of a table, and refuses one that is too long to be ours."""

    def __init__(self, table: str) -> None:
        self.rows = 0
        self._table = table
        self._begun = 0

    def add(self, chunk: bytes) -> None:
        """The next part of the table."""
        ends = chunk.count(b"\n")  # COPY escapes line breaks within a value
        longest = self._begun + (chunk.index(b"\n") if ends else len(chunk))
        self._begun = len(chunk) - chunk.rindex(b"\n") - 1 if ends else longest
        self.rows += ends
        if max(longest, self._begun) > _LONGEST_LINE:
            raise InvalidInput(
                f"table {self._table} has a row of more than {_LONGEST_LINE >> 20} MB, which none of ours is"
            )


class BackupWriter:
    """Adds tables to a backup that is being made."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    def table(self, name: str, columns: list[str], chunks: Iterable[bytes], heard: Callable[[int], None]) -> Table:
        """Add a table's COPY output; `heard` receives the number of rows so far."""
        digest, lines = hashlib.sha256(), _Lines(name)
        with self._archive.open(_member(name), "w", force_zip64=True) as member:
            for chunk in _joined(chunks):
                digest.update(chunk)
                lines.add(chunk)
                member.write(chunk)
                heard(lines.rows)
        return Table(name=name, columns=columns, rows=lines.rows, sha256=digest.hexdigest())

    def manifest(self, manifest: Manifest) -> None:
        """Write the manifest, as the last member."""
        self._archive.writestr(_MANIFEST, manifest.model_dump_json(indent=1))


@contextmanager
def written(path: Path) -> Iterator[BackupWriter]:
    """A backup at `path`: there whole when the block ends, and not at all, or as it was before, when it breaks off."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        try:
            descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "w+b") as file:
                with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
                    yield BackupWriter(archive)
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


class BackupReader:
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
        """Read everything once; `InvalidInput` names the first table whose checksum differs."""
        for table in self.manifest.tables:
            digest, lines = hashlib.sha256(), _Lines(table.name)
            try:
                for chunk in self.chunks(table):
                    digest.update(chunk)
                    lines.add(chunk)
            except (KeyError, *_DAMAGE) as error:
                raise InvalidInput(f"the backup is damaged: table {table.name} cannot be read") from error
            if digest.hexdigest() != table.sha256 or lines.rows != table.rows:
                raise InvalidInput(f"the backup is damaged: table {table.name} has another checksum")


@contextmanager
def opened(path: Path) -> Iterator[BackupReader]:
    """A backup, verified. Raises `InvalidInput` when the file is none, is damaged, or of a later format."""
    try:
        _require_small_directory(path)
        archive = zipfile.ZipFile(path)
    except _DAMAGE as error:
        raise InvalidInput(f"{path} is no backup of biem, or was cut short ({error})") from error
    with archive:
        try:
            manifest = Manifest.model_validate_json(_manifest_text(archive))
        except (KeyError, ValidationError, *_DAMAGE) as error:
            raise InvalidInput(f"{path} is no backup of biem, or of another version of it") from error
        if manifest.format != FORMAT:
            raise InvalidInput(f"{path} has format {manifest.format}; this version reads {FORMAT}")
        _require_plausible(archive, manifest, path)
        reader = BackupReader(archive, manifest)
        reader.verify()
        yield reader


def _require_small_directory(path: Path) -> None:
    """The list of members is read into memory as a whole; ours has one entry a table, and no comment after it."""
    if not path.is_file():
        raise FileNotFoundError("it is no file")
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - (_END[1] + _LOCATOR[1] + _END_64[1])))
        tail = file.read()
    end = tail[-_END[1] :]
    sizes = [_size_in(end, _END)]
    before = tail[: -_END[1]]
    if before[-_LOCATOR[1] :].startswith(_LOCATOR[0]):
        sizes.append(_size_in(before[: -_LOCATOR[1]], _END_64))
    if max(sizes) > _MOST_DIRECTORY_BYTES:
        raise zipfile.BadZipFile("its list of members is too long")


def _size_in(record: bytes, kind: tuple[bytes, int, slice]) -> int:
    begins, length, size = kind
    if not record[-length:].startswith(begins):
        raise zipfile.BadZipFile("it does not end as an archive does")
    return int.from_bytes(record[-length:][size], "little")


def _manifest_text(archive: zipfile.ZipFile) -> bytes:
    with archive.open(_MANIFEST) as member:
        text = member.read(_MOST_MANIFEST_BYTES + 1)
    if len(text) > _MOST_MANIFEST_BYTES:
        raise ValueError("the manifest is too long")
    return text


def _require_plausible(archive: zipfile.ZipFile, manifest: Manifest, path: Path) -> None:
    """Raise `InvalidInput` unless the members are the manifest's tables, once each, of a size that rows can have."""
    members = archive.infolist()
    names = [table.name for table in manifest.tables]
    expected = sorted([_MANIFEST, *map(_member, names)])
    if sorted(member.filename for member in members) != expected:
        raise InvalidInput(f"{path} does not hold just the tables that its manifest names, once each")
    if sum(member.compress_size for member in members) > path.stat().st_size:
        raise InvalidInput(f"{path} has members that overlap; it is no backup of biem")
    for member in members:
        if member.file_size > max(_HARMLESS_BYTES, _MOST_RATIO * member.compress_size):
            raise InvalidInput(f"{path} would grow to more than {_MOST_RATIO} times its size; it is no backup of biem")


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
