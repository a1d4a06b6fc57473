"""Projects: where they are on the disk, and which folder opens which."""

from typing import Protocol

from biem.domain.mirror.project import Project, ProjectFolder
from biem.domain.scope import Scope


class ProjectFinder(Protocol):
    """Looks for the project that a folder is part of."""

    def find(self, path: str) -> ProjectFolder | None:
        """The nearest folder, from this one upwards, that has `.git`, `.aimate`, `go.mod`, `package.json` or
        `Cargo.toml`; the home folder never counts. None where there is none.

        Nothing that the folder says is believed about other folders: a worktree counts as one only where its repository
        knows it. Raises `InvalidInput` for a path that is no folder, and for a key that is no name.
        """


class ProjectRecords(Protocol):
    """Projects of users in PostgreSQL. `own` is a user's own level."""

    def open(self, own: Scope, host: str, root: str, key: str) -> str | None:
        """The key that this folder opens: that which it was linked to, else `key`, which is its own from now on.

        None, with nothing changed, where another folder, or memories that no folder opened, have this key.
        """

    def link(self, own: Scope, host: str, root: str, key: str) -> None:
        """Let a folder open a project, also one that others have."""

    def rename(self, own: Scope, key: str, name: str) -> bool:
        """Change the name that is shown; False if there is no such project."""

    def listed(self, own: Scope) -> list[Project]:
        """The projects of a user, by name."""
