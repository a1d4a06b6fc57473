"""The port `ProjectFinder`: folders of a disk, and Git's work trees."""

import os
import stat
from pathlib import Path

from biem.domain.mirror.project import KEY_CHARS, ProjectFolder
from biem.domain.text import require_clean
from biem.errors import InvalidInput

_MARKS = (".git", ".aimate", "go.mod", "package.json", "Cargo.toml")
_MOST_BYTES = 4_096
"""Of the small files that are read here."""
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class DiskProjects:
    """Stateless and thread-safe."""

    def __init__(self, home: Path | None = None) -> None:
        """`home`: the folder that is never a project; default: the user's."""
        self._home = home

    def find(self, path: str) -> ProjectFolder | None:
        """See `ProjectFinder.find`."""
        try:
            start = Path(path).expanduser().resolve(strict=True)
            home = (self._home or Path.home()).resolve()
        except (OSError, RuntimeError) as error:
            raise InvalidInput(f"{path} is no folder: {error}") from None
        if not start.is_dir():
            raise InvalidInput(f"{path} is no folder; name the project's folder")
        for folder in (start, *start.parents):
            if folder != home and any(os.path.lexists(folder / mark) for mark in _MARKS):
                return ProjectFolder(str(folder), str(_main(folder, home)), _key(folder))
        return None


def _key(root: Path) -> str:
    """The first line of `.aimate/project`; empty where there is none. No link is followed."""
    if (root / ".aimate").is_symlink():
        return ""
    key = _small(root / ".aimate" / "project").strip().partition("\n")[0].strip()
    if len(key) > KEY_CHARS:
        raise InvalidInput(f"{root}/.aimate/project has more than {KEY_CHARS} characters: write a short key there")
    require_clean(key, f"{root}/.aimate/project")
    return key


def _main(root: Path, home: Path) -> Path:
    """The same folder in the main work tree of the repository that it is part of; else itself."""
    for top in (root, *root.parents):
        if top == home:
            break
        if os.path.lexists(top / ".git"):
            return _main_work_tree(top) / root.relative_to(top)
    return root


def _main_work_tree(top: Path) -> Path:
    """Of a worktree: the work tree whose repository knows it. Everything else is its own."""
    words = _small(top / ".git")
    if not words.startswith("gitdir:"):
        return top
    try:
        here = (top / words.removeprefix("gitdir:").strip()).resolve(strict=True)
        back = Path(_small(here / "gitdir").strip())
        if not back.is_absolute():
            back = here / back
        if back.resolve(strict=True) != (top / ".git").resolve():
            return top  # it claims to be of a repository that does not know it
        common = (here / _small(here / "commondir").strip()).resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        return top
    if here.parent != common / "worktrees":
        return top
    return common.parent if common.name == ".git" else common


def _small(file: Path) -> str:
    """The text of a small regular file; empty where there is none."""
    try:
        handle = os.open(file, _FLAGS)
    except OSError:
        return ""
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        return ""
    with os.fdopen(handle, "rb") as stream:
        data = stream.read(_MOST_BYTES)
    return data.decode("utf-8-sig", errors="replace")
