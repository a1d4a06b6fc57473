"""A query with its sentences, and the persons its wording refers to."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from biem.domain.speech.acts import is_statement
from biem.ports import Vector

MACHINES = frozenset({"assistant", "ai", "bot", "chatbot", "助手", "助理", "机器人"})
"""Speakers that are programs, lower-cased."""
ROLES = MACHINES | {"user", "human", "me", "用户", "我"}
"""Speakers, lower-cased, whose name in a question refers to no person: "what did the user say" names no person."""

_CUT = re.compile(r"(?<=[?!。？！；;\n])|(?<=\.)\s+|(?<=[a-z)]\.)(?=[A-Z])")
_EDGES = " \n\t-*—…"
_QUESTION_MARKS = frozenset("?？")

_MOST_SENTENCES = 8
"""Maximum sentences, each of which is embedded; a query of more is a pasted document."""
_FEW_WORDS = 3
"""A sentence of fewer different terms ("Hi!") is joined with the next."""
_LONG = 200
"""Pieces of at least this many characters are sentences, however few their terms: the cost of joining stays linear."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a query that has several."""

    lexemes: Sequence[str]
    vector: Vector | None
    asked: bool
    """It is a question, see `is_asked`."""


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query. Vectors have length 1."""

    text: str
    lexemes: Sequence[str]
    vector: Vector | None
    """None while the embedder is down: then only words, times and speakers decide."""
    sentences: Sequence[Sentence] = ()
    """Empty for a query of one sentence."""
    matter: Vector | None = None
    """The vector of the query without its names; None for a query of several sentences, or without names."""

    def meant(self, share: float) -> Vector | None:
        """The search direction: the query's vector, with `share` of the vector without names. Length 1.

        A name pulls a vector towards everything ever said to or by its bearer.
        """
        if self.vector is None or self.matter is None or len(self.matter) != len(self.vector) or share == 0:
            return self.vector
        both = self.vector + np.float32(share) * self.matter
        length = float(np.linalg.norm(both))
        return np.asarray(both / length, dtype=np.float32) if length > 0 else self.vector

    @property
    def asked(self) -> Sequence[Sentence]:
        """The sentences that are questions; all where none is; none for a query of one sentence."""
        if len(self.sentences) < 2:
            return ()
        return [one for one in self.sentences if one.asked] or self.sentences


def sentences_of(text: str, count_words: Callable[[str], int], most: int = _MOST_SENTENCES) -> list[str]:
    """The sentences of a query, at most `most`; one of fewer than three words joins the next.

    `count_words` returns the number of different index terms of a text.
    """
    found: list[str] = []
    carry = ""
    for raw in _CUT.split(text):
        piece = (raw or "").strip(_EDGES)
        if not piece:
            continue
        piece = f"{carry} {piece}" if carry else piece
        if len(piece) < _LONG and count_words(piece) < _FEW_WORDS:
            carry = piece
            continue
        found.append(piece)
        carry = ""
        if len(found) > most:
            break
    if carry:
        found = [*found[:-1], f"{found[-1]} {carry}"] if found else [carry]
    return found[:most]


def without_names(text: str, names: Collection[str]) -> str:
    """`text` with these names cut out, English ones with their genitive; a name inside a Latin word stays."""
    if not names:
        return text
    longest = sorted(names, key=lambda name: (-len(name), name))
    cut = rf"(?<![A-Za-z])(?:{'|'.join(map(re.escape, longest))})(?:['’]s)?(?![A-Za-z])"
    return " ".join(re.sub(cut, " ", text, flags=re.IGNORECASE).split())


def is_asked(sentence: str) -> bool:
    """Whether a sentence is a question."""
    return not _QUESTION_MARKS.isdisjoint(sentence)


def named_in(lexemes: Sequence[str], names: Mapping[str, Sequence[str]]) -> set[str]:
    """The speakers that a query names with all terms of their name; roles are no names."""
    asked = set(lexemes)
    return {name for name, terms in names.items() if terms and name.lower() not in ROLES and asked.issuperset(terms)}


_FORMER = re.compile(
    r"\b(?:used to|(?:previous|former|original|initial)(?:ly)?|back then)\b|\bbefore\W*$"
    r"|以前|原来|原先|曾经|最初|(?<![周期拜])一开始|最开始|刚开始(?=时|的时候)|起初|当初|本来|前任|旧(?!金山)",
    re.IGNORECASE,
)
_EARLIER = re.compile(
    r"\b(?:before|first|earlier)\b|之前|过去"
    r"|(?:搬|换|改|调|升|涨|降|迁|转|变|退休|辞职|离职|跳槽|结婚|毕业|分手|重组)[^，。？?前]{0,5}(?<![目提])前(?![天面台端后往排门线])",
    re.IGNORECASE,
)
"""Asks for a former state, unless it asks what is to be done: "what do I take before bed?"."""
_TENSE = re.compile(
    r"\b(?:(?:did|was|were|had)(?:n['’]t)?|(?<!how )old|ago)\b|当时|\bwhy\b|为(?:什么|何|啥)", re.IGNORECASE
)
"""Of a reason the later values of what it explains tell nothing."""
_STILL = re.compile(r"^\W*(?:is|are|am|do|does|can|may|has|have|will)\b[^!?]*\bstill\b", re.IGNORECASE)
"""Asks whether a former state holds: "Is old Mr Hale still alive?"."""
_PRESENT = re.compile(
    r"\b(?:do|does|is|are|am|should|shall|can|will|must|may|wh\w+['’]s)\b|(?<![主重首纪摘])要(?!好)|该|(?<=[我你他她们都还前])得(?![过到了])|必须|应当",
    re.IGNORECASE,
)
_NEWEST = re.compile(
    r"\b(?:last|latest|newest|most recent)\b"
    r"(?! (?:year|month|week|weekend|summer|winter|spring|autumn|night|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b)"
    r"|\b(?:end(?:ed)? up|in the end|finally|eventually)\b"
    r"|\bdid (?:i|we|you|they) (?:\w+ )?"
    r"(?:choose|pick|book|reserve|decide|agree|settle|order|arrange|schedule|go (?:for|with))\b",
    re.IGNORECASE,
)
"""Asks for the last of several, or what was decided, which holds until the next decision."""


_WHY = re.compile(
    r"\bwhy\b|\bhow come\b|\bwhat (?:did|do|does|was|is|are|were|am)\b[^?]{1,80}\bfor\W*$"
    r"|\b(?:what|which|remind me of)\b[^?]{0,30}\b(?:reasons?|gripe|motives?|objections?|grounds)\b"
    r"|\bwhat was (?:my|our|the) (?:problem|issue|trouble) with\b"
    r"|^\W*(?:the |my |our )?reasons? (?:for|why|i|we|that)\b"
    r"|为(?:什么|何|啥)|(?<!在)干(?:嘛|吗|啥)(?![的去呢了来])|(?:怎么|咋)(?:就|没|不|会|突然)|何以|因为(?:什么|啥|何)|什么(?:原因|理由|缘故)"
    r"|出于(?:什么|啥)|[图嫌](?:什么|啥|它|他|她)",
    re.IGNORECASE,
)
_SAID = re.compile(r"[.!。！]\W*$")
_WANTS_TO_KNOW = re.compile(
    r"[?？]|\b(?:know|wonder(?:ing)?|need|want|looking for|recall|remember|forgot(?:ten)?|see|check)\b"
    r"|想知道|想问|想不起|忘了|记得|查|需要",
    re.IGNORECASE,
)


def asks_of_the_past(text: str) -> bool:
    """Whether a question may be about a former state, including by its tense alone, unless it asks for the newest."""
    if asks_what_was(text):
        return True
    if _TENSE.search(text) is None or _NEWEST.search(text) or _STILL.search(text):
        return False
    return not _only_tells(text)


def asks_what_was(text: str) -> bool:
    """Whether a question explicitly asks for a former state."""
    if _FORMER.search(text):
        return True
    if not _EARLIER.search(text) or _only_tells(text):
        return False
    return bool(_TENSE.search(text)) or not _PRESENT.search(text)


def asks_for_a_reason(text: str) -> bool:
    """Whether a question asks why something is so."""
    return _WHY.search(text) is not None


def _only_tells(text: str) -> bool:
    """Whether a message states something and asks nothing: "Mum lives in the old house" does not ask of the past."""
    return _SAID.search(text) is not None and not _WANTS_TO_KNOW.search(text) and is_statement(text)
