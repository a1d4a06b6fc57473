"""Chinese messages whose subject stands in a message before: 是飞鸽的，骑了十年了, 他在三班."""

import re

_NUMBER = "[0-9一二两三四五六七八九十百千半]"
_OPENING = (
    r"\W*(?:(?![我你])[\u4e00-\u9fff]{1,3}[，,]\s*)?"
    r"(?:(?:嗯|对了?|哦|噢|啊|没错|不对|不是|哎|唉|其实|后来|现在|目前|刚才?|[今昨]天|早上|晚上|平时|上次)[，,\s]*){0,3}"
)
_PRONOUN = r"(?:[他她它]们?|[这那][个只台辆款家条件位]?(?=是|叫|姓))"
_STATES = (
    r"(?:是(?!不是|的[，,]|啊|吗|我)|叫(?!我)|姓|一共|总共|平均|大[概约]|差不多"
    rf"|(?:[得要用]了?|[得要][开坐走骑等])(?={_NUMBER})|在(?![我这那]|[\u4e00-\u9fff]{{0,12}}[开当做工上租买住]))"
)
_OPENS = re.compile(rf"{_OPENING}(?:{_PRONOUN}|{_STATES})")
_LATER = re.compile(r"[，。；,;][^，。；,;]{0,2}[他她它]")
_COUNTS = re.compile(r"[^，。；,;！!？?第]{0,3}[0-9一二两三四五六七八九十百千]")
_BRIEF = 40
"""Maximum characters of a message that names nothing: a longer one says what it is about."""


def lacks_subject(text: str) -> bool:
    """Whether a Chinese message begins with a pronoun, or with a statement that does not say of what."""
    return _OPENS.match(text) is not None


def may_lack_subject(text: str) -> bool:
    """Whether a brief message names a person or thing by a pronoun alone, or begins with a number, unless it names
    one otherwise.
    """
    return len(text) <= _BRIEF and (names_by_pronoun(text) or _COUNTS.match(text) is not None)


def names_by_pronoun(text: str) -> bool:
    """Whether a later clause of a Chinese message begins with a pronoun."""
    return _LATER.search(text) is not None
