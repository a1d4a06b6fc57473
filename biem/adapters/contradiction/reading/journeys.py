"""The direction of a journey: what is said of the way back is not said of the way there."""

import re

from biem.adapters.contradiction.reading.reader import Reading

_GOES = (
    r"\b(?:flight|train|bus|coach|ferry|plane|boat|ride|drive|driving|journey|trip|way|connection|crossing"
    r"|com(?:e|ing)|fly(?:ing)?|sail(?:ing)?)\b"
)
_RETURNS = re.compile(
    rf"{_GOES}\s(?:back|home|(?<!\bcome )(?<!\bcoming )from|down from)\b(?!(?:\s(?-i:[A-Z])[a-z]+){{1,2}}\sto\s)"
    r"|\b(?:return|inbound|homeward)\s[a-z]"
    r"|回来的|返回的|回程|返程|回国的|回家的|下山|从[^，。！？]{1,6}(?:回来?|返)",
    re.IGNORECASE,
)
_LEAVES = re.compile(
    rf"{_GOES}\s(?:out|there|to)\b(?!\s(?:and\s)?(?:back|return))|\b(?:outbound|outward)\s[a-z]"
    r"|去程|(?:去|往|飞|到)(?!年)[^，。！？的]{1,6}的?(?:火车|高铁|动车|航班|飞机|船|车票|机票|大巴|轮渡)",
    re.IGNORECASE,
)


def opposed(older: Reading, newer: Reading) -> bool:
    """Whether only the newer is about a way back, or the older is and the newer about the way there."""
    if returns(newer.text):
        return not returns(older.text)
    return returns(older.text) and _LEAVES.search(newer.text) is not None


def returns(text: str) -> bool:
    """Whether it is about the way back."""
    return _RETURNS.search(text) is not None
