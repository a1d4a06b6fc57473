"""Categories of kept statements: data, so that a new one needs no code."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from biem.domain.node import KINDS, LAYERS

TTL_DAYS = (7, 30)
"""Least and greatest number of days after which a short-term category expires by default."""
_NAME = re.compile("[a-z_]{1,32}")
_FIELDS = ("kind", "layer", "ttl_days", "folder", "patterns")


@dataclass(frozen=True, slots=True)
class Category:
    """How statements of one category are kept.

    `ttl_days`: they expire after so many days; None: their retention decides. `folder`: where a mirror of files puts
    them. `patterns`: regular expressions that recognise a statement, in addition to the built-in rules.
    """

    name: str
    kind: str
    layer: str
    ttl_days: float | None = None
    folder: str = ""
    patterns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"a category's name has 1 to 32 lower-case letters or _, not {self.name!r:.60}")
        if self.kind not in KINDS or self.layer not in LAYERS:
            raise ValueError(
                f"category {self.name}: kind is one of {', '.join(KINDS)} and layer one of {', '.join(LAYERS)}"
            )
        if self.ttl_days is not None and not 0 < self.ttl_days <= 36_500:
            raise ValueError(f"category {self.name}: ttl_days is above 0 and at most 36,500")
        for pattern in self.patterns:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"category {self.name}: {pattern!r:.80} is no regular expression: {error}") from None


BUILT_IN: Mapping[str, Category] = MappingProxyType({
    one.name: one
    for one in (
        Category("preference", "knowledge", "core", folder="core"),
        Category("rule", "knowledge", "core", folder="core"),
        Category("persona", "knowledge", "core", folder="core"),
        Category("task", "task", "short_term", folder="short_term/tasks"),
        Category("note", "event", "short_term", folder="short_term/notes"),
        Category("context", "event", "short_term", folder="short_term/contexts"),
        Category("project", "knowledge", "long_term", folder="long_term/projects"),
        Category("decision", "knowledge", "long_term", folder="long_term/decisions"),
        Category("knowledge", "knowledge", "long_term", folder="long_term/knowledge"),
    )
})  # fmt: skip
"""AIMate's categories, by name."""


def categories_of(given: Mapping[str, Any], ttl_days: float | None = None) -> dict[str, Category]:
    """The built-in categories and those of a setting: by name, an object with kind, layer, ttl_days, folder, patterns.

    `ttl_days`, 7 to 30: for short-term categories without days of their own; None: these do not expire. Raises
    `ValueError`.
    """
    if ttl_days is not None and not TTL_DAYS[0] <= ttl_days <= TTL_DAYS[1]:
        raise ValueError(f"ttl_days is from {TTL_DAYS[0]} to {TTL_DAYS[1]}, not {ttl_days:g}")
    found = dict(BUILT_IN)
    for name, values in given.items():
        if not isinstance(values, Mapping) or (unknown := sorted(values.keys() - set(_FIELDS))):
            what = f"{unknown[0]!r} is unknown; " if isinstance(values, Mapping) else ""
            raise ValueError(f"category {name}: {what}give an object with {', '.join(_FIELDS)}")
        patterns: Sequence[str] = values.get("patterns", ())
        if isinstance(patterns, str) or not all(isinstance(pattern, str) for pattern in patterns):
            raise ValueError(f"category {name}: patterns is a list of regular expressions")
        former = found.get(name, Category(name, "knowledge", "long_term"))
        found[name] = Category(
            name,
            values.get("kind", former.kind),
            values.get("layer", former.layer),
            values.get("ttl_days", former.ttl_days),
            values.get("folder", former.folder),
            tuple(patterns),
        )
    return {
        name: replace(one, ttl_days=ttl_days) if one.layer == "short_term" and one.ttl_days is None else one
        for name, one in found.items()
    }
