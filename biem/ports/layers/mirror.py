"""The mirror: records of its roots and files, and the folders that it writes to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol

from biem.domain.mirror.root import MirrorFile, MirrorRoot
from biem.domain.node import Node
from biem.domain.note import FileStat
from biem.domain.scope import Scope
from biem.errors import StoreUnavailable

Whereabouts = Literal["here", "elsewhere", "erased"]


class FolderUnwritable(StoreUnavailable):
    """A folder of the mirror refuses a file: it is read-only, full, or leads elsewhere by a link."""


@dataclass(frozen=True, slots=True)
class StaleFile:
    """A memory whose file is not as it is. `path` is None where it has none; `exists`: the memory does."""

    memory_id: str
    path: str | None
    exists: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFile:
    """The file of a session as it was written: `next_seq` and `messages` are those of the session then."""

    session_id: str
    path: str
    next_seq: int
    messages: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleSession:
    """A session whose file is not as it is. `file` is None where it has none, `name` and the rest where it is gone."""

    session_id: str
    file: SessionFile | None
    name: str | None = None
    open: bool = False
    opened_at: datetime | None = None
    next_seq: int = 0
    messages: int = 0


class SessionFileRecords(Protocol):
    """Files of sessions, in PostgreSQL."""

    def stale(self, root: MirrorRoot, current: str, limit: int) -> list[StaleSession]:
        """Closed sessions, and the open one without a name, whose files are missing or not as they are.

        `current`: the path of the open session's file. A file there that has to leave comes first. Also files whose
        sessions are gone, and files of open sessions that have a name, if there are any.
        """

    def put(self, root: MirrorRoot, file: SessionFile) -> None:
        """Store what was written."""

    def drop(self, root: MirrorRoot, session_id: str) -> None:
        """Forget a file."""

    def written(self, scope: Scope) -> list[tuple[MirrorRoot, str]]:
        """All files of sessions of a scope."""


@dataclass(frozen=True, slots=True)
class Troubled:
    """A file or a folder that a person has to look at. `state` is that of a file, empty for a folder."""

    host: str
    path: str
    state: str
    reason: str


class MirrorTrouble(Protocol):
    """What a diagnosis asks of the mirror, over all scopes."""

    def files(self, limit: int) -> list[Troubled]:
        """Files that are broken or held."""

    def folders(self, limit: int) -> list[Troubled]:
        """Folders whose last sync did not come to its end."""


class MirrorRecords(Protocol):
    """Roots and files of the mirror in PostgreSQL."""

    def add_root(self, root: MirrorRoot) -> MirrorRoot:
        """Register a folder; returns the root, also if it was registered before.

        Raises `InvalidInput` if the folder mirrors another scope.
        """

    def roots(self, scopes: Sequence[Scope] | None = None) -> list[MirrorRoot]:
        """The roots of these scopes, by path; None: of all."""

    def remove_root(self, root: MirrorRoot) -> None:
        """Forget a root and the records of its files."""

    def erase_root(self, root: MirrorRoot) -> None:
        """The same for a root whose memories are being erased: copies of its files will be refused."""

    def adopt(self, root: MirrorRoot) -> None:
        """From now on the files of this root are taken in, also those of strangers."""

    def synced(self, root: MirrorRoot, at: datetime, report: Mapping[str, Any]) -> None:
        """Record the end of a sync."""

    def files(self, root: MirrorRoot) -> dict[str, MirrorFile]:
        """The known files by path, without their bases."""

    def bases(self, root: MirrorRoot, paths: Sequence[str]) -> dict[str, MirrorFile]:
        """These files with their bases."""

    def put(self, root: MirrorRoot, files: Sequence[MirrorFile]) -> None:
        """Store files, in one transaction; those of the same path or memory are replaced."""

    def touch(self, root: MirrorRoot, read: Sequence[tuple[FileStat, int]]) -> None:
        """Store size, time and inode of files whose content is the same, and when they were read."""

    def drop(self, root: MirrorRoot, paths: Sequence[str]) -> None:
        """Forget files."""

    def stale(self, root: MirrorRoot, limit: int) -> list[StaleFile]:
        """Memories of the scope whose files are missing or not as they are, and files whose memories are gone."""

    def nodes(self, scope: Scope, ids: Sequence[str]) -> dict[str, Node]:
        """The memories of this scope that have these ids."""

    def whereabouts(self, scope: Scope, ids: Sequence[str]) -> dict[str, Whereabouts]:
        """Where memories of these ids are; nothing for ids that no memory has or had."""

    def written(self, scope: Scope, ids: Sequence[str] | None) -> list[tuple[MirrorRoot, str]]:
        """The files of memories, or of all of a scope."""


class MirrorFolder(Protocol):
    """Writes files below a root. No link is followed out of it, and no half-written file is ever seen."""

    def write(self, root: str, path: str, data: bytes, expected: FileStat | None) -> FileStat | None:
        """Put a file in place, whole or not at all; returns its description.

        None, with nothing changed, if it is not as `expected`: it was changed meanwhile, or, where None is expected,
        there is one. As all methods, raises `FolderUnwritable`.
        """

    def put(self, root: str, path: str, data: bytes) -> None:
        """Put a file in place, whole, also where there is one: for files that only biem writes."""

    def append(self, root: str, path: str, data: bytes, size: int) -> bool:
        """Add to the end of a file; False, with nothing changed, if it is not `size` bytes long."""

    def move(self, root: str, path: str, target: str) -> bool:
        """Rename a file within the root; False if it is gone, or the target exists."""

    def delete(self, root: str, path: str) -> bool:
        """Delete a file; False if there was none."""

    def settle(self, root: str, paths: Sequence[str]) -> None:
        """Make the names of these files durable."""

    def tidy(self, root: str, older_s: float) -> int:
        """Delete files that a process left half-written when it died, if they are older; returns how many."""

    def is_created(self, root: str) -> bool:
        """Whether the folder has the file that `create` wrote: an unmounted disk leaves an empty folder without."""

    def create(self, root: str) -> None:
        """Create the folder with a file that keeps sessions out of Git, unless they exist."""
