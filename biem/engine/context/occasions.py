"""Whether a line tells of one occasion, and another of what holds otherwise: "this week only", 这周临时."""

import re

_PASSING = re.compile(
    r"\bthis (?:week|month|weekend|once|time|(?:mon|tues|wednes|thurs|fri|satur|sun)day|morning|afternoon|evening)\b"
    r"|\b(?:today|tonight|tomorrow|meanwhile|temporarily)\b|\bin the meantime\b"
    r"|\bfor (?:now|once|the moment|the time being|today|tonight)\b"
    r"|\bfor (?:the next |another |about )?"
    r"(?:an?|one|two|three|four|five|six|seven|eight|ten|a few|a couple of|some|\d{1,2}) "
    r"(?:hours?|days?|nights?|weeks?|weekends?|months?)\b(?! now)"
    r"|\b(?:until|till) (?:the |next |this )?(?:mon|tues|wednes|thurs|fri|satur|sun|\d|end|week|month|beginning)"
    r"|[就只仅]?[这本]一?个?(?:周|星期|礼拜|回|次)(?!起|开始)|这[几两三]天|[今明后]天|今晚|明晚|明早|暂时|临时|先凑合"
    r"|[到住]?到?(?:周|星期|礼拜|下周|月)[一二三四五六日天底]?(?:为止|回[去来]|就回)",
    re.IGNORECASE,
)
"""Bounds what is told to a time that ends by itself."""
_ENDS = re.compile(
    r"\b(?:temporarily|meanwhile|in the meantime|for (?:now|the moment|the time being)|until|till)\b"
    r"|(?<!been )\bfor (?:the next )?(?:an?|one|two|three|four|five|six|\d{1,2}) (?:days?|nights?|weeks?)\b"
    r"|这[几两三]天|暂时|临时|先凑合|为止",
    re.IGNORECASE,
)
"""Says that it ends; without it, "today" may be the day of a lasting change."""
_LASTING = re.compile(
    r"\bfrom (?:now|today|tomorrow|this|next)\b|\bpermanent|\bfor good\b|\bas of\b|\bstarting\b"
    r"|[周月天]起|开始|以后都|从",
    re.IGNORECASE,
)
"""What begins then and goes on."""
_HABIT = re.compile(
    r"\b(?:every|each|always|usually|normally|generally)\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days\b"
    r"|每|平时|平常|通常|一般|总是|都是",
    re.IGNORECASE,
)
_AS_USUAL = re.compile(
    r"\b(?:usual(?:ly)?|normal(?:ly)?|generally|regular(?:ly)?)\b|平时|平常|通常|一般|正常", re.IGNORECASE
)


def is_exception(newer: str, older: str, asked: str) -> bool:
    """Whether the newer text tells of one occasion, and the older what holds otherwise, which is asked for.

    "Choir is on Thursday this week" ends no "choir is on Tuesdays"; but "I moved out today" may end what has no mark of
    a habit. False if the question, too, is about an occasion.
    """
    if not _is_passing(newer) or _is_passing(older) or _PASSING.search(asked):
        return False
    return bool(_ENDS.search(newer) or _AS_USUAL.search(asked) or _HABIT.search(older))


def _is_passing(text: str) -> bool:
    return _PASSING.search(text) is not None and _LASTING.search(text) is None
