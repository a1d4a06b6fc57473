"""Relatives that one English word names and Chinese distinguishes: 表哥 and 表妹 are cousins, but two persons."""

import re

_ONE = (
    "表哥", "表姐", "表弟", "表妹", "堂哥", "堂姐", "堂弟", "堂妹", "舅舅", "舅妈 舅母", "叔叔", "婶婶 婶子",
    "伯伯 大伯 伯父", "伯母", "姑姑 姑妈 姑母", "姑父 姑丈", "姨妈 小姨 大姨", "姨父 姨夫", "侄子", "侄女", "外甥女",
    "外甥", "姐夫", "妹夫", "嫂子", "弟媳", "小姨子", "小舅子",
)  # fmt: skip
"""Words of one person each."""
_PERSON = {word: line.split()[0] for line in _ONE for word in line.split()}
_WORDS = re.compile("|".join(sorted(_PERSON, key=len, reverse=True)))
_OF_ANOTHER = re.compile("夫|丈|家的?[儿女孩]|的[儿女孩老妈爸]")
"""After such a word another person is named: 表姐夫, 表姐的女儿."""


def distinguished(text: str) -> frozenset[str]:
    """The relatives that a Chinese text distinguishes, each by one word."""
    found = (one for one in _WORDS.finditer(text) if _OF_ANOTHER.match(text, one.end()) is None)
    return frozenset(_PERSON[one.group()] for one in found)


def are_other_relatives(text: str, other: str) -> bool:
    """Whether both texts distinguish relatives, and have none in common."""
    one = distinguished(text)
    return bool(one) and bool(two := distinguished(other)) and one.isdisjoint(two)
