"""Whom and what a text speaks of, named alike in questions and answers: 妈妈, mum and mother are one."""

import re

from biem.adapters.analyzers.chinese_words import knowing
from biem.adapters.contradiction import lexicon
from biem.adapters.contradiction.journeys import returns
from biem.adapters.contradiction.lexicon import marks
from biem.adapters.contradiction.lexicon.attributes import SINGLE
from biem.adapters.contradiction.reading import Reading
from biem.adapters.contradiction.statement_core import Core
from biem.adapters.contradiction.subjects import Subjects, mentions_speaker
from biem.domain.conflict import Matter

_SAME_KIN = (
    "mother mom mum mommy mummy mama 妈妈 母亲 妈",
    "father dad daddy papa 爸爸 父亲 爸",
    "wife spouse 老婆 妻子 太太",
    "husband 老公 丈夫",
    "girlfriend 女朋友 女友",
    "boyfriend 男朋友 男友",
    "brother 哥哥 弟弟",
    "sister 姐姐 妹妹",
    "son 儿子",
    "daughter 女儿",
    "kid child kids children 孩子",
    "parents parent 父母 爸妈",
    "grandmother grandma granny 奶奶 外婆",
    "grandfather grandpa 爷爷 外公",
    "uncle 叔叔 舅舅 伯伯",
    "aunt auntie 阿姨 姑姑 姨妈",
    "cousin 表哥 表姐 表弟 表妹 堂哥 堂姐 堂弟 堂妹",
    "nephew 侄子 外甥",
    "niece 侄女",
    "friend 朋友 闺蜜",
    "colleague coworker 同事",
    "boss manager 老板 上司 领导",
    "roommate flatmate 室友",
    "neighbour neighbor 邻居",
    "classmate 同学",
    "teacher 老师",
    "dog 狗",
    "cat 猫",
)
_KIN = {word: line.split()[0] for line in _SAME_KIN for word in line.split()}
_ASKED = re.compile(r"\b(?:is|are|was|were|do|does|did|has|had|can|could|will|would|should) ([A-Z][\w-]+)")
"""Somebody a question is about, by name."""
_ANAPHORS = frozenset(("he", "she", "they", "quoted"))
_OTHER = {"你": "you", "您": "you", "他": "he", "她": "she"}


_QUALIFIED = re.compile(
    r"\b(?P<name>[A-Z][\w-]+(?: [A-Z][\w-]+)?) from (?:(?:my|our|the) )?(?!now\b|then\b|today\b)(?P<where>[a-z]+)"
    r"|(?P<han_where>[\u4e00-\u9fff]{2,4})的(?P<han>[\u4e00-\u9fff]{2,3})"
)
"""One of several people of one name: Anna from accounting."""
_APPOSED = re.compile(r"(?:^|[.;!] )(?P<name>[A-Z][\w-]+), (?:my|our) [^,.;]{2,40},")
"""Somebody introduced by a relation: "Anna, my dentist's assistant, lives in Graz"."""
_WAYS = {"去程": "outbound", "返程": "return"}
_BACK = frozenset(("return",))
_ANY_THING = frozenset(("name",))
"""The topic of "is my": a topic only where there is no other."""


def _topics() -> tuple[dict[str, frozenset[str]], frozenset[str], re.Pattern[str]]:
    """The topics of each word, the words that name things, and a pattern of the English words."""
    of: dict[str, set[str]] = {}
    things: set[str] = set()
    for (name, *star), *languages in lexicon.columns("topics"):
        for word in (word for words in languages for word in words):
            of.setdefault(word, set()).add(name)
            if star:
                things.add(word)
    english = "|".join(sorted((re.escape(word) for word in of if word.isascii()), key=len, reverse=True))
    pattern = re.compile(rf"\b({english})s?\b", re.IGNORECASE)
    return {word: frozenset(names) for word, names in of.items()}, frozenset(things), pattern


_TOPICS, _THINGS, _ENGLISH = _topics()
_WANTS = {
    "time": re.compile(
        r"\bwhen\b|\b(?:what|which) (?:date|day|time|month|year)\b"
        r"|几[号点月时]|什么时[候间]|何时|哪一?[天年]|[周期]几",
        re.IGNORECASE,
    ),
    "amount": re.compile(
        r"\bhow (?:much|many|old|tall|heavy|far|high|large)\b|多[少大高重远长]|几(?![号点月时])", re.IGNORECASE
    ),
    "digits": re.compile(
        r"\b(?:phone|card|account|flight|room|plate|passport) number\b|号码|[牌卡账证房]号", re.IGNORECASE
    ),
}
_DIGIT = "[0-9一二两三四五六七八九十]"
_GIVES = {
    "time": re.compile(
        r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:jan|febr)uary|march|april|may|june|july|august"
        r"|(?:septem|octo|novem|decem)ber|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)(?= \d)|\d+(?:st|nd|rd|th)"
        r"|(?:19|20)\d\d|noon|midnight|o'clock|(?:half|quarter) (?:past|to)|today|tonight|tomorrow|yesterday"
        r"|(?:next|this|last) (?:week|month|year|weekend)|spring|summer|autumn|winter)\b|\d[:.]\d\d\b|\d\s?[ap]\.?m\b"
        rf"|{_DIGIT}\s?[月号日点年]|(?:周|星期|礼拜)[一二三四五六日天]|[今明后昨]天|[今明]晚|[本这下上]个?[周月]|[今明去]年|[春夏秋冬]天|中午",
        re.IGNORECASE,
    ),
    "amount": re.compile(
        r"\d|[一二两三四五六七八九十百千万半]"
        r"|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)t(?:een|y)"
        r"|twenty|forty|hundred|thousand|million|dozen|half|none|nothing)\b",
        re.IGNORECASE,
    ),
    "digits": re.compile(r"\d"),
}
_HOUSE = re.compile("(?<=^[\u4e00-\u9fff]{2})家$")
"""The segmenter takes 晓雯家 for a name."""
_SHORT = 2
"""Characters of a Chinese word of which one may name the topic: 车 of 新车, not of 公交车司机."""


def matter_of(reading: Reading, subjects: Subjects, core: Core) -> Matter:
    """See `Matter`. `core`: what is left of the reading."""
    text = reading.text
    words = _words_of(text, subjects.about(reading).spans, chinese=reading.in_chinese)
    topics = core.classes.union(*(_TOPICS[word] for word in words))
    things = frozenset(piece.stem for piece in core.words) | (words & _THINGS)
    return Matter(
        _persons(reading, subjects, things),
        core.classes & SINGLE,
        bool(marks.OF_THE_PAST.search(text) or (core.of_old and not core.marked)),
        topics - _ANY_THING or topics,
        things,
        frozenset(thing for thing in things if any(kind.startswith(thing) for kind in words & _THINGS)),
        frozenset(_WAYS.get(word, word) for word in core.which) | (_BACK if returns(text) else frozenset()),
        frozenset(piece.stem for piece in core.numbers),
        core.holds,
        core.marked,
        frozenset(kind for kind, pattern in _WANTS.items() if pattern.search(text)),
        frozenset(kind for kind, pattern in _GIVES.items() if pattern.search(text)),
    )


def _persons(reading: Reading, subjects: Subjects, things: frozenset[str]) -> frozenset[str]:
    about, text = subjects.about(reading), reading.text
    whole = (name for name in about.persons if not _begins(name, things))
    persons = {_plain(_HOUSE.sub("", name)) for name in whole if _is_spoken_of(name, text)} - _ANAPHORS
    persons |= {name.lower() for name in _ASKED.findall(text) if name != "I" and "?" in text}
    for start, end in about.spans:  # my aunt Li Na: she is an aunt, too
        kin = {f"me.{_KIN[word]}" for word in text[start:end].lower().split() if word in _KIN}
        persons |= kin if any(name.startswith("me.") for name in persons) else set()
    for found in _QUALIFIED.finditer(text):
        name, where = (found["name"] or found["han"]), (found["where"] or found["han_where"])
        if found["name"] or found["han"] in persons:
            persons.add(f"{name.lower()}.{where}")
            if "me" in persons and not mentions_speaker(text.replace(found.group(), " ")):
                persons.remove("me")
    for found in _APPOSED.finditer(text):
        persons.add(found["name"].lower())
        if not mentions_speaker(text.replace(found.group(), " ")):
            persons.discard("me")
    return frozenset(persons)


def _begins(name: str, things: frozenset[str]) -> bool:
    """Whether a name is the beginning of a longer word: 萨尔 of 萨尔萨课."""
    return name[0] >= "\u4e00" and any(thing.startswith(name) and len(thing) > len(name) + 1 for thing in things)


def _is_spoken_of(name: str, text: str) -> bool:
    """False for a Chinese word that the segmenter takes for a name (过敏, 兰花): a word of a topic, or the last of a
    clause, where a statement has its value.
    """
    if name in _TOPICS:
        return False
    return name not in text or name[0] < "\u4e00" or "？" in text or bool(re.search(rf"{re.escape(name)}\w", text))


def _words_of(text: str, persons: tuple[tuple[int, int], ...], *, chinese: bool) -> frozenset[str]:
    """The words of a text that name topics. Who is spoken of is no topic."""
    for start, end in persons:
        text = text[:start] + " " * (end - start) + text[end:]
    if not chinese:
        return frozenset(found[1].lower() for found in _ENGLISH.finditer(text))
    words = {part for word, _ in knowing().tag(text) for part in _parts(word)}
    return frozenset(word for word in _TOPICS if word in words or (len(word) > 1 and word in text))


def _parts(word: str) -> tuple[str, ...]:
    return (word, word[0], word[-1]) if len(word) <= _SHORT else (word,)


def _plain(name: str) -> str:
    owner, dot, rest = name.partition(".")
    owner = _OTHER.get(owner, owner)
    return f"{owner}.{_KIN.get(rest.split()[-1], rest)}" if dot and rest else owner
