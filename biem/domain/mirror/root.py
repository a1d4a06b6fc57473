"""A folder that mirrors the memories of one scope, its files, and what a sync of it did."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, get_args

from biem.domain.note import FileStat
from biem.domain.scope import Scope

RootKind = Literal["global", "project"]
"""`project`: the folder is part of a repository, whose files may be a stranger's."""
RootState = Literal["active", "paused"]
FileState = Literal["clean", "new", "broken", "held", "stranger", "refused", "gone"]
"""`new`: a memory is being made of it. `broken`: it cannot be read. `held`: what it says cannot be stored.
`stranger`: it was in a project's folder before biem was, and waits for `adopt`. `refused`: its memory was erased.
`gone`: it was deleted, and its memory archived.
"""
FILE_STATES: tuple[str, ...] = get_args(FileState)
FIELDS = (
    "text", "title", "tags", "importance", "kind", "category", "layer", "reason", "expires_at", "related", "front"
)  # fmt: skip
"""What a file and a memory have in common, and a person may change in either."""
Fields = Mapping[str, Any]
"""Values of `FIELDS`, as JSON has them. A file may leave some out; then it does not say them."""
ARCHIVE = "archive/"
"""The folder of archived memories."""
DELETED = "file deleted"
"""Why a memory was archived whose file was deleted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MirrorRoot:
    """A folder of one host. `path` is absolute. `adopted`: files that biem did not write are taken in."""

    id: str
    scope: Scope
    path: str
    host: str
    kind: str = "global"
    state: str = "active"
    adopted: bool = False
    synced_at: datetime | None = None
    report: Mapping[str, Any] = field(default_factory=dict)
    """Counts of the last sync that did anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MirrorFile:
    """A file as the last sync left it, and the memory that it stands for."""

    path: str
    memory_id: str | None
    stat: FileStat
    sha256: bytes
    read_ns: int
    """When it was read or written, in nanoseconds since 1970."""
    state: str = "clean"
    reason: str = ""
    revision: int = 0
    """Of the memory, when both agreed."""
    layer: str = ""
    archived: bool = False
    base: Mapping[str, Fields] | None = None
    """What both said when they agreed: `file` and `memory`. None where it was not loaded, or they never did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MirrorReport:
    """What one sync of a root did. Counts are of files, unless they say otherwise."""

    root: str
    files: int = 0
    read: int = 0
    written: int = 0
    """Files that biem wrote, new or changed."""
    taken: int = 0
    """Files that became memories."""
    revised: int = 0
    """Memories that were changed as their files were."""
    archived: int = 0
    """Memories that were archived, because their files were deleted or moved to the archive."""
    restored: int = 0
    moved: int = 0
    """Files that were moved, by a person or by biem."""
    removed: int = 0
    """Files of erased memories that were deleted."""
    sessions: int = 0
    """Files of sessions that biem wrote or deleted."""
    troubled: int = 0
    """Files that are broken or held, or refused."""
    strangers: int = 0
    """Files that wait for `adopt`."""
    held: int = 0
    """Files that vanished together with most others: nothing was archived; `accept_deletions` does it."""
    waiting: int = 0
    """Files that were changed a moment ago, as while a person types: a later sync reads them."""
    busy: bool = False
    """Whether another process was at it; then this one did nothing."""
    reason: str = ""
    """Why the sync did not come to its end; empty if it did."""

    @property
    def counts(self) -> dict[str, int]:
        """The counts by name."""
        return {name: value for name in self.__slots__ if type(value := getattr(self, name)) is int}

    @property
    def altered(self) -> int:
        """The number of changes, of files and of memories."""
        changed = self.written + self.taken + self.revised + self.archived
        return changed + self.restored + self.moved + self.removed + self.sessions


@dataclass(frozen=True, slots=True)
class MirrorStatus:
    """A root with the number of its files by state, and those that need a person, with the reason."""

    root: MirrorRoot
    files: Mapping[str, int]
    troubled: tuple[tuple[str, str, str], ...] = ()
    """Path, state and reason."""
    waiting: int = 0
    """Memories whose files are not up to date."""
