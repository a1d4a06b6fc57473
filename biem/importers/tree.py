"""Conversations whose messages form a tree: each edited question and each repeated answer opens a branch."""

from collections.abc import Iterable, Mapping


def path_to(leaf: str | None, parents: Mapping[str, str | None]) -> list[str]:
    """The ids from the root to `leaf`; ends where a parent is unknown or, in a damaged tree, was passed before."""
    path: dict[str, None] = {}
    while leaf is not None and leaf in parents and leaf not in path:
        path[leaf] = None
        leaf = parents[leaf]
    return list(path)[::-1]


def newest_leaf(parents: Mapping[str, str | None], times: Mapping[str, float]) -> str | None:
    """The node without children that was written last; of equal ones, the last named. For trees that do not say."""
    inner = {parent for parent in parents.values() if parent is not None}
    leaves: Iterable[str] = [node for node in parents if node not in inner] or list(parents)
    return max(enumerate(leaves), key=lambda place: (times.get(place[1], 0.0), place[0]), default=(0, None))[1]
