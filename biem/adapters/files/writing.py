"""The port `MirrorFolder`: files are written next to their place, made durable, and renamed."""

import errno
import os
import secrets
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from biem.adapters.files.renaming import exchanged, renamed_new
from biem.domain.note import FileStat
from biem.ports.layers.mirror import FolderUnwritable

_TEMPORARY = ".tmp-"
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
_IGNORED = "# Sessions are conversations word for word: they stay on this machine.\nsessions/\n.tmp-*\n"
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


class WritableFolder:
    """Stateless and thread-safe."""

    def write(self, root: str, path: str, data: bytes, expected: FileStat | None) -> FileStat | None:
        """See `MirrorFolder.write`."""
        with _folder_errors(path):
            target = _inside(root, path)
            _make_folders(root, target.parent)
            temporary = target.parent / f"{_TEMPORARY}{secrets.token_hex(8)}"
            try:
                made = _write_new(temporary, data, None if expected is None else target)
                if not _put(temporary, target, path, expected):
                    return None
            finally:
                with suppress(FileNotFoundError):
                    temporary.unlink()
            return FileStat(path, made.st_size, made.st_mtime_ns, made.st_ino)

    def put(self, root: str, path: str, data: bytes) -> None:
        """See `MirrorFolder.put`."""
        with _folder_errors(path):
            target = _inside(root, path)
            _make_folders(root, target.parent)
            temporary = target.parent / f"{_TEMPORARY}{secrets.token_hex(8)}"
            try:
                _write_new(temporary, data, None)
                temporary.replace(target)
            finally:
                with suppress(FileNotFoundError):
                    temporary.unlink()
            _sync_folder(target.parent)

    def append(self, root: str, path: str, data: bytes, size: int) -> bool:
        """See `MirrorFolder.append`."""
        with _folder_errors(path):
            target = _inside(root, path)
            if not _is_file(target):
                return False
            with target.open("ab") as stream:
                if os.fstat(stream.fileno()).st_size != size:
                    return False
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            return True

    def move(self, root: str, path: str, target: str) -> bool:
        """See `MirrorFolder.move`."""
        with _folder_errors(path):
            source, place = _inside(root, path), _inside(root, target)
            _make_folders(root, place.parent)
            if not _is_file(source):
                return False
            try:
                if renamed_new(source, place):  # what is saved over the source meanwhile stays
                    return True
            except FileExistsError:
                if not source.samefile(place):
                    return False
            try:
                os.link(source, place, follow_symlinks=False)
            except FileExistsError:
                if not source.samefile(place):  # else a move that was interrupted
                    return False
            except OSError as error:
                if error.errno not in _NO_LINKS:
                    raise
                if place.exists():
                    return False
                source.rename(place)
                return True
            source.unlink()
            return True

    def delete(self, root: str, path: str) -> bool:
        """See `MirrorFolder.delete`."""
        with _folder_errors(path):
            try:
                _inside(root, path).unlink()
            except FileNotFoundError:
                return False
            return True

    def settle(self, root: str, paths: Sequence[str]) -> None:
        """See `MirrorFolder.settle`."""
        for folder in sorted({_inside(root, path).parent for path in paths}):
            _sync_folder(folder)

    def tidy(self, root: str, older_s: float) -> int:
        """See `MirrorFolder.tidy`."""
        before, count = time.time_ns() / 1e9 - older_s, 0  # the clock of the disk
        for folder, folders, names in os.walk(root):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in names:
                if name.startswith(_TEMPORARY):
                    file = Path(folder) / name
                    with suppress(OSError):
                        if file.lstat().st_mtime < before:
                            file.unlink()
                            count += 1
        return count

    def is_created(self, root: str) -> bool:
        """See `MirrorFolder.is_created`."""
        return (Path(root) / ".gitignore").is_file()

    def create(self, root: str) -> None:
        """See `MirrorFolder.create`."""
        with _folder_errors(root):
            top = Path(root)
            top.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError):
                _write_new(top / ".gitignore", _IGNORED.encode(), None)


def _write_new(file: Path, data: bytes, like: Path | None) -> os.stat_result:
    """Write a file that does not exist, with the permissions of another; returns its description."""
    handle = os.open(file, _CREATE, 0o666)
    with os.fdopen(handle, "wb") as stream:
        if like is not None and hasattr(os, "fchmod"):
            with suppress(FileNotFoundError):
                os.fchmod(stream.fileno(), stat.S_IMODE(like.stat().st_mode))
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
        return os.fstat(stream.fileno())


def _put(temporary: Path, target: Path, path: str, expected: FileStat | None) -> bool:
    if expected is None:
        try:
            os.link(temporary, target)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            if target.exists():
                return False
            temporary.replace(target)
        return True
    try:
        if not _is_as(target, path, expected):
            return False
        if not exchanged(temporary, target):
            temporary.replace(target)
        elif not _is_as(temporary, path, expected):  # it was saved in between: back with it
            exchanged(temporary, target)
            return False
    except FileNotFoundError:
        return False
    return True


def _is_as(file: Path, path: str, expected: FileStat) -> bool:
    about = file.lstat()
    found = FileStat(path, about.st_size, about.st_mtime_ns, about.st_ino)
    return stat.S_ISREG(about.st_mode) and found == expected


def _inside(root: str, path: str) -> Path:
    """The place of a file, whose folder must be below the root."""
    top = Path(root).resolve()
    folder = (top / path).parent.resolve()
    if not folder.is_relative_to(top):
        raise FolderUnwritable(f"{path} leads out of {root} by a link: put a real folder there")
    return folder / Path(path).name


def _make_folders(root: str, folder: Path) -> None:
    """Create the folders between the root and this one, but not the root, which may have been moved away meanwhile."""
    top, missing = Path(root).resolve(), []
    while folder != top:
        missing.append(folder)
        folder = folder.parent
    for one in reversed(missing):
        one.mkdir(exist_ok=True)


def _is_file(file: Path) -> bool:
    try:
        return stat.S_ISREG(file.lstat().st_mode)
    except FileNotFoundError:
        return False


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # folders cannot be opened there
        return
    with suppress(OSError):  # some file systems do not know it
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def _folder_errors(path: str) -> Iterator[None]:
    """Raise `FolderUnwritable` for errors of the operating system."""
    try:
        yield
    except OSError as error:
        raise FolderUnwritable(f"{path} cannot be written ({error.strerror}); correct that and sync again") from error
