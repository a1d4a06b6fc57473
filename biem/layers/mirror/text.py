"""A mirrored file as it was read."""

from dataclasses import dataclass, field
from datetime import datetime

from biem.domain.mirror.root import Fields
from biem.layers.mirror.front import ParsedFront


@dataclass(frozen=True, slots=True)
class MirrorText:
    """A file as it was read. `id` is None where it names none; `at` is when it was created, if it says so.

    `problem` says why it cannot be read, `line` where; then it has no fields.
    """

    fields: Fields = field(default_factory=dict)
    id: str | None = None
    at: datetime | None = None
    front: ParsedFront = field(default_factory=ParsedFront)
    breaks: str = "\n"
    """Its line breaks."""
    mark: bool = False
    """Whether it begins with a byte order mark."""
    problem: str = ""
    line: int = 0
