"""The files of a library."""

import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Protocol, Self

from biem.domain.note import FileStat, SkippedNote


@dataclass(frozen=True, slots=True)
class Walk:
    """What a walk through a folder found: Markdown files, sorted by path, and those that cannot be indexed."""

    files: tuple[FileStat, ...]
    skipped: tuple[SkippedNote, ...] = ()

    @classmethod
    def of(cls, found: Iterable[FileStat | SkippedNote]) -> Self:
        """All of these, sorted."""
        files: list[FileStat] = []
        skipped: list[SkippedNote] = []
        for one in found:
            (files if isinstance(one, FileStat) else skipped).append(one)  # type: ignore[arg-type]
        by_path = attrgetter("path")
        return cls(tuple(sorted(files, key=by_path)), tuple(sorted(skipped, key=by_path)))


@dataclass(frozen=True, slots=True)
class FileContent:
    """The bytes of a file that did not change while it was read. `stat` is from before reading."""

    stat: FileStat
    data: bytes


class Files(Protocol):
    """Reads Markdown files below a root; it never writes, and never opens a file outside of the root."""

    def top(self, root: str) -> str:
        """The folder itself, without links on the way to it.

        Raises `StoreUnavailable` if it is missing, no folder, or not readable: nothing follows about its files then.
        """

    def walk(self, root: str, exclude: Sequence[str] = (), *, obey: bool = True) -> Walk:
        """The Markdown files (`.md`, `.markdown`, `.mdx`) below `root`.

        Left out without a word: hidden files and folders, temporary and backup files (`*~`, `.#*`), conflict copies of
        synchronising programs, folders that programs fill (`node_modules`, `logseq/bak`), unless a pattern such as
        `!node_modules/` takes them back, and what `.gitignore`, `.biemignore` or `exclude` (patterns of the same kind)
        name; without `obey` only `exclude` does, and `.mdx` is no Markdown file.
        Links to a folder or to a file outside of the root, and what may not be read, are `skipped`, each with its
        reason; a skipped folder's path ends in `/`. Raises `StoreUnavailable` as `top`.
        """

    def each(self, root: str, exclude: Sequence[str] = ()) -> Iterator[FileStat | SkippedNote]:
        """What `walk` finds, one by one and unsorted, while it goes on; raises `StoreUnavailable` only at once."""

    def stats(self, root: str, paths: Collection[str]) -> tuple[FileStat, ...]:
        """Those of these paths that are files, no links, sorted by path. Files that `walk` ignores are among them."""

    def read(self, root: str, path: str, most: int) -> FileContent | SkippedNote | None:
        """The file's content, or why it cannot be indexed; more than `most` bytes are never read.

        None where it is gone, or was changed while it was read: the next scan sees it.
        """


class FolderEvents(Protocol):
    """Notices changes below a root. Events are hints: a change may be missed, and a scan finds it."""

    def changes(self, root: str, stopped: threading.Event) -> Iterator[frozenset[str]]:
        """Yield the paths below `root` of notes, folders and ignore files that changed, a burst once.

        The first are those of the root itself, an empty path, when watching has begun. Yields no path every minute
        without changes, and for changes of other files.

        Ends when `stopped` is set. Raises `StoreUnavailable` where this folder cannot be watched, or no longer: it is
        missing or was replaced, it is on a network file system, or the system has no watch left.
        """
