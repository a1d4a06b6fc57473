"""Corrections right after the message, whose value stands in one clause beside excuses: "Misread my tape, it's 480"."""

import re
from collections.abc import Callable

from biem.adapters.contradiction.changes.clause_words import ClauseWords, OlderWords
from biem.adapters.contradiction.lexicon import marks
from biem.adapters.contradiction.statements.core import Core
from biem.adapters.contradiction.statements.number_kinds import by_kind, comparable

SLIP = re.compile(
    r"\b(?:make (?:that|it)|meant|wrong|misread|mistyped|mixed|typo|fat fingers|slip|scratch that|scrap that"
    r"|ignore that|strike that|correction|looked|checked|(?:just|only) (?:asked|found|looked|checked)|can['’]?t count"
    r"|can not count|no wait|wait|oops|sorry|my head|forgot(?:ten)?)\b|^\*|^no(?=[,.!]| wait| sorry|$)"
    "|不对|说错|记错|写错|打错|看错|算错|搞错|弄错|说反|记反|记岔|记混|看串|串行|手滑|口误|笔误|更正|更准确"
    "|应该是|翻了下|查了下|对了下|量了下|看了下|刚[对翻查问看]了|不是",
    re.IGNORECASE,
)
"""Says why the message before was wrong."""
_DENIED_WORD = re.compile(
    r"^(?:not (?:(?:the|a|an|in|at|on|to) )?(?P<en>[a-z][\w -]{2,30})|(?:而)?不是(?:在)?(?P<of>[\u4e00-\u9fff]{2,6}))$",
    re.IGNORECASE,
)
_TOPIC = re.compile(r"(?:^|[,.;!?] )(?P<of>[A-Za-z][^,.;:!?]{2,30}): ")
_TOPIC_HAN = re.compile(
    "^(?P<of>(?!我|刚|不好意思|抱歉|老[婆公伴]|哎|嗨|说|记|打|写|看|对|翻|问|不)[^，]{2,14}?)我?(?:搞错|弄错|说错|记错"
    "|写错)了?$"
)
"""Names what was wrong, before it is corrected."""
_AT_HOUR = re.compile(r"\b(?:at|until|by|from) \d{1,2}\b", re.IGNORECASE)
_CLAUSES = re.compile(
    r"[,，](?=\d+[\u4e00-\u9fff])|(?<!\d)[,.;:!?，。；：！？](?=\s|$|[\u4e00-\u9fff\d])|[,.;:!?，。；：！？](?=\s|$"
    r"|[\u4e00-\u9fff])|\s[-–—]\s"
)
_WORD_HAN = re.compile(
    "^[他她它]?(?P<verb>姓|叫|属|交给|给|住|在|去|用|吃|坐|[^是]{1,4}的是|是)(?P<value>[^，的]{1,5}?)(?P<rest>过敏"
    "|的)?$"
)
_ELSEWHERE = re.compile(
    r"\bsomething else|another thing|(?:(?:an)?other|wrong) (?:chat|window|thread|person|tab)\b|发错[群人了]"
    r"|发到|(?:昨天|前面|之前|上次)(?:跟你|我)?说的|另外",
    re.IGNORECASE,
)
"""Was sent to the wrong place, or is about an earlier message."""
_VALUE = re.compile(
    r"^(?:(?:no|wait|oops|sorry|actually|correction|rather|scratch that|i mean|well|ah|oh|and|but|so)[, ]+)*(?:\*"
    r"|(?P<of>it|that|this|they|she|he|we|i)(?: am| is| are| was|['’]s)|make (?:that|it)|(?:i )?meant|should (?:be|say"
    r"|read)|it goes)?"
    r"[ ]?(?:(?:at|on|in|to|for|from|the|a|an|about|called) )*(?P<value>.+)$",
    re.IGNORECASE,
)
_VALUE_HAN = re.compile(
    r"^(?:哦|啊|嗯|呃)?(?:是|就是|应该是|其实是|改成|改为|为|姓|叫|交给|给|在|到|[^，]{0,6}?的是)?(?P<value>.+)$"
)
_ENDS_HAN = re.compile("(?:才对|才是|来着|的|了|哈|啊)$")
_FINITE = re.compile(r"^(?:that )?(?:i|we|my|our)\b|\b(?:is|are|was|were|has|have|will)\b", re.IGNORECASE)
_DENIED = re.compile(r"\bnot\b|\bno\b|不是|没", re.IGNORECASE)
_PRONOUNS = frozenset(("me", "he", "she", "they", "他", "她"))
_LONGEST = 3
"""Maximum content words of a value in words."""
_SHORT = 100


def corrects(
    words: ClauseWords, old: OlderWords, older: Core, text: str, read: Callable[[str], Core], *, chinese: bool
) -> bool:
    """Whether a message, said right after the older, has a clause that is nothing but another value for it."""
    if len(text) > _SHORT or _ELSEWHERE.search(text) or not (SLIP.search(text) or marks.CORRECTS.search(text)):
        return False
    clauses = [one.strip(" .!。！") for one in _CLAUSES.split(text)]
    if any(_is_of_another(older, one, read) for one in clauses):
        return False
    topic = _TOPIC.search(text)
    if topic is not None and SLIP.search(topic["of"]) is None and words.strange(topic["of"], old):
        return False
    for clause in clauses:
        if not clause or _DENIED.search(clause):
            continue
        part = read(clause)
        if part.persons - older.persons - _PRONOUNS:
            continue
        if part.numbers:
            if _is_other_number(older, part) and _is_bare(words, old, older, clause, part, chinese=chinese):
                return True
        elif not older.numbers and (
            _is_other_word_han(older.text, clause) if chinese else _is_other_word(words, old, clause, text)
        ):
            return True
    return False


def _is_of_another(older: Core, clause: str, read: Callable[[str], Core]) -> bool:
    """Whether a clause names another thing as wrong, or denies a value that the older lacks."""
    topic = _TOPIC_HAN.match(clause)
    if topic is not None and topic["of"] not in older.text:
        return True
    if _DENIED.search(clause) is None:
        return False
    had = {one.stem for one in older.numbers}
    if any(one.stem not in had for one in read(clause).numbers):
        return True
    denied = _DENIED_WORD.match(clause)
    named = (denied["en"] or denied["of"]).lower().split() if denied is not None else []
    return bool(named) and not any(one in older.text.lower() for one in named)


def _is_other_number(older: Core, part: Core) -> bool:
    """Whether its numbers are of the kinds of the older's, and another one."""
    if (
        _AT_HOUR.search(older.text)
        and by_kind(part.numbers).keys() == {"time"}
        and by_kind(older.numbers).keys() == {""}
    ):
        return True
    one, other = comparable(by_kind(older.numbers), by_kind(part.numbers))
    return (
        bool(one)
        and other.keys() <= one.keys()
        and any(len(one[kind]) == 1 and one[kind].isdisjoint(other[kind]) for kind in other)
    )


def _is_bare(words: ClauseWords, old: OlderWords, older: Core, clause: str, part: Core, *, chinese: bool) -> bool:
    """Whether nothing else stands in the clause of a number than words of the older."""
    rest = clause
    for one in sorted(part.numbers, key=lambda one: -one.start):
        rest = f"{rest[: one.start]} {rest[one.end :]}"
    if not chinese:
        return not [one for one in words.strange(_VALUE.sub(r"\g<value>", rest), old) if not words.is_attribute(one)]
    found = _VALUE_HAN.match(_ENDS_HAN.sub("", rest.strip()))
    left = re.sub(r"[\s个只副位件号条台次针片本人元块斤的了是]", "", found["value"]) if found else ""
    return all(one in older.text for one in left)


def _is_other_word(words: ClauseWords, old: OlderWords, clause: str, text: str) -> bool:
    """Whether the clause is another value in words: "she's in Trondheim", "it's shellfish"."""
    found = _VALUE.match(clause)
    if found is None or found["value"] == clause or SLIP.search(found["value"]):
        return False
    if _FINITE.search(found["value"]) or (not old.own and (found["of"] or "").lower() in ("i", "we")):
        return False
    named = words.content(found["value"])
    fresh = [one for one in named if one not in old.known]
    return 0 < len(fresh) <= _LONGEST and clause != text and SLIP.search(text.replace(clause, "")) is not None


def _is_other_word_han(older: str, clause: str) -> bool:
    """Whether a Chinese clause has the verb of the older and another value: 属龙, 过敏的是花生."""
    found = _WORD_HAN.match(clause)
    if found is None or found["value"] in older:
        return False
    verb = found["verb"].removesuffix("的是")
    return verb in older and (verb != "是" or (found["rest"] or "是") in older)
