"""What a scan does about each file: compares a walk through the folder with what is known of it.

No file is opened here. A file of equal size, time and inode is unchanged, except where it was changed at the time of
the scan before this one or later: so close to it that a write may have left no trace (Git's "racy" files), or by a
program that set its time back.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from biem.domain.note import FileStat, NoteFinding
from biem.ports.files import Walk
from biem.ports.notes.known_files import KnownFiles, KnownNote

RACY_NS = 2_000_000_000
"""Two seconds: file systems such as FAT round times to this."""
_GUARDED_FILES = 20
"""Libraries of fewer files are not guarded against deletion."""
_GUARDED_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class FileChanges:
    """A walk against the known files. Every file of the walk is in exactly one of the first three."""

    unchanged: tuple[FileStat, ...]
    new: tuple[FileStat, ...]
    changed: tuple[FileStat, ...]
    """To be read: stat differs, or nothing else tells a change. The content may prove equal."""
    vanished: tuple[KnownNote, ...]
    """Known, but not in the walk."""


def compare(walk: Walk, known: KnownFiles, *, scanned_ns: int | None, full: bool = False) -> FileChanges:
    """Sort the files of a walk by what has to be done about them.

    `known` is by path; `scanned_ns` is when the scan before this one began (None: there was none). `full` has all
    known files read again. A known file that the walk skipped, or that lies in a folder which it could not read, has
    not vanished.
    """
    unchanged, new, changed = [], [], []
    for file in walk.files:
        if known.has(file) and not full and not is_racy(file, scanned_ns):
            unchanged.append(file)
        elif file.path in known:
            changed.append(file)
        else:
            new.append(file)
    there = {file.path for file in walk.files}
    skipped = {one.path for one in walk.skipped}
    vanished = tuple(known[path] for path in known if path not in there and not covers(skipped, path))
    return FileChanges(tuple(unchanged), tuple(new), tuple(changed), vanished)


def is_racy(file: FileStat, scanned_ns: int | None) -> bool:
    """Whether it may have changed after the last scan read it without a change of its time."""
    return scanned_ns is None or max(file.mtime_ns, file.ctime_ns) >= scanned_ns - RACY_NS


def moves(vanished: Iterable[KnownNote], new: Mapping[str, bytes]) -> dict[str, str]:
    """Old path of each new one whose content vanished elsewhere; `new` has the SHA-256 of each new path.

    Of several files of one content those of the same name are paired first, then in the order of their paths.
    """
    gone: defaultdict[bytes, list[str]] = defaultdict(list)
    for file in sorted(vanished, key=lambda file: file.stat.path):
        if file.sha256:
            gone[file.sha256].append(file.stat.path)
    found: dict[str, str] = {}
    for same_name in (True, False):
        for path in sorted(new.keys() - found.keys()):
            left = gone.get(new[path], [])
            old = next((old for old in left if not same_name or _name(old) == _name(path)), None)
            if old is not None:
                left.remove(old)
                found[path] = old
    return found


def is_suspicious(vanished: int, known: int) -> bool:
    """Whether enough of the known files vanished that an unmounted disk is the likelier reason than their deletion.

    `vanished` counts those that were not found again under another path.
    """
    return known >= _GUARDED_FILES and vanished > _GUARDED_SHARE * known


def collisions(paths: Collection[str]) -> list[NoteFinding]:
    """Files whose paths differ only in case or Unicode form: on macOS and Windows they are one."""
    alike: defaultdict[str, list[str]] = defaultdict(list)
    for path in paths:
        alike[unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())].append(path)
    return [
        NoteFinding(path, 1, "case-collision", _advice(path, group))
        for group in map(sorted, alike.values())
        if len(group) > 1
        for path in group
    ]


def covers(skipped: Collection[str], path: str) -> bool:
    """Whether the path or a folder above it was skipped; folders end in `/`."""
    return bool(skipped) and (path in skipped or any(path[:end] in skipped for end in _folder_ends(path)))


def _folder_ends(path: str) -> Iterator[int]:
    return (place + 1 for place, character in enumerate(path) if character == "/")


def _advice(path: str, group: Sequence[str]) -> str:
    others = ", ".join(repr(other) for other in group if other != path)
    return (
        f"{path!r} differs from {others} only in case or Unicode form; on macOS and Windows they are one file: "
        "rename it"
    )


def _name(path: str) -> str:
    return path.rpartition("/")[2]
