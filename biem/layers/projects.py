"""The projects of a user: `memory.projects`."""

from os import PathLike, fspath
from pathlib import Path

from biem.domain.mirror.project import KEY_CHARS, Project, ProjectFolder, path_key
from biem.domain.scope import Scope
from biem.domain.text import require_clean, require_string
from biem.errors import InvalidInput, NotFound
from biem.ports.layers.projects import ProjectFinder, ProjectRecords

_LONG_DIGITS = 16


class Projects:
    """Which project a folder is, and which folders open it.

    A project is named by the file `.aimate/project` in its folder, which clones and machines share, else by its main
    work tree, which worktrees share. A key that another folder has opens nothing to a new one until `link` says so:
    a stranger's clone may name any key.
    """

    def __init__(
        self, finder: ProjectFinder, records: ProjectRecords, scope: Scope, *, host: str, fixed: str = ""
    ) -> None:
        """`fixed`: the key that the settings name, if they do; it is that of every folder."""
        self._finder = finder
        self._records = records
        self._own = Scope(scope.tenant, scope.user)
        self._host = host
        self._fixed = fixed

    def find(self, folder: str | PathLike[str]) -> ProjectFolder | None:
        """The project's folder that a folder is in, with the key that it names; None where it is in none.

        Nothing is opened by this. Raises `InvalidInput`.
        """
        return self._finder.find(_path(folder))

    def open(self, folder: str | PathLike[str]) -> str:
        """The key of a folder's project, for `memory.scope(project=key)`.

        Raises `NotFound` where the folder is in no project, and `InvalidInput` where its key belongs to another folder.
        """
        if self._fixed:
            return self._fixed
        found = self.find(folder)
        if found is None:
            raise NotFound(
                f"{fspath(folder)} is in no project: no folder from there upwards has .git, .aimate, go.mod, "
                "package.json or Cargo.toml"
            )
        for key in (found.key,) if found.key else (found.own_key, path_key(found.main, _LONG_DIGITS)):
            opened = self._records.open(self._own, self._host, found.main, key)
            if opened is not None:
                return opened
        raise InvalidInput(
            f"the key {found.key or found.own_key!r} of {found.root} belongs to another folder; if this is the same "
            f"project, run `biem project link {found.root} {found.key or found.own_key}`"
        )

    def link(self, folder: str | PathLike[str], key: str) -> Project:
        """Let a folder open a project, also one that others have: it then reads and writes its memories."""
        require_string(key, "key")
        require_clean(key, "key")
        if not key.strip() or len(key) > KEY_CHARS:
            raise InvalidInput(f"a key has 1 to {KEY_CHARS} characters")
        found = self.find(folder)
        self._records.link(self._own, self._host, found.main if found else _path(folder), key)
        return next(project for project in self.list() if project.key == key)

    def list(self) -> list[Project]:
        """The projects of the user that folders opened, by name."""
        return self._records.listed(self._own)

    def rename(self, key: str, name: str) -> None:
        """Change the name that is shown; the key, and with it all memories, stay. Raises `NotFound`."""
        require_string(name, "name")
        require_clean(name, "name")
        if len(name) > KEY_CHARS:
            raise InvalidInput(f"a name has at most {KEY_CHARS} characters")
        if not self._records.rename(self._own, key, name.strip()):
            raise NotFound(f"no folder opened a project {key!r}; `biem project list` names them")


def _path(folder: str | PathLike[str]) -> str:
    path = fspath(folder)
    require_string(path, "folder")
    if "\0" in path or not path.strip():
        raise InvalidInput(f"{path!r} is no folder; give its path")
    return str(Path(path).expanduser())
