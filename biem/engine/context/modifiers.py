"""Words that distinguish things of one kind: the weekly sync and the monthly sync, 左眼 and 右眼."""

import re
from collections.abc import Iterator
from functools import lru_cache

from biem.domain.speech.names import ADDRESSED

_TOKEN = re.compile(r"(?<![^\W\d_]['’])[^\W\d_\u4e00-\u9fff][^\W\u4e00-\u9fff]*|[\u4e00-\u9fff]")
_BETWEEN = re.compile(r"[ -]?|['’]s? |的")
"""Between two words of one name."""
_LINK = re.compile(r" (?:of|for|in|at|on|to|from|with) (?:the |my |our |his |her |their )?", re.IGNORECASE)
"""Between a word and what distinguishes it: the budget for hiring."""
_EXCHANGED = re.compile(
    r"\b(?:swap|trad|exchang|switch|replac|ditch|chang|g[ai]v|left)\w*(?: [\w'’-]+){1,4} for "
    r"(?:the |my |our |his |her |their )?$",
    re.IGNORECASE,
)
"""Before what comes in place of a thing: swapped tea for coffee."""
_FUNCTION = frozenset(
    word.removesuffix("s")
    for word in re.findall(
        r"[a-z]+|[\u4e00-\u9fff]",
        "a an the my our your his her its their this that these those new old same other current present actual own"
        " whole and or but of for in at on to from with by is are was were be been has have had we i you he she it they"
        " not no now just also only so then me us them him good up down off out over away"
        " one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
        " eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand half dozen couple"
        " all both each every some any many several few more most fewer less"
        " 的了个这那把被和跟在是我你他她它们咱人都也就还又再新给让从到将后先现只为去每些边"
        " 来上得改换涨降有要能看说算摸嫌点号昨今明天一二三四五六七八九十两几不没趟次场顿",
    )
)
"""Words that distinguish no thing."""
_ASKS_WHETHER = re.compile(
    r"^\W*(?:do|does|did|is|are|am|was|were|has|have|had|can|could|will|would|should)\b|\bstill\b|还|[吗么嘛][？?]?\s*$",
    re.IGNORECASE,
)
"""A question that names a value, which a change replaces: "Do I still live in Berlin?"."""
_ADVERB = re.compile(
    r"currently|presently|really|actually|recently|finally|mostly|mainly|regularly|still|already|always|never|often"
    r"|sometimes|usually"
)
_SKIPPED = frozenset(("的", "now", "still", "already", "also"))
"""Between a word and what distinguishes it."""
_VALUES = re.compile(
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:jan|febr)uary|march|april|may|june?|july?|august"
    r"|(?:septem|octo|novem|decem)ber|today|tonight|tomorrow|yesterday|noon|midnight"
)
"""Times: a word before one distinguishes no thing, as in "works Fridays"."""
_DETERMINES = frozenset(("the", "my", "our"))
_HAN_SUBJECT = re.compile(
    "(?:我们?家?的?)?(?P<thing>[\u4e00-\u9fff]{2,8}?)(?:的[会月年]?[费价][用格]?)?(?:现在|已经|又)?"
    "(?=[涨降跌]|升到|一个月|每月|一年|每年|要价|是\\d)"
)
_ATTRIBUTE = re.compile(
    r"['’]s (?:[a-z-]+ ){0,2}?(?P<name>[a-z-]{3,}) (?:is|are|was|were|will be|moved|went|rose|fell|changed)\b"
    "|(?<!我)(?<!我们)的(?P<han>[\u4e00-\u9fff]{2,5}?)(?:是|为|改|换|变|在|定|调|涨|降|提)"
)
_DOES = re.compile(r"[A-Za-z][a-z]+(?:ing|ed)|read|got|bought|sold|left|quit|use|took|lost")
"""A verb before a name."""
_DONE = re.compile(
    r"(?:[A-Za-z]{2,}ed|[Gg]ot|[Bb]ought|[Ss]old|[Gg]ave|[Gg]iven|[Tt]ook|[Ll]ost|[Ll]eft|[Mm]ade|[Pp]ut)"
)
"""A verb that a sentence may begin with, without its subject."""
_HAVING = re.compile(r"(?:['’](?:ve|d)|\b(?:have|has|had)) $", re.IGNORECASE)
_HAVE = 5
"""Characters before a verb that are searched for "have "."""
_BEGINS = re.compile(r"[.!?]\s")
_DOERS = frozenset(("i", "we", "you", "they", "he", "she", "who"))
_NO_MODIFIER = re.compile(f"(?<!每)(?:周|星期|礼拜)[一二三四五六日天](?![次回趟遍])|{ADDRESSED}")
"""A weekday, whose first character is also that of 周会, but not 每周四次, and a surname: 沈医生 is a name, 儿科医生 a
kind.
"""
_BEFORE = 60
"""Characters before a link that are searched for a verb."""
_MOST_CHARS = 500
"""Characters of a text that are read."""
_KEPT = 2_048
_OWNER = "whose"


def has_other_modifier(newer: str, older: str, asked: str) -> bool:
    """Whether beside a word of both the older text has a word of the question, and the newer another word.

    A Chinese word, which is read by its characters, must be one of the question, too.

    The order of the words is compared, not their meaning: "the sync moved" may be about the weekly sync, "the monthly
    sync moved" is not. False for a question whether something is so: its words may be the value.
    """
    if _ASKS_WHETHER.search(asked):
        return False
    new, old, question = (_pairs(text[:_MOST_CHARS]) for text in (newer, older, asked))
    known = old.words | question.words
    places = {
        (head, side)
        for head, side, word in old.beside
        if word in question.words and word not in new.words and (head in question.words or head.isascii())
    }
    return any(word not in known and _are_alike(head, side, word, places) for head, side, word in new.beside)


def _are_alike(head: str, side: str, word: str, places: set[tuple[str, str]]) -> bool:
    """Whether a word at this side of the head distinguishes it as one in the older text does: the owner of a thing may
    stand on either side, "the shed's key" and "the key to the attic". An owner in the other script may be the same one.
    """
    if (head, side) in places:
        return True
    may_be_other = side == _OWNER and word.isascii() == head.isascii()
    return may_be_other and not places.isdisjoint({(head, "before"), (head, "after")})


def has_other_subject(newer: str, older: str, asked: str) -> bool:
    """Whether a text names another attribute than the older, which names one in question ("Otto's discount was raised",
    and "Otto's contact is Jo"), or is Chinese and begins with another thing: 会费 of the club, and 健身房一个月三百.
    """
    if _has_other_attribute(newer[:_MOST_CHARS], older[:_MOST_CHARS], asked):
        return True
    one, other = _HAN_SUBJECT.match(newer[:_MOST_CHARS]), _HAN_SUBJECT.match(older[:_MOST_CHARS])
    if one is None or other is None:
        return False
    return other["thing"] in asked and set(one["thing"]).isdisjoint(older + asked)


def _has_other_attribute(newer: str, older: str, asked: str) -> bool:
    one, other = _ATTRIBUTE.search(newer), _ATTRIBUTE.search(older)
    if one is None or other is None:
        return False
    said, told = (found["name"] or found["han"] for found in (one, other))
    return told in asked.lower() and said not in older.lower() and said not in asked.lower()


class _Pairs:
    """The words of a text, and pairs of a word and one that may distinguish it: its owner, the word before it, or one
    after a preposition.
    """

    def __init__(self, text: str) -> None:
        text = _NO_MODIFIER.sub(",", text)
        found = list(_TOKEN.finditer(text))
        words = [_plain(token.group()) for token in found]
        self.words = frozenset(words)
        self.beside = frozenset(self._beside(text, found, words))

    @staticmethod
    def _beside(text: str, found: list[re.Match[str]], words: list[str]) -> Iterator[tuple[str, str, str]]:
        for place in range(1, len(found)):
            skipped = words[place - 1] in _SKIPPED and place > 1
            before = place - 2 if skipped else place - 1
            between = text[found[before].end() : found[place].start()]
            if skipped and between == f" {found[place - 1].group()} ":
                between = " "
            if _DOES.fullmatch(found[before].group()) and found[place].group()[0].isupper():
                continue  # "reading Emma", "finished Emma": what is done with it
            if _is_verb(text, found, before):
                continue
            if _may_distinguish(words[before], words[place]) and _BETWEEN.fullmatch(between):
                owned = between[:1] in ("'", "’", "的")
                yield words[place], _OWNER if owned else "before", words[before]
        for link in _LINK.finditer(text):
            if _EXCHANGED.search(text, max(0, link.end() - _BEFORE), link.end()):
                continue
            head = next((n for n, token in enumerate(found) if token.end() == link.start()), None)
            word = next((n for n, token in enumerate(found) if token.start() == link.end()), None)
            if head is not None and word is not None and _may_distinguish(words[word], words[head]):
                yield words[head], "after", words[word]
                named = head > 0 and words[head - 1] in _DETERMINES
                if named and word + 1 < len(found) and _may_distinguish(words[head], words[word + 1]):
                    yield words[word + 1], "before", words[head]  # the shop in our street closes


_pairs = lru_cache(_KEPT)(_Pairs)


def _is_verb(text: str, found: list[re.Match[str]], place: int) -> bool:
    """Whether a word is a verb of a subject: "we order tea", "Ida wants tea", "Swapped tea for coffee"."""
    word, before = found[place].group(), found[place - 1] if place else None
    if _HAVING.search(text, max(0, found[place].start() - _HAVE), found[place].start()) and _DONE.fullmatch(word):
        return True  # "they've given 14 to the choir"
    if before is None or _BEGINS.search(text, before.end(), found[place].start()):
        return _DONE.fullmatch(word) is not None
    if _DONE.fullmatch(word) and (place == 1 or _plain(found[place - 2].group()) in _FUNCTION):
        return _plain(before.group()) not in _FUNCTION  # "the doctor swapped A for B", but not "a new used car"
    of_a_name = before.group()[0].isupper() and _plain(before.group()) not in _FUNCTION
    named = of_a_name and word.endswith("s") and word.islower()
    return text[before.end() : found[place].start()] == " " and (named or before.group().lower() in _DOERS)


def _may_distinguish(word: str, head: str) -> bool:
    return not {word, head} & _FUNCTION and _ADVERB.fullmatch(word) is None and _VALUES.fullmatch(head) is None


def _plain(word: str) -> str:
    return word.lower().removesuffix("s")
