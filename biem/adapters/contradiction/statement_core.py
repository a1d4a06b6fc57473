"""The core of a statement: no persons, words of correction or of the attribute, and fillers; see `value_updates`."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from biem.adapters.analyzers.numerals import spoken
from biem.adapters.analyzers.quantities import Quantities
from biem.adapters.contradiction import lexicon
from biem.adapters.contradiction.lexicon import marks
from biem.adapters.contradiction.lexicon.attributes import spans
from biem.adapters.contradiction.reading import Reading, StatementReader
from biem.adapters.contradiction.spelled_days import days, hours
from biem.adapters.contradiction.subjects import Subjects
from biem.adapters.contradiction.value_phrases import SMALL

_KEPT = 2_048
_WORD = re.compile(r"[^\W\d_][\w'’&-]*")
_HAN = re.compile(r"[\u4e00-\u9fffA-Za-z]")
_WAYS = {"out": "outbound", "home": "return", "back": "return", "inbound": "return", "回程": "返程"}
_OF_ANOTHER_WORD = re.compile("[周期拜月拿利0-9].")
"""Two characters of which the second is no rank: 周二妈妈去, 在加拿大妈妈."""
_PREFIXED = "我你他她咱不没"
_BEFORE_CLAUSE = frozenset("，。；：:,!！？")
_TITLE = re.compile("《[^《》]{1,40}》")
"""A Chinese title, whose words say nothing of the statement."""
_STRETCH = re.compile(r"[\u4e00-\u9fff]+|[A-Za-z]+|[^\u4e00-\u9fffA-Za-z]+")
_SYLLABLES = ("zg", "g", "o", "y", "e", "a", "ag")
"""Tags of characters that form unknown words."""
_DIVIDED = 3
"""Minimum characters of a word that no unknown word begins with."""
_PLAIN = frozenset("姓叫是在有去到当做养买开坐住用换改成为给说看要会能想来得上下过没不")
_BEFORE_VALUES = _PLAIN - {"看"}
_NAMED = ("nr", "ns", "nt", "nz")
_GRAMMAR = "ucpdrymqfexokt"
"""First letters of the segmenter's tags of particles, prepositions, conjunctions, adverbs, pronouns, times …"""
_RESULTS = "到成为给去回来在掉了走完上下出入"
"""A verb followed by one of these is a predicate: neither a thing nor a value."""
_PETS = re.compile(r"\b(?:dog|cat|puppy|kitten)s?\b|[狗猫]", re.IGNORECASE)
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEKDAY = re.compile(
    r"\b(?P<en>mon|tues|wednes|thurs|fri|satur|sun)days?\b|(?:周|星期|礼拜)(?P<zh>[一二三四五六日天])(?!起|[次趟遍])",
    re.IGNORECASE,
)
_ZH_DAYS = dict(zip("一二三四五六日天", (*_DAYS, "sun"), strict=True))
_PREDICATE = re.compile(
    r"\b(?:was|were|had|has|have|got|gets|been|being|is|are|i|we|they|he|she|who|just|and) [a-z]{3,}ed\b"
    r"|\b(?:have|has|had) (?:just |now |finally )?[a-z]{3,}(?= (?:the|my|our|his|her|their|it)\b)"
    r"|\b(?:i|we|they|he|she|it) (?:am|is|are|was|were|have been|has been) (?:now |not |still )?[a-z]{2,}ing\b"
    r"|(?<=[A-Za-z] )(?!(?:shed|sled|fled)\b)[a-z]{2,}(?<!e)ed\b(?=\s*(?:$|[,.;!]))"
    r"|\b(?:has|have) (?:grown|risen|fallen|reached|gone)\b"
    r"|\b(?:broke (?:up|off)|(?-i:split)(?: up)?|called off)\b"
    r"|\b(?:ha){2,}\b|\b(?:lol|lmao|omg|ffs|btw|fyi|heads up|ugh|hey|hi|hello|guys|folks|before|after|until|near"
    r"|went|came|gave|took|found|lost|bought|brought|ran|kept|meant|thought|ps|argh|whoops|yay)\b",
    re.IGNORECASE,
)
"""Actions and interjections: neither a thing nor a value."""
_HAPPENED = re.compile(r"\b(?:i|we|he|she|they) (?!need|seed|feed)[a-z]{3,}ed\b|了(?:$|[，。！,.!;])", re.IGNORECASE)
_SINCE = re.compile(
    r"从[^，。,.；;]{1,6}?(?:开始|以来|起(?!飞))|^[一二三四五六七八九十\d]{1,2}月份?起"
    r"|^(?:since|from|as of|after|with) (?:the|this|last|my|our) [\w ]{1,24}?(?=,| (?:i|we|my|our|the|he|she)\b)",
    re.IGNORECASE,
)
_WHEN = re.compile(
    r"\b(?:the other day|(?:an?|one|two|three|four|five|six|ten|a few|some|\d{1,2}) (?:day|week|month|year)s? ago"
    r"|(?:last|this) (?:night|weekend|winter|spring|summer|autumn|fall|term|quarter))"
    r"(?=[,.;!?]|$| (?:i|we|he|she|they|it|and|but|so|because|to|in|at|from|with)\b)"
    r"|上周末|上个?星期(?![一二三四五六日天])|上个?礼拜(?![一二三四五六日天])|[这前]阵子|这段时间|大前天",
    re.IGNORECASE,
)
"""When something came about: neither the thing nor its value."""
_CODE = re.compile(
    r"(?<![\w.-])(?:\d+(?:-\d+){2,}(?<!\d{4}-\d\d-\d\d)|[A-Za-z]+\d[A-Za-z0-9]*|\d+[A-HJ-LN-Z])(?![\w-])", re.ASCII
)
"""12-33-8, hunter2, 14A."""
_FIGURES = dict(zip(SMALL, map(str, range(11)), strict=True)) | {"eleven": "11", "twelve": "12"}
_COUNTED = re.compile(
    rf"\b({'|'.join(_FIGURES)})( and a half)?"
    r"(?=\s(?:hours?|minutes?|days?|weeks?|months?|years?|times?|people|kids|children|persons)\b)",
    re.IGNORECASE,
)
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_NTH = {word: str(number) for number, word in enumerate(_ORDINALS, 1)}
_FLOOR = re.compile(
    rf"\b({'|'.join(_ORDINALS)}|\d+(?=st|nd|rd|th))(?:st|nd|rd|th)? (floor|grade|row|year)\b", re.IGNORECASE
)
_MONTH = re.compile(
    r"\b(?P<month>jan(?:uary)?|feb(?:ruary)?|apr(?:il)?|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
    r"|(?<=\b(?:in|to|by|of) )(?:march|may)|(?<=\buntil )(?:march|may)|(?<=\bsince )(?:march|may))\b(?! \d)(?<!\d )",
    re.IGNORECASE,
)
_TOPIC = re.compile(r"when it comes to\b", re.IGNORECASE)
_TOLD = frozenset(("you", "你"))
_TO_YOU = re.compile(
    r"\b(?:gave|give|told|tell|sent|promised|for|like|let|so) you(?:r)?\b|告诉你|跟你|[请给]你|你记", re.IGNORECASE
)
_PRONOUNS = frozenset(("he", "she", "they", "他", "她", "他们", "她们"))
_PEOPLE = re.compile(
    r"\bthey(?: have| had)?(?: just| now| also)? [a-z]+ (?:the|my|our|me|us|it)\b"
    r"|\bthey (?:just )?(?:called|rang|phoned|wrote|emailed|texted)\b|[他她]们(?:给我|把)",
    re.IGNORECASE,
)
"""They changed the code."""
VAGUE = re.compile(r"(?:he|she|they|you|[他她你]们?)(?:$|\.)")
_ASIDE = re.compile(
    rf"(?:日期|时间|名字|密码|学校|[那这]?个?数字?)?(?:我?[刚才又都是]{{0,2}}{marks.MISDONE_ZH}(?:[表票行]|日期|时间|了)*了?|输入法(?:打成了)?|不知怎么|[写打说]成了)|把(?:学校|日期|时间|名字)记混了"
    r"|秤不准|票到了"
)
"""Words of a correction that could be mistaken for those of an attribute."""
_IN_SENTENCE = re.compile(r"[\w,’'&-]\s{1,2}$")
_NO_PERSON = re.compile(r"^(?:me|we|you|he|she|they|quoted|[他她你您]们?)(?:$|\.)")


class Token(NamedTuple):
    """A Chinese word, its part of speech and position."""

    word: str
    tag: str
    start: int


@dataclass(frozen=True, slots=True)
class Piece:
    """A word, or a number in canonical form, and its position."""

    stem: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Core:
    """The core of a statement."""

    text: str
    persons: frozenset[str]
    names: frozenset[str]
    words: tuple[Piece, ...]
    numbers: tuple[Piece, ...]
    classes: frozenset[str]
    places: tuple[tuple[str, int], ...]
    """Positions of words of each class."""
    corrects: bool
    changes: bool
    holds: bool
    """It states a fact in the speaker's own words."""
    open: bool
    """It states no fact: a question, hypothesis, plan, wish, dream or joke."""
    adds: bool
    """It adds to known facts, or concerns only some occasions."""
    days: bool
    """It concerns only some days of the week."""
    which: frozenset[str]
    """Words that distinguish one of several."""
    of_old: bool
    """It mentions a value that was already replaced."""
    past: bool
    """It states what used to be so."""
    denies: bool
    verbs: frozenset[str]
    """Chinese verbs of one character."""
    told: bool
    """It reports a single event, which cannot end."""

    @property
    def marked(self) -> bool:
        """Whether it marks a correction or change."""
        return (self.corrects or self.changes) and self.holds and not self.adds


def _labels(text: str, numbers: Sequence[Piece], *, asked: bool) -> frozenset[str]:
    """The numbers and letters that distinguish one of several things: `#2` of "machine 2" and of 二号机床."""
    plain = {one.start: one.stem for one in numbers}
    found = set()
    for match in (marks.LABEL_ASKED if asked else marks.LABEL).finditer(text, 0, marks.LABELLED):
        kind = next(name for name, value in match.groupdict().items() if value is not None)
        label = match[kind]
        if not label.isalpha() or kind == "no":
            label = plain.get(match.start(kind)) or spoken(label) or ""  # 一号 is no quantity
        if label.isdigit() or label.isalpha():
            found.add(f"#{label.lower()}")
    return frozenset(found)


def _ranks(text: str, relatives: Sequence[tuple[int, int]], *, chinese: bool) -> frozenset[str]:
    """Which of several relatives these spans name: `#elder` of 大女儿 and "my older daughter", `#maternal` of 外婆."""
    if chinese:
        found = {_han_rank(text[max(0, start - 2) : start], text[start:end]) for start, end in relatives}
    else:
        found = {match.lastgroup or "" for span in relatives if (match := marks.RANK.search(text, *span))}
    return frozenset(f"#{rank}" for rank in found if rank)


def _han_rank(before: str, relative: str) -> str:
    """The rank by the character before, else by the relation, else the side of the family. `before`: two characters."""
    first = "" if _OF_ANOTHER_WORD.match(before) else marks.HAN_RANKS.get(before[-1:], "")
    side = next((marks.HAN_SIDES[one] for one in relative if one in marks.HAN_SIDES), "")
    return first or marks.HAN_RANKS.get(relative[-1], "") or side


_HINDERED = re.compile(r"\b(?:could|would)(?: not|n['’]t)\b[^.;!?]{1,80}[,;] so (?P<so>[^.;!?]+)", re.IGNORECASE)
"""What was done because something else could not be: "they couldn't seat us, so we stand"."""
_DECIDES = re.compile(
    r"\b(?:i|we)(?: have|['’]ve)? (?:now |just |finally )?"
    r"(?:settled (?:for|on)|decided (?:on|for)|went (?:for|with)|go(?:ing)? (?:for|with)|chose|opted for|picked)\b",
    re.IGNORECASE,
)
"""The speaker chose something: "tin might rust, we settled for zinc"."""
_PARTS = re.compile(r"(?<=[,;:.!?，；：。！？])")


class StatementCores:
    """Reads the cores of statements. Thread-safe."""

    def __init__(self, reader: StatementReader, subjects: Subjects) -> None:
        self._reader = reader
        self._subjects = subjects
        self._quantities = Quantities()
        found = lexicon.sets("subjects")
        known = found["husk"] | found["plain"] | found["time"]
        self._husk = {reader.stem(word) for word in known if word.isascii()} | {w for w in known if w.isascii()}
        self._times = found["time"]
        self._han_husk = {word for word in known if not word.isascii()}
        self._stop = reader.is_empty
        self.of = lru_cache(_KEPT)(self._read)

    def _read(self, reading: Reading) -> Core:
        text, chinese = reading.text, reading.in_chinese
        about = self._subjects.about(reading)
        asides = [found.span() for pattern in (_ASIDE, _SINCE, _WHEN) for found in pattern.finditer(text)]
        tokens = self._tokens(text) if chinese else []
        classes = spans(_blanked(text, asides), chinese=chinese)
        if chinese:
            classes = _on_words(classes, tokens, text)
        taken = asides + [place for places in classes.values() for place in places]
        numbers = self._numbers(text, chinese=chinese)
        taken += [(one.start, one.end) for one in numbers] + [one.span() for one in _COUNTED.finditer(text)]
        names = frozenset(one for one in about.persons if not _NO_PERSON.match(one))
        asks = any(clause.asked and not _TOPIC.match(clause.text) for clause in reading.clauses)
        dates = [(one.start, one.end) for one in numbers]
        which = [
            one for one in marks.WHICH.finditer(text) if not any(start <= one.start() < end for start, end in dates)
        ]
        labels = _labels(text, numbers, asked=asks)
        taken += about.spans
        taken += [found.span() for found in which]
        words = self._han(tokens, taken, favourite="favourite" in classes) if chinese else self._latin(text, taken)
        names = frozenset(name for name in names if not chinese or _leads(name, text))
        kin = frozenset(name for name in names if name in self._reader.grammar["kin"])
        outside_titles = _TITLE.sub("", text)
        joking = about.joking and not marks.ADMITS.search(text)
        return Core(
            text=text,
            persons=_unnamed(about.persons, kin, text),
            names=names - kin,
            words=tuple(words),
            numbers=tuple(numbers),
            classes=frozenset(classes),
            places=tuple((name, start) for name, found in classes.items() for start, _ in found),
            corrects=marks.CORRECTS.search(text) is not None,
            changes=_changes(text, tokens),
            holds=not (asks or about.reported or joking)
            and not marks.QUOTED_SELF.search(text)
            and not marks.LEAVES_OPEN.search(outside_titles)
            and not marks.OF_THE_PAST.search(outside_titles),
            open=joking or marks.UNREAL.search(outside_titles) is not None or _only_doubts(outside_titles),
            adds=marks.ANOTHER.search(text) is not None or marks.ON_OCCASION.search(text) is not None,
            days=marks.ON_DAYS.search(text) is not None,
            which=(labels | _ranks(text, about.spans, chinese=chinese)).union(
                _WAYS.get(found.group().lower(), found.group().lower()) for found in which
            ),
            of_old=marks.OLD_ONE.search(text) is not None,
            past=any(clause.past for clause in reading.clauses),
            denies=marks.DENIES.search(text) is not None,
            verbs=frozenset(token.word for token in tokens if token.tag == "v" and len(token.word) == 1) - _PLAIN,
            told=_HAPPENED.search(text) is not None and marks.CHANGES.search(text) is None,
        )

    def _numbers(self, text: str, *, chinese: bool) -> list[Piece]:
        """Quantities, codes, weekdays, ordinals and months; a month of a date counts once, with its date."""
        codes = [Piece(f"code:{found.group().lower()}", *found.span()) for found in _CODE.finditer(text)]
        codes += [Piece(f"weekday:{_day(found)}", *found.span()) for found in _WEEKDAY.finditer(text)]
        codes += [
            Piece(f"{found[2]}:{_NTH.get(found[1].lower(), found[1])}", *found.span())
            for found in _FLOOR.finditer(text)
        ]
        codes += [Piece(canonical, start, end) for start, end, canonical in (*days(text), *hours(text))]
        rest = _blanked(text, [(one.start, one.end) for one in codes]) if codes else text
        rest = _COUNTED.sub(_figure, rest) if not chinese else rest
        numbers = [Piece(canonical, start, end) for start, end, canonical in self._quantities.spans(rest)] + codes
        dated = {place for one in numbers for place in range(one.start, one.end)}
        return numbers + [
            Piece(f"month:{found['month'][:3].lower()}", *found.span())
            for found in _MONTH.finditer(text)
            if found.start() not in dated
        ]

    def _tokens(self, text: str) -> list[Token]:
        found: list[Token] = []
        start = 0
        for word, tag in self._tagged(text):
            if len(word) > 1 and (tag[:1] in "vd" if word[0] in _PREFIXED else word[0] == "新" and tag not in _NAMED):
                found += (Token(word[0], "r", start), Token(word[1:], "v" if tag[:1] in "vd" else tag, start + 1))
            elif len(word) == 2 and word[1] == "叫":
                found += (Token(word[0], tag, start), Token("叫", "v", start + 1))
            else:
                found.append(Token(word, tag, start))
            start += len(word)
        return found

    def _tagged(self, text: str) -> Iterator[tuple[str, str]]:
        """Splits Chinese from other text: the segmenter takes wifi密码 for one word."""
        for stretch in _STRETCH.findall(text):
            if stretch[0] >= "\u4e00":
                yield from self._reader.tagged(stretch)
            else:
                yield stretch, "eng" if stretch[0].isalpha() else "x"

    def _latin(self, text: str, taken: list[tuple[int, int]]) -> Iterator[Piece]:
        rest = _blanked(text, taken + [one.span() for one in _PREDICATE.finditer(text)])
        for found in _WORD.finditer(rest):
            word = found.group().removesuffix("'s").removesuffix("’s")
            if word.lower() == "s":
                continue
            stem, named = self._reader.stem(word), word[0].isupper() and _IN_SENTENCE.search(text[: found.start()][-3:])
            plain = {stem, word.lower()} & self._husk or self._stop(stem) or self._stop(word.lower())
            if not plain or (named and len(word) > 1 and stem not in self._times):
                yield Piece(stem, found.start(), found.start() + len(word))

    def _han(self, tokens: list[Token], taken: list[tuple[int, int]], *, favourite: bool) -> list[Piece]:
        """Whole words: 于 within 终于 does not match. Function words are recognised by their part of speech."""
        found: list[tuple[Piece, str]] = []
        for token, after, later in zip(tokens, [*tokens[1:], None], [*tokens[2:], None, None], strict=False):
            word, tag, start = token.word, token.tag, token.start
            if after and later and after.word == "了" and later.word[0].isalnum():
                continue  # 重置了密码
            end = start + len(word)
            if (
                not _HAN.match(word)
                or word in self._han_husk
                or any(one < end and start < other for one, other in taken)
            ):
                continue
            verb = tag in ("v", "vg", "ul") and word[0] >= "\u4e00"
            maybe = len(word) == 1 and (
                tag in _SYLLABLES
                or (
                    tag == "v"
                    and after is not None
                    and len(after.word) == 1
                    and after.tag == "n"
                    and word not in _BEFORE_VALUES
                )  # 看牙, not 洗牙
            )
            if after is not None and len(word) == 1 and after.word in _RESULTS[:4]:
                continue
            ends = after is None or not after.word[0].isalnum()
            if not maybe and (
                (verb and (len(word) == 1 or word[-1] in _RESULTS or (after is not None and after.word == "了")))
                or (verb and ends and any(other == start for _, other in taken))
                or (tag != "eng" and tag[:1] in _GRAMMAR and not (favourite and tag == "t") and word[0] != "无")
            ):
                continue
            if tag == "eng":
                if not {stem := self._reader.stem(word), word.lower()} & self._husk:
                    found.append((Piece(stem, start, end), ""))
                continue
            found.append((Piece(word, start, end), tag if len(word) < _DIVIDED else ""))
        return [piece for piece in _joined(found) if piece.stem not in self._han_husk]


def _only_doubts(text: str) -> bool:
    """Whether it asks, plans or weighs something, and no part tells of a change without that."""
    if marks.DOUBTS.search(text) is None:
        return False
    hindered = _HINDERED.search(text)
    if hindered is not None and marks.DOUBTS.search(hindered["so"]) is None:
        return False
    parts = _PARTS.split(text)
    decides = (part for part in parts if marks.CHANGES.search(part) or _DECIDES.search(part))
    return all(marks.DOUBTS.search(part) for part in decides)


def _changes(text: str, tokens: list[Token]) -> bool:
    """Whether it reports a change; a Chinese character counts as a separate word or at the start of one.

    A noun of three or more characters may begin with one and tell of no change: 降压药.
    """
    starts = {token.start for token in tokens if token.tag != "n" or len(token.word) < _DIVIDED}
    return any(
        not tokens or len(found.group()) > 1 or found.start() in starts for found in marks.CHANGES.finditer(text)
    )


def _joined(pieces: list[tuple[Piece, str]]) -> list[Piece]:
    """Adjacent single characters, or one next to a short noun, are a word unknown to the segmenter, mostly a name;
    single ones count only if they are nouns."""
    out: list[tuple[Piece, str]] = []
    for one, tag in pieces:
        last, before = out[-1] if out else (None, "")
        apart = last is None or last.end != one.start or 1 not in (len(last.stem), len(one.stem))
        if (
            last is None
            or apart
            or not all(len(side.stem) == 1 or of[:1] == "n" for side, of in ((last, before), (one, tag)))
        ):
            out.append((one, tag))
        else:
            out[-1] = Piece(last.stem + one.stem, last.start, one.end), "nr"
    return [one for one, tag in out if tag[:1] == "n" or len(one.stem) > 1]


def _on_words(
    classes: dict[str, list[tuple[int, int]]], tokens: list[Token], text: str
) -> dict[str, list[tuple[int, int]]]:
    """Class words that start and end at word boundaries: 开始 does not mean opening."""
    starts = {token.start for token in tokens} | {len(text)}
    found = {
        name: [
            (one, other)
            for one, other in places
            if (one in starts or text[max(0, one - 1)] in _PREFIXED)
            and (other in starts or text[other] in _RESULTS or text[other - 1] in "了的")
        ]
        for name, places in classes.items()
    }
    return {name: places for name, places in found.items() if places}


def positions(text: str, name: str) -> Iterator[int]:
    """Where a name is in a text."""
    at = text.find(name)
    while at >= 0:
        yield at
        at = text.find(name, at + 1)


def _blanked(text: str, taken: list[tuple[int, int]]) -> str:
    """The text with these spans replaced by spaces."""
    out, at = [], 0
    for start, end in sorted(taken):
        if end > at:
            out += [text[at : max(at, start)], " " * (end - max(at, start))]
            at = end
    return "".join((*out, text[at:]))


def _figure(found: re.Match[str]) -> str:
    """A spelled number in figures, at the same place: six hours, seven and a half hours."""
    return f"{_FIGURES[found[1].lower()]}{'.5' if found[2] else ''}".rjust(len(found.group()))


def _day(found: re.Match[str]) -> str:
    return _ZH_DAYS[found["zh"]] if found["zh"] else found["en"][:3].lower()


def _unnamed(persons: frozenset[str], kin: frozenset[str], text: str) -> frozenset[str]:
    """Persons without a name: relatives of the speaker, and pronouns that nothing in the text explains."""
    pronouns = frozenset(_PETS.sub("", one).rstrip(".") for one in persons if _NO_PERSON.match(one))
    explained = {"me", "quoted"} | _anaphors(persons, text) | (_TOLD if _TO_YOU.search(text) else frozenset())
    return frozenset(f"me.{one}" for one in kin if not _PETS.fullmatch(one)) | pronouns - explained


def _anaphors(persons: frozenset[str], text: str) -> frozenset[str]:
    """Pronouns that refer to a person or thing named before, or to people in general."""
    named = any(not VAGUE.match(one) and one not in ("me", "quoted") for one in persons) or _PETS.search(text)
    return _PRONOUNS if named or _PEOPLE.search(text) else frozenset()


def _leads(name: str, text: str) -> bool:
    """Whether a Chinese name is in the position of a subject or an owner."""
    return any(
        at == 0 or text[at - 1] in _BEFORE_CLAUSE or text[at - 1].isspace() or text.startswith("的", at + len(name))
        for at in positions(text, name)
    )
