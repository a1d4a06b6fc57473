"""One sync of a root under way: known files, present files, and its report so far."""

import hashlib
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from biem.domain.mirror.root import Fields, MirrorFile, MirrorReport, MirrorRoot
from biem.domain.node import Node
from biem.domain.note import FileStat, SkippedNote
from biem.layers.mirror.names import key
from biem.layers.mirror.read import read
from biem.layers.mirror.render import fields_of
from biem.layers.mirror.text import MirrorText
from biem.notes.scan import RACY_NS, covers
from biem.ports.files import FileContent, Files, Walk

T = TypeVar("T")
TICK_NS = 20_000_000
"""No file system that tells parts of a second has a coarser clock."""
_SECOND_NS = 1_000_000_000
AT_ONCE = 100
"""Files and memories of one transaction."""


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """A file that was read."""

    stat: FileStat
    sha256: bytes
    read_ns: int
    text: MirrorText


@dataclass(frozen=True, slots=True)
class FolderChanges:
    """A walk against the known files."""

    new: tuple[FileStat, ...]
    changed: tuple[FileStat, ...]
    """To be read: its size, time or inode differ, or it may have been changed right after it was read."""
    vanished: tuple[MirrorFile, ...]


@dataclass(slots=True)
class SyncRun:
    """The state of one sync."""

    root: MirrorRoot
    walk: Walk
    known: dict[str, MirrorFile]
    report: MirrorReport
    files: Files
    most_bytes: int
    taken: set[str] = field(default_factory=set)
    """Keys of all paths in use."""
    by_memory: dict[str, MirrorFile] = field(default_factory=dict)

    def __post_init__(self) -> None:
        paths = (*(file.path for file in self.walk.files), *(one.path for one in self.walk.skipped), *self.known)
        self.taken.update(map(key, paths))
        self.by_memory.update({file.memory_id: file for file in self.known.values() if file.memory_id})

    @property
    def is_strange(self) -> bool:
        """Whether files that biem did not write are not taken in."""
        return self.root.kind == "project" and not self.root.adopted

    def add(self, **counts: int) -> None:
        """Add to the counts of the report."""
        changes = {name: getattr(self.report, name) + count for name, count in counts.items()}
        self.report = replace(self.report, **changes)

    def note(self, file: MirrorFile, former: str | None = None) -> MirrorFile:
        """Keep a file as known, in place of what its path, its memory or a former path was."""
        if former is not None:
            self.known.pop(former, None)
        self.known[file.path] = file
        if file.memory_id:
            self.by_memory[file.memory_id] = file
        self.taken.add(key(file.path))
        return file

    def compare(self, *, full: bool, quiet_s: float) -> FolderChanges:
        """What has to be read, and what vanished. Files that changed less than `quiet_s` ago are left for later."""
        new, changed, present = [], [], set()
        now_ns = time.time_ns()
        for stat in self.walk.files:
            present.add(stat.path)
            known = self.known.get(stat.path)
            again = ("new", "gone") if quiet_s else ("new", "gone", "held")  # on request, held files are tried again
            looks_same = known is not None and known.stat == stat and known.state not in again
            if known is not None and looks_same and not full and not is_racy(stat, known.read_ns):
                continue
            if not looks_same and 0 <= now_ns - stat.mtime_ns < quiet_s * 1e9:
                self.add(waiting=1)
                continue
            if known is None or known.state == "gone":
                new.append(stat)
            else:
                changed.append(stat)
        skipped = {one.path for one in self.walk.skipped}
        vanished = tuple(
            file
            for path, file in self.known.items()
            if path not in present and file.state != "gone" and not covers(skipped, path)
        )
        return FolderChanges(tuple(new), tuple(changed), vanished)

    def opened(self, stat: FileStat) -> OpenedFile | None:
        """The file's content; None where it is gone, or was changed while it was read: the next sync sees it."""
        read_ns = time.time_ns()
        content = self.files.read(self.root.path, stat.path, self.most_bytes)
        if content is None:
            return None
        if isinstance(content, SkippedNote):
            return OpenedFile(stat, b"", read_ns, MirrorText(problem=content.reason, line=1))
        assert isinstance(content, FileContent)
        self.add(read=1)
        digest = hashlib.sha256(content.data).digest()
        return OpenedFile(content.stat, digest, read_ns, read(stat.path, content.data))


def is_racy(stat: FileStat, read_ns: int) -> bool:
    """Whether a file may have changed after it was read without a change of its time: it was written just before.

    On a file system whose times have no parts of a second, that is within two of them.
    """
    return stat.mtime_ns >= read_ns - (TICK_NS if stat.mtime_ns % _SECOND_NS else RACY_NS)


def batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """Parts of a list, each for one transaction."""
    return (items[start : start + AT_ONCE] for start in range(0, len(items), AT_ONCE))


def agreed(opened: OpenedFile, node: Node, file: Fields, **more: Any) -> MirrorFile:
    """A file and its memory that say the same; `file` is what the file literally says."""
    return MirrorFile(
        path=opened.stat.path,
        memory_id=node.id,
        stat=opened.stat,
        sha256=opened.sha256,
        read_ns=opened.read_ns,
        revision=node.revision,
        layer=node.layer,
        archived=node.status == "archived",
        base={"file": file, "memory": fields_of(node)},
        **more,
    )


def troubled(opened: OpenedFile, state: str, reason: str, before: MirrorFile | None = None) -> MirrorFile:
    """A file that a person has to look at; its base, if it had one, stays. `before` must have its base loaded."""
    if before is None:
        return MirrorFile(
            path=opened.stat.path,
            memory_id=None,
            stat=opened.stat,
            sha256=opened.sha256,
            read_ns=opened.read_ns,
            state=state,
            reason=reason,
        )
    changes: Mapping[str, Any] = {"stat": opened.stat, "sha256": opened.sha256, "read_ns": opened.read_ns}
    return replace(before, path=opened.stat.path, state=state, reason=reason, **changes)
