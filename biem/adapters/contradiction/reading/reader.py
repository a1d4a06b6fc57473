"""Parses a statement: clauses with assertion, persons and polarity of each.

English words are stemmed, Chinese ones segmented, so that no pattern matches a part of a word: 别 in 特别 is no
prohibition and "know" contains no "no".
"""

import re
import threading
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, cast

import Stemmer

from biem.adapters.analyzers import words
from biem.adapters.analyzers.characters import DENSE, normal
from biem.adapters.analyzers.chinese_words import knowing
from biem.adapters.analyzers.quantities import Quantities
from biem.adapters.contradiction import lexicon
from biem.adapters.contradiction.lexicon.contractions import LONGEST, expanded
from biem.adapters.contradiction.lexicon.marks import FORMERLY_ZH
from biem.adapters.contradiction.reading.clauses import pieces
from biem.adapters.contradiction.reading.time_phrases import COMING, SINCE, beginnings, marked, timed
from biem.domain.conflict import Statement
from biem.lazy import lazy

_KEPT = 8_192
"""Cached stems and segmentations: most words of a statement were seen before."""
_QUALITIES = "adzlirucpyo"
"""First letters of the segmenter's tags for adjectives, adverbs, idioms and function words."""
_QUOTED = re.compile(r"“[^”]{1,200}”|\"[^\"\n]{1,200}\"|「[^」]{1,200}」|『[^』]{1,200}』")
_TOKEN = re.compile(rf"(?P<dense>[{DENSE}]+)|(?P<number>\d[\d.,:/%-]*(?:[A-Za-z]+)?)|(?P<word>[^\W_\d{DENSE}][\w'’-]*)")
_DENSE = re.compile(f"[{DENSE}]")
_LATIN = re.compile("[A-Za-z]+")
_PRONOUNS, _PRONOUN_ENDS = "我你他她", ("们", "的", "自己")  # the segmenter takes 我会 for one word
_OPENED = frozenset(("抽烟", "喝酒", "喝茶", "喝咖啡", "吃肉", "吃鱼", "养猫", "养狗"))  # separable, as in 抽一包烟
_NAME = re.compile(r"(?<![.!?\w])(?<!\bcalled)(?<!\bnamed)\s([A-Z][a-zA-Z]+)")
"""Does not match in "a dog called Rufus", whose subject is a dog."""
_OF_MINE, _GOES_ON = (
    re.compile("我"),
    re.compile("(?!.*[我你他她它])(?:现在|还|也|都|一直|每天)*[养有在住喝吃抽爱学做当开用]"),
)
_ASKED_AFTER = re.compile(
    r"^(?!\W*(?:is|are|am|was|were|do|does|did|has|have|can|could|will|would|should|what|when|where|who|which|why|how|if"
    r"|whether)\b)([^?？\n]{8,200}?)[,;]\s(?:(?:so|and|but|please)\s){0,2}(?:can|could|would|will)\syou\s[^?.!\n]{3,60}\?\s*$"
    r"|^([^?？\n吗呢几哪谁什多何]{4,100}?)[，,](?:麻烦|请|所以)?[你您](?:能|可以|帮|可不可以)[^?？。\n]{1,20}[?？]\s*$",
    re.IGNORECASE,
)
"""A request after what a message tells: "the lesson is on Friday now, could you note that?"."""
_A_NOT_A = re.compile(r"(.)不\1|有没有|是不是")
_ENGLISH_ASKS = re.compile(
    r"^(?:and |so |but |well |hey |oh )*(?:what|where|when|who|which|why|how|do|does|did|are|is|can|could|will|would|"
    r"have|has)\s+(?:you|your|he|she|it|they|we|the|is|are|do|does|did|about|many|much|old|long|that|this)\b",
    re.IGNORECASE,
)
_CHINESE_ASKS = re.compile(
    r"(?:吗|么|嘛)$|^.{0,3}呢$|(?:什么|哪里|哪儿|哪|谁|多少|多大|多久|怎么样|几岁|几点|如何|啥)(?:的|呀|啊|呢|了)?$"
    r"|[你您].{0,6}(?:什么|哪|谁|多少|多大|几)|^(?:什么|哪|谁|多少|几|怎么|为什么|难道)"
)
_IMPERATIVE = re.compile(
    r"^(?:please |and |but |just )*(?:do not|let|never (?:mind|forget)|remember to|make sure)\b"
    r"|^(?:请|别|不要|不用|记得)",
    re.IGNORECASE,
)
_USED_TO = re.compile(
    r"\bused to\s+(?!be used\b)(?=\w)|\bformerly\b|\bpreviously\b|曾经|以前|原来"
    rf"|{FORMERLY_ZH}"
)
_NO_MORE = re.compile(r"不(?![久过少错仅])[\u4e00-\u9fff]{2,12}了$")


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a statement with one predicate."""

    text: str
    tokens: tuple[str, ...]
    """Stems and segments in order, without negations."""
    content: frozenset[str]
    """Content tokens: without function words, pronouns and words of degree."""
    who: frozenset[str]
    """People and owners that it names; "I" is the speaker."""
    negations: int
    asked: bool
    open: bool
    """Hypothetical, doubtful or reported: it asserts nothing."""
    modality: frozenset[str]
    """Words of `modal` and `wish`: an obligation or a wish is no statement of fact."""
    past: bool
    ended: bool
    """Says that something is no longer so."""
    changed: bool
    """Says that something has become different."""
    times: frozenset[str]
    """Marks of its time phrases, see `time_phrases`."""
    implied: frozenset[str] = frozenset()
    """Persons implied by an earlier clause: 我住在北京，养了一只猫."""

    @property
    def asserts(self) -> bool:
        """Whether it says that something is so, or is not so."""
        return not (self.asked or self.open)


@dataclass(frozen=True, slots=True)
class Reading:
    """Parsed form of one statement."""

    text: str
    words: tuple[str, ...]
    """Surface words in lower case, for alignment."""
    essence: tuple[str, ...]
    """Content stems, in order, including quotations."""
    clauses: tuple[Clause, ...]
    numbers: tuple[str, ...]
    """In canonical form, see `Quantities`."""
    beginnings: tuple[tuple[int, int], ...]
    """See `time_phrases.beginnings`."""
    chinese: bool
    """Most of its characters are Chinese …"""
    in_chinese: bool
    """… or more than its words of another script: 访客wifi密码是lemonade22."""

    def __hash__(self) -> int:
        """Of the text alone: what is read of a reading is looked up by it, several times for each pair."""
        return hash(self.text)

    def content(self) -> frozenset[str]:
        """Of all clauses."""
        return frozenset().union(*(clause.content for clause in self.clauses))

    def who(self) -> frozenset[str]:
        """Of all clauses."""
        return frozenset().union(*(clause.who for clause in self.clauses))

    def tokens(self) -> frozenset[str]:
        """Of all clauses."""
        return frozenset().union(*(clause.tokens for clause in self.clauses))


class StatementReader:
    """Word lists and the segmenter, loaded once; thread-safe."""

    def __init__(self) -> None:
        self._threads = threading.local()
        self._stems = lru_cache(_KEPT)(self._stem)
        self._segments = lru_cache(_KEPT)(self._cut)
        self._quantities = Quantities()
        raw = lexicon.sets("grammar")
        known = raw["negation"] | raw["changed"] | lexicon.words("exclusive", "implied", "kinds")
        self._words = tuple(word for word in sorted(known) if len(word) > 1 and not word.isascii() and "*" not in word)
        self.grammar = {name: frozenset(self.stem(word) for word in found) | found for name, found in raw.items()}
        self._anaphors = frozenset(word[0] if word.isascii() else word for word in raw["third"])
        """Spelt as in `who`; they refer to the subject of the previous clause."""
        stop, g = words.load_set("stop_en") | words.load_set("stop_zh"), self.grammar
        people = g["first"] | g["plural"] | g["second"] | g["third"]
        self._empty = frozenset(self.stem(w) for w in stop) | stop | g["degree"] | people | g["present"] | g["negation"]
        self._denial = lexicon.denial()
        self._no, self._absolute, self._no_negation = g["negation"], g["absolute"], g["non-negation"]
        self._opening = g["hypothetical"] | g["hedge"] | g["reported"]
        self._others = {word: word[0] if word.isascii() else word for word in g["third"]}
        self._others |= dict.fromkeys(g["second"], "you") | dict.fromkeys(g["plural"], "we")

    @lazy
    def _segmenter(self) -> Any:
        return knowing(*self._words)

    def read(self, statement: Statement) -> Reading:
        """Parse a statement."""
        text = _ASKED_AFTER.sub(r"\1\2.", expanded(statement.text))
        speaker = normal(statement.speaker[:64]).strip().lower()
        clauses: list[Clause] = []
        dated = marked(text)
        for piece, asked in pieces(dated):
            clause = self._clause(piece, asked, speaker)
            if clauses and clause.who and clause.who <= self._anaphors:
                clause = replace(clause, who=clauses[-1].who | clauses[-1].content)
            elif clauses and _GOES_ON.match(clause.text) and (_OF_MINE.match(clauses[-1].text) or clauses[-1].implied):
                clause = replace(clause, implied=frozenset((speaker or "i",)))
            clauses.append(clause)
        han = len(_DENSE.findall(text))
        return Reading(
            text,
            *self._surface(text),
            tuple(clauses),
            tuple(canonical for _, _, canonical in self._quantities.spans(timed(dated).told)),
            beginnings(dated),
            han * 3 > len(text),
            han > len(_LATIN.findall(text)) if han else False,
        )

    def may_deny(self, text: str) -> bool:
        """Whether a reading of `text` may contain a negation, at a tenth of the cost of reading it."""
        return self._denial.search(normal(text[:LONGEST])[:LONGEST]) is not None

    def surface(self, text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """`words` and `essence` of a reading of `text`, at a tenth of the cost of reading it."""
        return self._surface(expanded(text))

    def _surface(self, text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        words = tuple([token.lower() for token, _ in self._tokens(text)])
        stem, empty = self._stems, self._empty
        return words, tuple([found for found in map(stem, words) if found not in empty])

    def numbers(self, text: str) -> list[str]:
        """Canonical numbers of a part of a reading."""
        return [canonical for _, _, canonical in self._quantities.spans(text)]

    def is_value(self, words: tuple[str, ...], text: str) -> bool:
        """Whether these words of a text name something: not only adjectives, adverbs and function words."""
        for word in words:
            if any(c > "\u2e7f" for c in word):
                if any(tag[:1] not in _QUALITIES for _, tag in self._segmenter.tag(word)):
                    return True
            elif any(c.isdigit() for c in word) or any(
                found[0].isupper() for found in re.findall(rf"\b{re.escape(word)}", text, re.IGNORECASE)
            ):
                return True
        return False

    def tagged(self, text: str) -> list[tuple[str, str]]:
        """The words of a Chinese text and the characters between them, each with its part of speech."""
        return cast(list[tuple[str, str]], self._segmenter.tag(text, hmm=False))

    def is_empty(self, stem: str) -> bool:
        """Whether it is a function word, a pronoun or a word of degree."""
        return stem in self._empty

    def stem(self, word: str) -> str:
        """The form in which words are compared."""
        return self._stems(word)

    def _stem(self, word: str) -> str:
        lower = word.lower()
        if not lower.isascii():
            return lower
        try:
            stemmer = self._threads.porter
        except AttributeError:
            stemmer = self._threads.porter = Stemmer.Stemmer("porter")
        return cast(str, stemmer.stemWord(lower.removesuffix("'s"))) or lower

    def _cut(self, stretch: str) -> tuple[tuple[str, bool], ...]:
        """Segments of a string without spaces; pronouns are separate."""
        out: list[tuple[str, bool]] = []
        for segment in self._segmenter.cut(stretch):
            cut = len(segment) > 1 and segment[0] in _PRONOUNS and segment[1:] not in _PRONOUN_ENDS
            cut = cut or segment in _OPENED
            out += ((segment[0], True), (segment[1:], True)) if cut else ((segment, True),)
        return tuple(out)

    def _tokens(self, text: str) -> list[tuple[str, bool]]:
        tokens: list[tuple[str, bool]] = []
        for found in _TOKEN.finditer(text):
            if found.lastgroup == "dense":
                tokens += self._segments(found.group())
            else:
                word = found.group().rstrip(".,:-'")
                tokens.append(("May (month)" if word == "May" and found.start() else word, False))
        return tokens

    def _clause(self, text: str, asked: bool, speaker: str) -> Clause:
        g, stem = self.grammar, self._stems
        told = timed(text)
        bare, text = _QUOTED.sub(" ", told.told), _QUOTED.sub(" ", told.text)
        negations = 0
        tokens: list[str] = []
        segments = [(token.lower(), dense) for token, dense in self._tokens(bare)]
        lowered = [lower for lower, _ in segments]
        for (lower, dense), following in zip(segments, [*lowered[1:], ""], strict=False):
            if lower == "没" and following in ("了", "电", "准", "事"):  # 累都没了: gone, not denied
                tokens.append(lower)
            elif lower in self._no:
                negations += 1
                if lower in ("没有", "无"):
                    tokens.append("有")
                elif lower in self._absolute:
                    tokens.append(lower)
            elif dense and len(lower) > 1 and lower[0] in "不没" and lower not in self._no_negation:
                negations += 1
                tokens.append(lower[1:])
            else:
                tokens.append(stem(lower))
        surface = frozenset(lowered)
        known = surface.union(tokens)
        lone = " ".join(text.split())
        past = _USED_TO.search(bare) is not None
        return Clause(
            text=lone,
            tokens=tuple(tokens),
            content=frozenset([token for token in tokens if token not in self._empty]),
            who=self._who(lone, tokens, lowered, speaker),
            negations=negations,
            asked=asked or bool(_A_NOT_A.search(bare) or _ENGLISH_ASKS.search(lone) or _CHINESE_ASKS.search(lone)),
            open=bool(_IMPERATIVE.match(lone) or known & self._opening),
            modality=frozenset([name for name in ("modal", "wish") if known & g[name]]),
            past=past,
            ended=bool(past or known & g["ended"] or _NO_MORE.search(bare)),
            changed=bool(surface & g["changed"] or told.signs & {SINCE, COMING}),
            times=told.signs,
        )

    def _who(self, text: str, tokens: list[str], surface: list[str], speaker: str) -> frozenset[str]:
        kin, first = self.grammar["kin"], self.grammar["first"]
        who = {token for token in tokens if token in kin}
        who |= {name.lower() for name in _NAME.findall(" " + text[:1].lower() + text[1:])} - {"i"}
        who |= {self._others[token] for token in surface if token in self._others and token not in first}
        if not first.isdisjoint(surface):
            who.add(speaker or "i")
        return frozenset(who)
