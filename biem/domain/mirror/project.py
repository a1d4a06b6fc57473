"""A project: the key of its memories, and the folders that open them."""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath

KEY_CHARS = 200
_DIGITS = 8


@dataclass(frozen=True, slots=True)
class ProjectFolder:
    """A folder that is part of a project.

    `root` is the project's folder, `main` that of the main work tree: worktrees of one repository have the same.
    `key` is from the file `.aimate/project`; empty where there is none.
    """

    root: str
    main: str
    key: str = ""

    @property
    def own_key(self) -> str:
        """The key of a project that names none: the folder's name and digits that no other folder has."""
        return path_key(self.main)


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A project of a user. `key` is the project of its scope: `memory.scope(project=key)`."""

    key: str
    name: str
    """To be shown."""
    roots: tuple[tuple[str, str], ...] = ()
    """Machine and main work tree of each folder that opens it."""
    created_at: datetime | None = None


def path_key(path: str, digits: int = _DIGITS) -> str:
    """A key made of a path."""
    name = PurePath(path).name[: KEY_CHARS - 2 * _DIGITS - 1] or "root"
    return f"{name}-{hashlib.sha256(path.encode(errors='surrogatepass')).hexdigest()[:digits]}"
