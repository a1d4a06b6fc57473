"""Dates of documents, as front matter and file names have them."""

import re
from datetime import UTC, datetime

from biem.domain.times.spans import DAY
from biem.domain.times.windows import windows

_DAY = re.compile(
    r"(?<!\d)(?P<year>(?:19|20)\d\d)(?:(?P<mark>[-_./])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})"
    r"|(?P<month2>\d\d)(?P<day2>\d\d)|年(?P<month3>\d{1,2})月(?P<day3>\d{1,2})日?)(?!\d)"
)
_TIME = re.compile(r"[T\s]{1,4}\d{1,2}:\d\d")
_MOMENT = re.compile(r"((?:19|20)\d{6})T?[0-2]\d[0-5]\d(?:[0-5]\d)?(?!\d)")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_CLOCK = datetime(1800, 1, 1, tzinfo=UTC)
"""A date that is read with it has its own year, or none that a text names."""
_MOST_CHARS = 200


def date_of(text: str) -> datetime | None:
    """The first day that a text names, such as 2025-03-14, 20250314, 2025/03/14, 2025年3月14日, or else
    March 14, 2025.

    Where the text is an ISO 8601 time it is that moment; without an offset it is taken as UTC.
    """
    text = text[:_MOST_CHARS].strip()
    if _TIME.search(text):
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            pass
        else:
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) if 1900 <= moment.year < 2100 else None
    for found in _DAY.finditer(text):
        year = int(found["year"])
        month = int(found["month"] or found["month2"] or found["month3"])
        day = int(found["day"] or found["day2"] or found["day3"])
        try:
            return datetime(year, month, day, tzinfo=UTC)
        except ValueError:
            continue
    named = windows(text, _CLOCK) if _YEAR.search(text) else []
    return next((start for start, end in named if end - start == DAY and start.year > _CLOCK.year), None)


def date_of_path(path: str) -> datetime | None:
    """The day that a path names, the file name first: `journal/2025/03/14.md`, `2025-03-14 meeting.md`; also the time
    that a card is known by, `202503140930 hydration.md`.
    """
    stem = path.rpartition("/")[2].rpartition(".")[0]
    if known := _MOMENT.match(stem):
        stem = known[1]
    return date_of(stem) or date_of(path.rpartition(".")[0][-_MOST_CHARS:])
