"""Times as other programs write them."""

import math
from datetime import UTC, datetime, timedelta

from biem.errors import InvalidInput

_MILLISECONDS = 1e11
"""Numbers above are milliseconds since 1970: as seconds they would lie after the year 5000."""
_EARLIEST = 1900


class Times:
    """The times of one conversation, in the order of its turns."""

    __slots__ = ("_last", "_repeats")

    def __init__(self) -> None:
        self._last: datetime | None = None
        self._repeats = 0

    def in_order(self, at: datetime) -> datetime:
        """Equal times, as of whole sessions, become one microsecond apart, which keeps the order of the turns."""
        self._repeats = self._repeats + 1 if self._last == at else 0
        self._last = at
        return at + timedelta(microseconds=self._repeats)


def parse_time(value: object, what: str) -> datetime:
    """An aware time from ISO 8601 (without an offset: UTC) or from seconds or milliseconds since 1970."""
    problem = (
        f"{what} is not a time: {value!r}; write it like 2025-03-14, 2025-03-14T15:09 or 2025-03-14T15:09:26+08:00"
    )
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value.strip())
        elif isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            moment = datetime.fromtimestamp(value / 1000 if abs(value) >= _MILLISECONDS else value, tz=UTC)
        else:
            raise InvalidInput(problem)
    except (ValueError, OverflowError, OSError):
        raise InvalidInput(problem) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def time_or_none(value: object) -> datetime | None:
    """As `parse_time`; None for values that are no time of a memory."""
    try:
        moment = parse_time(value, "it").astimezone(UTC)
    except (InvalidInput, OverflowError):
        return None
    return moment if moment.year >= _EARLIEST else None


def first_time(*values: object) -> datetime | None:
    """The first of these values that is a time."""
    return next((moment for moment in map(time_or_none, values) if moment is not None), None)
