"""The direction of a journey: what is said of the way back is not said of the way there."""

import re

from biem.adapters.contradiction.reading import Reading

_GOES = r"\b(?:flight|train|bus|coach|ferry|plane|boat|ride|drive|journey|trip|way|connection)\b"
_RETURNS = re.compile(
    rf"{_GOES}\s(?:back|home|from)\b(?!(?:\s(?-i:[A-Z])[a-z]+){{1,2}}\sto\s)|\b(?:return|inbound|homeward)\s[a-z]"
    r"|回来的|返回的|回程|返程|从[^，。！？]{1,6}(?:回来?|返)",
    re.IGNORECASE,
)
_LEAVES = re.compile(
    rf"{_GOES}\s(?:out|there|to)\b(?!\s(?:and\s)?(?:back|return))|\b(?:outbound|outward)\s[a-z]"
    r"|去程|(?:去|往|飞|到)(?!年)[^，。！？的]{1,6}的?(?:火车|高铁|动车|航班|飞机|船|车票|机票|大巴|轮渡)",
    re.IGNORECASE,
)


def opposed(one: Reading, other: Reading) -> bool:
    """Whether one is about the way there and the other about the way back."""
    return any(
        _LEAVES.search(there.text) and _RETURNS.search(back.text) and not _RETURNS.search(there.text)
        for there, back in ((one, other), (other, one))
    )


def returns(text: str) -> bool:
    """Whether it is about the way back."""
    return _RETURNS.search(text) is not None
