"""Time expressions relative to holidays: 春节前, "after Christmas", 国庆期间.

Only with a word for before, during or after: "what shall I give her for Christmas?" names no time of a memory.
"""

import re
from datetime import UTC, datetime, timedelta

from biem.domain.times.spans import DAY, Match, Reader, Window

_NEAR = 30 * DAY
"""The span before or after a holiday."""
_AHEAD = timedelta(days=7)
FIXED = {
    "元旦": (1, 1, 3), "情人节": (2, 14, 1), "妇女节": (3, 8, 1), "五一": (5, 1, 5), "劳动节": (5, 1, 5),
    "六一": (6, 1, 1), "儿童节": (6, 1, 1), "国庆": (10, 1, 7), "双十一": (11, 11, 1), "圣诞": (12, 24, 3),
    "christmas": (12, 24, 3), "new year": (12, 31, 2), "halloween": (10, 31, 1), "valentine": (2, 14, 1),
}  # fmt: skip
"""Month, day and number of days."""
_SPRING = (
    "2015-02-19 2016-02-08 2017-01-28 2018-02-16 2019-02-05 2020-01-25 2021-02-12 2022-02-01 2023-01-22 "
    "2024-02-10 2025-01-29 2026-02-17 2027-02-06 2028-01-26 2029-02-13 2030-02-03 2031-01-23 2032-02-11 "
    "2033-01-31 2034-02-19"
)
_MIDAUTUMN = (
    "2015-09-27 2016-09-15 2017-10-04 2018-09-24 2019-09-13 2020-10-01 2021-09-21 2022-09-10 2023-09-29 "
    "2024-09-17 2025-10-06 2026-09-25 2027-09-15 2028-10-03 2029-09-22 2030-09-12"
)
SPRING_FESTIVAL, MID_AUTUMN = (
    [datetime.fromisoformat(day).replace(tzinfo=UTC) for day in table.split()] for table in (_SPRING, _MIDAUTUMN)
)
"""The days of these holidays by year."""
_LUNAR = {"春节": (8, SPRING_FESTIVAL), "过年": (8, SPRING_FESTIVAL), "中秋": (1, MID_AUTUMN)}
"""Holidays of the lunar calendar: number of days, and their dates by year."""
_NAMES = "|".join(sorted([*FIXED, *_LUNAR], key=lambda name: (-len(name), name)))


def _begins(name: str, clock: datetime) -> tuple[datetime, int] | None:
    """The latest one not more than a week ahead, and its number of days."""
    if name in FIXED:
        month, day, days = FIXED[name]
        known = [datetime(clock.year - back, month, day, tzinfo=UTC) for back in (0, 1)]
    else:
        days, table = _LUNAR[name]
        known = table[::-1]
    start = next((one for one in known if one <= clock + _AHEAD), None)
    return None if start is None else (start, days)


def _feast(match: Match, clock: datetime) -> Window | None:
    found = _begins(match["name"] or match["han"], clock)
    if found is None:
        return None
    start, end = found[0], found[0] + found[1] * DAY
    side = (match["side"] or match["han_side"]).removeprefix("之").removeprefix("以")
    if side in ("before", "前"):
        return start - _NEAR, start
    return (end, end + _NEAR) if side in ("after", "后") else (start, end)


FEASTS: tuple[tuple[re.Pattern[str], Reader], ...] = (
    (
        re.compile(
            rf"\b(?P<side>before|after|during|over)\s(?:the\s)?(?P<name>{_NAMES})"
            rf"|(?P<han>{_NAMES})节?(?:假期|长假)?(?:的时候)?(?P<han_side>[之以]?[前后](?![天年两几])|期间)"
        ),
        _feast,
    ),
)
