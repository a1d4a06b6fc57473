"""Questions that name a time and nothing else ("What happened on 14 March?"), and headings that are a day."""

import re
from datetime import datetime
from functools import lru_cache

from biem.domain.times.spans import DAY
from biem.domain.times.windows import beside, windows

_LONGEST_HEADING = 60
_HEADINGS = 8_192
"""Those whose days are kept."""
_EMPTY = re.compile(
    r"\b(?:what|who|where|how|which|is|was|were|are|did|do|does|have|has|had|happen(?:ed|s)?|occur(?:red|s)?|going|went|go"
    r"|i|we|you|he|she|they|me|my|mine|us|our|your|it|there|the|a|an|that|this|day|date|days|on|in|at|of|for|from"
    r"|during|to|up|with|and|about|tell|show|list|give|find|read|see|look|write|wrote|written|note[sd]?|journals?"
    r"|diary|diaries|log(?:s|ged|book)?|entry|entries|daily|any|all|any ?thing|something|everything|please)\b"
    r"|我们?|你|他|她|它|都|也|就|那|这|一?天|日期|当天|当日|做了?|干了?|发生了?|写了?|记了?|记录|日[记志]|笔记|什么|啥|哪些"
    r"|事情?|有|没|的|了|过|在|是|和|给|说|看看?|查|吗|呢|吧|呀|怎么样|如何|情况|请"
)
_WEEKDAY = re.compile(
    r"\b(?:mon|tue(?:s)?|wed(?:nes)?|thu(?:r|rs)?|fri|sat(?:ur)?|sun)(?:day)?\b|(?:星期|礼拜|周)[一二三四五六日天]"
)
_WORD = re.compile(r"\w")


def asks_for_a_time_only(rest: str) -> bool:
    """Whether `rest`, what a question says beside its times (`beside`), says nothing: "what happened on", 做了什么."""
    return _WORD.search(_EMPTY.sub(" ", _WEEKDAY.sub(" ", rest))) is None


def day_of_heading(heading: str, clock: datetime) -> datetime | None:
    """The beginning of the day that a heading is, as `2026-03-14`, `Saturday, 14 March` or `3月14日 周六`.

    Without a year it is the latest by `clock`. None for a heading that says anything else.
    """
    if len(heading) > _LONGEST_HEADING:
        return None
    return _day(heading, clock.replace(minute=0, second=0, microsecond=0))


@lru_cache(_HEADINGS)
def _day(heading: str, clock: datetime) -> datetime | None:
    """A search reads a hundred headings, most of them as the search before did. No day begins within an hour."""
    named = _WEEKDAY.sub(" ", heading.lower())
    found = windows(named, clock)
    if len(found) != 1 or found[0][1] - found[0][0] != DAY or _WORD.search(beside(named, clock)):
        return None
    return found[0][0]
