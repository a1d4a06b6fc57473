"""Whether a line tells of one occasion, and another of what holds otherwise: "this week only", 这周临时."""

import re
from functools import lru_cache
from typing import NamedTuple

_ENDS = re.compile(
    r"\btemporarily\b|(?<!been )(?<!\baim )(?<!\baiming )(?<!\basking )(?<!\bhoping )(?<!\bwaiting )"
    r"\bfor (?:the next |another |about )?"
    r"(?:an?|one|two|three|four|five|six|seven|eight|ten|a few|a couple of|some|\d{1,2}) "
    r"(?:hours?|days?|nights?|weeks?|weekends?|months?)\b(?! now)"
    r"|这[几两三]天|暂时|临时(?![有占加接起出]|取消|决定|通知)|先凑合|[到住]?到?(?:周|星期|礼拜|下周|月)[一二三四五六日天底]?(?:为止|回[去来]|就回)",
    re.IGNORECASE,
)
"""Limits the text to a time that ends."""
_ON_A_DAY = re.compile(
    r"\bthis (?:week|month|weekend|once|time|(?:mon|tues|wednes|thurs|fri|satur|sun)day|morning|afternoon|evening)\b"
    r"|\b(?:today|tonight|tomorrow)\b|\bfor once\b"
    r"|[就只仅]?[这本]一?个?(?:周|星期|礼拜|回|次)(?!起|开始)|[今明后]天|今晚|明晚|明早",
    re.IGNORECASE,
)
"""One occasion, or the day of a lasting change."""
_LASTING = re.compile(
    r"\bfrom (?:now|today|tomorrow|this|next)\b|\bpermanent|\bfor good\b|\bas of\b|\bstarting\b"
    r"|\bno longer\b|\b(?:my|the|our) (?:very )?last (?:lesson|session|class|dose|shift|day)\b"
    r"|[周月天]起|开始|以后都|从|结束|最后一[次针节堂天]",
    re.IGNORECASE,
)
"""What begins or ends then for good."""
_HABIT = re.compile(
    r"\b(?:every|each|always|usually|normally|generally)\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days\b"
    r"|每|平时|平常|通常|一般|总是|都是",
    re.IGNORECASE,
)


def is_exception(newer: str, older: str) -> bool:
    """Whether the newer text tells of one occasion, and the older what holds otherwise.

    "Choir is on Thursday this week" ends no "choir is on Tuesdays"; but "I moved out today" may end what has no mark of
    a habit.
    """
    new, old = _read(newer), _read(older)
    if not new.passes or new.lasts or (old.passes and not old.lasts):
        return False
    return new.ends or old.repeats


class _Occasion(NamedTuple):
    ends: bool
    passes: bool
    lasts: bool
    repeats: bool


@lru_cache(2_048)
def _read(text: str) -> _Occasion:
    ends = _ENDS.search(text) is not None
    passes = ends or _ON_A_DAY.search(text) is not None
    return _Occasion(ends, passes, _LASTING.search(text) is not None, _HABIT.search(text) is not None)
