"""The values that a memory had before it was revised, and has now."""

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from biem.domain.trust import UNTRUSTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """One revision of a memory: its values from `made_at` until `stood_until`."""

    revision: int
    """1 as written; each change adds 1."""
    made_at: datetime
    stood_until: datetime | None = None
    """When the next revision replaced it; None for the present one."""
    by: str = ""
    """What made it: `revise`, `revert`, or a name of the caller's; empty for the first."""
    text: str
    kind: str
    tags: tuple[str, ...] = ()
    reason: str = ""
    importance: float = 3.0
    speaker: str = ""
    at: datetime
    layer: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    expires_at: datetime | None = None
    on_expiry: str = "archive"
    trust: str = "trusted"


class Unchanged:
    """The type of `UNCHANGED`."""

    def __repr__(self) -> str:
        return "UNCHANGED"


UNCHANGED = Unchanged()
"""Stands for a value that is not given, where None is one."""
REVISABLE = (
    "text", "kind", "tags", "reason", "importance", "speaker", "at", "layer", "metadata",
    "expires_at", "on_expiry", "trust",
)  # fmt: skip
"""The fields of a memory that a revision may change."""
INDEXED = frozenset({"text", "kind", "tags", "speaker", "at"})
"""Those that are embedded, analysed or indexed."""
SAID = frozenset({"text", "speaker"})
"""Those that say what it says: links, conflicts and concepts made of it are formed anew."""


def judged_anew(changed: Set[str], before: str, trust: str) -> bool:
    """Whether a revision changes what a memory says, or whether it is believed at all: `trust` was `before`."""
    return bool(changed & SAID) or (before == UNTRUSTED) != (trust == UNTRUSTED)
