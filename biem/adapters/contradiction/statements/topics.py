"""Topics that the words of a text name, and those that it states beside them."""

import re
from collections import defaultdict
from collections.abc import Iterable

from biem.adapters.analyzers.chinese_words import knowing
from biem.adapters.contradiction import lexicon
from biem.adapters.contradiction.lexicon.attributes import HAN_OF_BIRTHDAYS, IN_USE, OF_BIRTHDAYS
from biem.adapters.contradiction.lexicon.spelled_days import TO_TWELVE
from biem.adapters.contradiction.statements.occupations import EMPLOYED_BY, STATES_OCCUPATION
from biem.domain.speech.names import SURNAME

ANY_THING = frozenset(("name",))
"""The topic of "is my": a topic only where there is no other."""
NAME = re.compile(r"(?<=[a-z] )[A-Z][\w-]+")
I_AM = re.compile(
    r"\b(?:I'm|I am) [A-Z][\w-]+(?: [A-Z][\w-]+)?(?=[,.!;]|$| and\b)"
    r"|\b(?:[Mm]y (?:full |first |last )?name|[Cc]all me|[Ww]ho am I)\b"
    r"|我(?:的名字|[叫姓](?![他她你它了上])|是谁)|叫我(?![去来帮做])|称呼我"
    rf"|我是{SURNAME}[\u4e00-\u9fff]{{1,2}}(?=[，。,!！]|$)"
)
"""States the speaker's own name, or asks for it."""
_INTRODUCES = re.compile(
    r"^\W*(?:hi|hello|hey)\b\W+(?:I'm|I am) (?-i:[A-Z])|\b(?:my (?:full |first |last )?name|call me)\b"
    rf"|我的名字|叫我(?![去来帮做])|称呼我|我是{SURNAME}[\u4e00-\u9fff]{{1,2}}(?=[，。,!！]|$)",
    re.IGNORECASE,
)
"""The same where nothing else is stated: "I'm Swiss" states no name."""
_STATES = (
    ("name", I_AM),
    (
        "age",
        re.compile(
            r"\b(?:[Hh]e|[Ss]he|I)(?:'s| is|'m| am| (?:just )?turned| turns) (?:only |now |already |almost )?"
            rf"(?:\d{{1,2}}|{TO_TWELVE})(?= and\b|[,.;!]|$)"
            r"|\b(?:I'm|I am) [A-Z][\w-]+, \d\d,|今年[0-9一二三四五六七八九十百]{1,4}(?=[，。,!！岁]|$)"
        ),
    ),
    (
        "home",
        re.compile(
            r"\b(?:rent|renting|share|sharing|let|sublet) (?:an?|the) (?:[a-z-]+ ){0,3}?"
            r"(?:room|studio|flat|apartment|house|bedsit|loft|attic|annexe|cottage)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "school",
        re.compile(
            r"\b(?:first|second|third|fourth|fifth|sixth|final|last) year (?:of|at) (?:(?:my|a|the) )?[A-Za-z]"
            r"|\b(?:doing|do|did|finished|finishing|started) (?:my|an?) (?:[a-z]+ )?(?:degree|phd"
            r"|doctorate|bachelor|master)",
            re.IGNORECASE,
        ),
    ),
    ("job", STATES_OCCUPATION),
    ("employer", EMPLOYED_BY),
    (
        "origin",
        re.compile(r"\bmoved (?:here|over|to (?:the )?[A-Z][\w-]+) from [A-Z]|从[\u4e00-\u9fff]{2,4}[搬过]过?来|来自"),
    ),
)
"""Topics that a text states beside what else it is about."""


def _topics() -> tuple[dict[str, frozenset[str]], frozenset[str], re.Pattern[str]]:
    """The topics of each word, the words that name things, and a pattern of the English words."""
    of: dict[str, set[str]] = {}
    things: set[str] = set()
    for (name, *star), *languages in lexicon.columns("topics"):
        for word in (word for words in languages for word in words):
            of.setdefault(word, set()).add(name)
            if star:
                things.add(word)
    pattern = re.compile(rf"\b({_by_initial(word for word in of if word.isascii())})s?\b", re.IGNORECASE)
    return {word: frozenset(names) for word, names in of.items()}, frozenset(things), pattern


def _by_initial(words: Iterable[str]) -> str:
    """A pattern of these words, the longest first; grouped, since Python tries each alternative at each word."""
    of: defaultdict[str, list[str]] = defaultdict(list)
    for word in sorted(words, key=lambda word: (-len(re.escape(word)), word)):
        of[word[0]].append(re.escape(word[1:]))
    return "|".join(f"{re.escape(first)}(?:{'|'.join(rest)})" for first, rest in of.items())


TOPICS, THINGS, _ENGLISH = _topics()
_BY_INITIAL: defaultdict[str, list[str]] = defaultdict(list)
"""The words of topics of two characters and more, by their first."""
for _word in TOPICS:
    if len(_word) > 1:
        _BY_INITIAL[_word[0]].append(_word)
_OF_BIRTHDAYS = re.compile(rf"\bbirthday (?={OF_BIRTHDAYS}\b)|生日(?={HAN_OF_BIRTHDAYS})", re.IGNORECASE)
_SHORT = 2
"""Characters of a Chinese word of which one may name the topic: 车 of 新车, not of 公交车司机."""


def with_stated(topics: frozenset[str], text: str, relations: tuple[tuple[int, int], ...]) -> frozenset[str]:
    """Adds what it states beside its own topics: "My wife Ida is a nurse" gives a name, too."""
    stated = frozenset(topic for topic, pattern in _STATES if pattern.search(text))
    if not topics:
        return stated - ANY_THING | (ANY_THING if _INTRODUCES.search(text) else frozenset())
    return topics | stated | (ANY_THING if any(NAME.search(text, *span) for span in relations) else frozenset())


def words_of(text: str, persons: tuple[tuple[int, int], ...], *, chinese: bool) -> frozenset[str]:
    """The words of a text that name topics. Who is spoken of is no topic."""
    others = (found.span() for pattern in (_OF_BIRTHDAYS, IN_USE) for found in pattern.finditer(text))
    for start, end in (*persons, *others):
        text = text[:start] + " " * (end - start) + text[end:]
    if not chinese:
        return frozenset(found[1].lower() for found in _ENGLISH.finditer(text))
    words = {part for word, _ in knowing().tag(text) for part in _parts(word)}
    said = {word for first in set(text) & _BY_INITIAL.keys() for word in _BY_INITIAL[first] if word in text}
    return frozenset(words & TOPICS.keys() | said)


def _parts(word: str) -> tuple[str, ...]:
    return (word, word[0], word[-1]) if len(word) <= _SHORT else (word,)
