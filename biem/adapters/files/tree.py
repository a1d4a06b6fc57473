"""The port `Files`: Markdown files of a folder on a disk. Nothing is ever written."""

import os
import stat
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from biem.adapters.files.ignored import FILLED_BY_PROGRAMS, IGNORE_FILES, IgnoreRules, is_temporary
from biem.domain.note import FileStat, LintRule, SkippedNote
from biem.errors import StoreUnavailable
from biem.ports.files import FileContent, Walk

EXTENSIONS = (".md", ".markdown", ".mdx")
_PLAIN = EXTENSIONS[:2]
"""Those of a folder whose ignore files are not obeyed: it holds no site."""
_MOST_RULES = 1 << 20
"""Bytes of an ignore file."""
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""A link or a pipe that took the place of a file is neither followed nor waited for."""
_OUTSIDE = "it is a link that leads outside of the library: put the file itself here, or add its folder as a library"
_FOLDER_LINK = "it is a link to a folder, which is not followed: add that folder as a library"
_NO_NAME = "its name is not valid Unicode: rename it"


class FolderFiles:
    """Stateless and thread-safe."""

    def top(self, root: str) -> str:
        """See `Files.top`."""
        try:
            if not Path(root).is_dir():
                raise StoreUnavailable(f"{root} is no folder that can be read: mount it or correct the library's path")
            top = Path(root).resolve()
            os.scandir(top).close()
        except OSError as error:
            raise StoreUnavailable(f"the folder {root} cannot be read: {error.strerror}") from error
        return str(top)

    def walk(self, root: str, exclude: Sequence[str] = (), *, obey: bool = True) -> Walk:
        """See `Files.walk`."""
        return Walk.of(self._each(root, exclude, obey=obey))

    def each(self, root: str, exclude: Sequence[str] = ()) -> Iterator[FileStat | SkippedNote]:
        """See `Files.each`."""
        return self._each(root, exclude, obey=True)

    def _each(self, root: str, exclude: Sequence[str], *, obey: bool) -> Iterator[FileStat | SkippedNote]:
        left_out = [*(FILLED_BY_PROGRAMS if obey else ()), *exclude]
        return _walk(Path(self.top(root)), IgnoreRules().and_of("", left_out), obey=obey)

    def stats(self, root: str, paths: Collection[str]) -> tuple[FileStat, ...]:
        """See `Files.stats`."""
        found = []
        for path in sorted(paths):
            with suppress(OSError, ValueError):  # gone, or no path at all
                about = (Path(root) / path).lstat()
                if stat.S_ISREG(about.st_mode):
                    found.append(_stat(path, about))
        return tuple(found)

    def read(self, root: str, path: str, most: int) -> FileContent | SkippedNote | None:
        """See `Files.read`."""
        try:
            top = Path(root).resolve()
            file = (top / path).resolve(strict=True)
            if not file.is_relative_to(top):
                return _skipped(path, "unreadable", _OUTSIDE)
            handle = os.open(file, _FLAGS)
        except PermissionError:
            return _skipped(path, "unreadable", _refused("file"))
        except (OSError, RuntimeError):
            return None
        before = os.fstat(handle)
        if not stat.S_ISREG(before.st_mode):
            os.close(handle)
            return None
        with os.fdopen(handle, "rb") as stream:
            if before.st_size > most:
                reason = f"it has {before.st_size:,} bytes, more than {most:,}: divide it into several notes"
                return _skipped(path, "too-large", reason)
            try:
                data = stream.read(most + 1)
            except OSError:
                return None
            after = os.fstat(handle)
        try:
            now = file.stat()
        except OSError:
            return None
        wanted = _stat(path, before)
        if len(data) != before.st_size or _stat(path, after) != wanted or _stat(path, now) != wanted:
            return None
        return FileContent(wanted, data)


def _walk(top: Path, rules: IgnoreRules, *, obey: bool) -> Iterator[FileStat | SkippedNote]:
    waiting, extensions = [("", rules)], EXTENSIONS if obey else _PLAIN
    while waiting:
        folder, above = waiting.pop()
        try:
            with os.scandir(top / folder) as found:
                entries = [*found]
            inside = _rules(top, folder, entries, above) if obey else above
        except FileNotFoundError:  # deleted meanwhile
            continue
        except OSError:
            yield _skipped(folder, "unreadable", _refused("folder"))
            continue
        for entry in entries:
            path = folder + entry.name
            if is_temporary(entry.name):
                continue
            try:
                if entry.is_dir(follow_symlinks=False):
                    if not inside.hide(f"{path}/"):
                        waiting.append((f"{path}/", inside))
                elif ((is_note := _is_note(entry.name, extensions)) or entry.is_symlink()) and not inside.hide(path):
                    yield from _file(top, path, entry, is_note=is_note)
            except FileNotFoundError:
                continue
            except OSError:
                yield _skipped(path, "unreadable", _refused("file"))


def _file(top: Path, path: str, entry: "os.DirEntry[str]", *, is_note: bool) -> Iterator[FileStat | SkippedNote]:
    """A note of a folder, or why it is none; nothing for other things."""
    if entry.is_symlink():
        file = Path(entry.path)
        try:
            leads = file.resolve(strict=True)
            is_folder = entry.is_dir()
        except (OSError, RuntimeError):  # a link to itself, or to nothing
            return
        if is_folder:
            yield _skipped(f"{path}/", "unreadable", _FOLDER_LINK)
            return
        if not is_note:
            return
        if not leads.is_relative_to(top):
            yield _skipped(path, "unreadable", _OUTSIDE)
            return
    about = entry.stat() if os.name != "nt" else Path(entry.path).stat()  # the entry's has no inode on Windows
    if stat.S_ISREG(about.st_mode):
        yield _stat(path, about) if _is_unicode(path) else _skipped(path, "unreadable", _NO_NAME)


def _rules(top: Path, folder: str, entries: Sequence["os.DirEntry[str]"], above: IgnoreRules) -> IgnoreRules:
    rules = above
    for name in IGNORE_FILES:
        entry = next((entry for entry in entries if entry.name == name), None)
        if entry is not None and entry.is_file(follow_symlinks=False):
            with (top / folder / name).open("rb") as stream:
                rules = rules.and_of(folder, stream.read(_MOST_RULES).decode(errors="replace").splitlines())
    return rules


def _is_note(name: str, extensions: tuple[str, ...]) -> bool:
    return name.lower().endswith(extensions)


def _is_unicode(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _stat(path: str, about: os.stat_result) -> FileStat:
    return FileStat(path, about.st_size, about.st_mtime_ns, about.st_ino, about.st_ctime_ns)


def _skipped(path: str, rule: LintRule, reason: str) -> SkippedNote:
    shown = path.encode(errors="backslashreplace").decode()  # a name that is no Unicode can still be shown and stored
    return SkippedNote(shown, rule, reason)


def _refused(what: str) -> str:
    return f"this {what} may not be read: give its reader the permission"
