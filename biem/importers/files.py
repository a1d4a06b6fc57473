"""The files that an import reads: one file, plain, gzip or zip, or all files of a folder.

Nothing is ever extracted to the disk. Compressed files are refused when they expand like no text does.
"""

import gzip
import io
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, BinaryIO, cast

from biem.errors import InvalidInput
from biem.importers.record import BadLine, LeftOut

Count = Callable[[int], None]
"""Called with the number of bytes just read, as they are on the disk."""
DAMAGED = (EOFError, gzip.BadGzipFile, zipfile.BadZipFile, zlib.error, NotImplementedError)
"""Raised while a damaged or unknown kind of compressed file is read."""
_MOST_RATIO = 200
"""Text is compressed to a tenth; deflate can reach a thousandth."""
_FREE = 64 << 20
"""Bytes that a compressed file may hold at any ratio: these do no harm."""
_MOST_MEMBERS = 100_000
_ENTRY = b"PK\x01\x02"
"""Begins each entry of the directory of a zip file."""


@dataclass(frozen=True, slots=True)
class File:
    """One file to read, as often as needed."""

    name: str
    """As messages name it."""
    path: str
    """Relative to the imported folder or archive, with slashes: it does not change when all is moved."""
    size: int
    """In bytes, as it is on the disk."""
    modified: datetime
    opened: Callable[[Count], BinaryIO]
    """Opens its content, decompressed."""
    alone: bool = True
    """It was named by the caller, not found in a folder or archive."""


def files(source: str) -> Iterator[File | LeftOut | BadLine]:
    """The files of a path, in the order of their names; symbolic links and hidden files of a folder are left out."""
    path = Path(source)
    try:
        if path.is_dir():
            yield from _of_folder(path)
        elif zipfile.is_zipfile(path) and _begins(path, b"PK"):
            yield from _of_zip(path)
        else:
            yield _plain(path, path.name, alone=True)
    except OSError as error:
        raise InvalidInput(f"cannot read {source}: {error.strerror or error}") from error


def _plain(path: Path, relative: str, *, alone: bool) -> File:
    about = path.stat()
    if not stat.S_ISREG(about.st_mode):
        raise InvalidInput(f"cannot read {path}: it is neither a file nor a folder")
    modified = datetime.fromtimestamp(about.st_mtime, tz=UTC)
    return File(str(path), relative, about.st_size, modified, lambda count: _opened(path, count), alone)


def _opened(path: Path, count: Count) -> BinaryIO:
    raw = _Counted(path.open("rb"), count)
    if _begins(path, b"\x1f\x8b"):
        unpacked = gzip.GzipFile(fileobj=io.BufferedReader(raw))
        return io.BufferedReader(_Counted(cast(BinaryIO, unpacked), _limit(path, unpacked)), 1 << 16)
    return io.BufferedReader(raw, 1 << 16)


def _of_folder(root: Path) -> Iterator[File | LeftOut | BadLine]:
    left = sorted(root.iterdir(), reverse=True)
    while left:
        path = left.pop()
        if path.name.startswith("."):
            yield LeftOut("hidden file or folder")
        elif path.is_symlink():
            yield LeftOut("symbolic link")
        elif path.is_dir():
            left += sorted(path.iterdir(), reverse=True)
        elif path.is_file():
            yield _plain(path, path.relative_to(root).as_posix(), alone=False)
        else:
            yield LeftOut("not a file")


def _of_zip(path: Path) -> Iterator[File | LeftOut | BadLine]:
    try:
        # Open as long as its files are in use: to read its directory for each of them takes time squared.
        archive = zipfile.ZipFile(cast(IO[bytes], _Bounded(path)))
        members = sorted((member for member in archive.infolist() if not member.is_dir()), key=lambda m: m.filename)
    except DAMAGED as error:
        yield BadLine(str(path), 0, 0, f"the zip file is damaged or cut off ({error})")
        return
    _require_harmless(path, members)
    for member in members:
        if member.filename.rpartition("/")[2].startswith(".") or member.filename.startswith("__MACOSX/"):
            yield LeftOut("hidden file or folder")
        elif stat.S_ISLNK(member.external_attr >> 16):
            yield LeftOut("symbolic link")
        elif member.flag_bits & 1:
            yield BadLine(f"{path}/{member.filename}", 0, 0, "it is encrypted; unpack it with its password first")
        else:
            yield _member(path, archive, member)


def _member(path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> File:
    try:
        modified = datetime(*member.date_time, tzinfo=UTC)
    except ValueError:
        modified = datetime.fromtimestamp(path.stat().st_mtime, tz=UTC)
    share = member.compress_size / max(member.file_size, 1)

    def opened(count: Count) -> BinaryIO:
        inner = archive.open(member)
        return io.BufferedReader(_Counted(cast(BinaryIO, inner), lambda size: count(round(size * share))), 1 << 16)

    name = f"{path}/{member.filename}"
    return File(name, member.filename, member.compress_size, modified, opened, alone=False)


def _require_harmless(path: Path, members: list[zipfile.ZipInfo]) -> None:
    """Refuse zip bombs by what the members say of their sizes; a member that says too little is cut off there."""
    total, packed = sum(member.file_size for member in members), path.stat().st_size
    if total > max(_FREE, packed * _MOST_RATIO):
        raise InvalidInput(_bomb(path, total, packed))


def _limit(path: Path, unpacked: gzip.GzipFile) -> Count:
    """Refuses a gzip file that expands too far, while it is read: unlike a zip file it does not say how far."""
    packed = path.stat().st_size

    def count(_size: int) -> None:
        if unpacked.tell() > max(_FREE, packed * _MOST_RATIO):
            raise InvalidInput(_bomb(path, unpacked.tell(), packed))

    return count


def _bomb(path: Path, total: int, packed: int) -> str:
    return (
        f"{path} would expand from {packed:,} to {total:,} bytes or more, over {_MOST_RATIO} times as many; no export "
        "does that: unpack it yourself if you trust it"
    )


def _begins(path: Path, mark: bytes) -> bool:
    with closing(path.open("rb")) as stream:
        return stream.read(len(mark)) == mark


class _Bounded(io.FileIO):
    """A zip file whose directory has at most `_MOST_MEMBERS` entries.

    `zipfile` reads the directory at once, and of each entry, from 47 bytes on, makes an object of half a kilobyte.
    """

    def read(self, size: int | None = -1) -> bytes:
        found = super().read(size)
        count = found.count(_ENTRY)
        if count > _MOST_MEMBERS:
            raise InvalidInput(f"{self.name} holds {count:,} files; at most {_MOST_MEMBERS:,} are read: unpack it")
        return found

    def __del__(self) -> None:
        self.close()  # when the last of its files is out of use


class _Counted(io.RawIOBase):
    """Reports how much is read."""

    def __init__(self, stream: BinaryIO, count: Count) -> None:
        self._stream = stream
        self._count = count

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._stream.seekable()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()

    def readinto(self, buffer: "memoryview") -> int:  # type: ignore[override]
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        self._count(len(data))
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()
