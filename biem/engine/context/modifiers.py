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
_FUNCTION = frozenset(
    re.findall(
        r"[a-z]+|[\u4e00-\u9fff]",
        "a an the my our your his her its their this that these those new old same other current present actual own"
        " whole and or but of for in at on to from with by is are was were be been has have had we i you he she it they"
        " not no now just also only so then"
        " 的了个这那把被和跟在是我你他她它们咱人都也就还又再新给让从到将后先现只为去每些边"
        " 来上得改换涨降有要能看说算摸嫌点号昨今明天一二三四五六七八九十两几",
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
_NO_MODIFIER = re.compile(f"(?:周|星期|礼拜)[一二三四五六日天]|{ADDRESSED}")
"""A weekday, whose first character is also that of 周会, and a surname: 沈医生 is a name, 儿科医生 a kind."""
_MOST_CHARS = 500
"""Characters of a text that are read."""
_KEPT = 512
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
    return any(
        word not in known and ((head, side) in places or (side == _OWNER and (head, "before") in places))
        for head, side, word in new.beside
    )


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
            before = place - 2 if words[place - 1] == "的" and place > 1 else place - 1
            between = text[found[before].end() : found[place].start()]
            if _may_distinguish(words[before], words[place]) and _BETWEEN.fullmatch(between):
                owned = between[:1] in ("'", "’", "的")
                yield words[place], _OWNER if owned else "before", words[before]
        for link in _LINK.finditer(text):
            head = next((n for n, token in enumerate(found) if token.end() == link.start()), None)
            word = next((n for n, token in enumerate(found) if token.start() == link.end()), None)
            if head is not None and word is not None and _may_distinguish(words[word], words[head]):
                yield words[head], "after", words[word]


_pairs = lru_cache(_KEPT)(_Pairs)


def _may_distinguish(word: str, head: str) -> bool:
    return not {word, head} & _FUNCTION and _ADVERB.fullmatch(word) is None


def _plain(word: str) -> str:
    return word.lower().removesuffix("s")
