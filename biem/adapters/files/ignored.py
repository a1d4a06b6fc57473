"""Which files of a library are no notes: hidden and temporary ones, and what ignore files name."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from pathspec import GitIgnoreSpec

IGNORE_FILES = (".gitignore", ".biemignore")
_TEMPORARY = re.compile(r"^\.|~$|^~\$|^#.*#$")
_CONFLICT = re.compile(
    r"\.sync-conflict-\d{8}-\d{6}|_conflict-\d{8}-\d{6}"
    r"|[(（][^()（）]{0,80}(?:conflicted copy|冲突副本|衝突副本|衝突複本)[^()（）]{0,80}[)）]"
    r"|\((?:SFConflict |NSConflict-)[^()]{0,120}\)",
    re.IGNORECASE,
)
"""Syncthing, ownCloud, Dropbox, Nextcloud, Obsidian, Seafile and Nutstore keep both versions of a file side by side."""
FILLED_BY_PROGRAMS = ("node_modules/", "**/logseq/bak/", "**/logseq/version-files/")
"""Patterns of folders whose files are no notes of a person: packages, and former versions of the pages of Logseq."""


def is_temporary(name: str) -> bool:
    """Whether a file or folder of this name is hidden, temporary, a backup or a conflict copy."""
    return _TEMPORARY.search(name) is not None or _CONFLICT.search(name) is not None


class IgnoreRules:
    """The patterns that hold in a folder: those of the caller and of the ignore files in it and above it.

    As in Git, a pattern is relative to the folder of its file, and the one nearest to a path decides.
    """

    __slots__ = ("_levels",)

    def __init__(self, levels: Sequence["_Level"] = ()) -> None:
        self._levels = tuple(levels)

    def and_of(self, folder: str, lines: Iterable[str]) -> "IgnoreRules":
        """These rules and those of lines of an ignore file in `folder`, a relative path that is empty or ends in `/`.

        A line that is no pattern is left out.
        """
        spec = GitIgnoreSpec.from_lines([line for line in lines if _is_pattern(line)])
        searches = tuple(one.regex.search for one in spec.patterns if one.include is not None and one.regex is not None)
        return IgnoreRules([*self._levels, _Level(folder, spec, searches)]) if len(spec) else self

    def hide(self, path: str) -> bool:
        """Whether they name this relative path; that of a folder ends in `/`."""
        for level in reversed(self._levels):
            inside = path[len(level.folder) :]
            for search in level.searches:
                if search(inside) is not None:
                    decided = level.spec.check_file(inside).include
                    if decided is not None:
                        return decided
                    break
        return False


class _Level(NamedTuple):
    """Patterns of one folder; they decide nothing about a path that none of their expressions finds. Most paths are
    such, and to find it out by the patterns themselves took half of a walk.
    """

    folder: str
    spec: GitIgnoreSpec
    searches: tuple[Callable[[str], object], ...]


def _is_pattern(line: str) -> bool:
    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True
