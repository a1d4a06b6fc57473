"""Numbers by their kind: amounts of a unit, dates, times."""

import re

SMALL = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def unit(number: str) -> str:
    """Unit of a canonical number: `¥`, `h`, `time`, `date` … or empty."""
    if re.fullmatch(r"\d\d:\d\d", number):
        return "time"
    if re.fullmatch(r"(?:\d{4}-)?\d\d-\d\d|\d{4}-\d\d", number):
        return "date"
    return re.sub(r"[\d.,-]", "", number)
