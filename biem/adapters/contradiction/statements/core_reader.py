"""Reads the core of a statement: what remains of it without persons, marks and fillers, and how it holds."""

import re
from functools import lru_cache

from biem.adapters.contradiction.lexicon import marks
from biem.adapters.contradiction.lexicon.attributes import spans
from biem.adapters.contradiction.reading.reader import Reading, StatementReader
from biem.adapters.contradiction.statements.core import Core, blanked
from biem.adapters.contradiction.statements.core_numbers import COUNTED, CoreNumbers
from biem.adapters.contradiction.statements.core_persons import NO_PERSON, leads, unnamed
from biem.adapters.contradiction.statements.core_words import DIVIDED, PLAIN, CoreWords, Token, on_words
from biem.adapters.contradiction.statements.distinctions import labels_of, ranks_of, way_of
from biem.adapters.contradiction.subjects.subjects import Subjects

_KEPT = 2_048
_TITLE = re.compile("《[^《》]{1,40}》")
"""A Chinese title, whose words say nothing of the statement."""
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
_TOPIC = re.compile(r"when it comes to\b", re.IGNORECASE)
_ASIDE = re.compile(
    rf"(?:日期|时间|名字|密码|学校|[那这]?个?数字?)?(?:我?[刚才又都是]{{0,2}}{marks.MISDONE_ZH}(?:[表票行]|日期|时间|了)*了?|输入法(?:打成了)?|不知怎么|[写打说]成了)|把(?:学校|日期|时间|名字)记混了"
    r"|秤不准|票到了"
)
"""Words of a correction that could be mistaken for those of an attribute."""
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
        self._numbers = CoreNumbers()
        self._words = CoreWords(reader)
        self.of = lru_cache(_KEPT)(self._read)

    def _read(self, reading: Reading) -> Core:
        text, chinese = reading.text, reading.in_chinese
        about = self._subjects.about(reading)
        asides = [found.span() for pattern in (_ASIDE, _SINCE, _WHEN) for found in pattern.finditer(text)]
        tokens = self._words.tokens(text) if chinese else []
        classes = spans(blanked(text, asides), chinese=chinese)
        if chinese:
            classes = on_words(classes, tokens, text)
        taken = asides + [place for places in classes.values() for place in places]
        numbers = self._numbers.of(text, chinese=chinese)
        taken += [(one.start, one.end) for one in numbers] + [one.span() for one in COUNTED.finditer(text)]
        names = frozenset(one for one in about.persons if not NO_PERSON.match(one))
        asks = any(clause.asked and not _TOPIC.match(clause.text) for clause in reading.clauses)
        dates = [(one.start, one.end) for one in numbers]
        which = [
            one for one in marks.WHICH.finditer(text) if not any(start <= one.start() < end for start, end in dates)
        ]
        labels = labels_of(text, numbers, asked=asks)
        taken += about.spans
        taken += [found.span() for found in which]
        words = (
            self._words.han(tokens, taken, favourite="favourite" in classes)
            if chinese
            else self._words.latin(text, taken)
        )
        names = frozenset(name for name in names if not chinese or leads(name, text))
        kin = frozenset(name for name in names if name in self._reader.grammar["kin"])
        outside_titles = _TITLE.sub("", text)
        joking = about.joking and not marks.ADMITS.search(text)
        return Core(
            text=text,
            persons=unnamed(about.persons, kin, text),
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
            which=(labels | ranks_of(text, about.spans, chinese=chinese)).union(map(way_of, which)),
            of_old=marks.OLD_ONE.search(text) is not None,
            past=any(clause.past for clause in reading.clauses),
            denies=marks.DENIES.search(text) is not None,
            verbs=frozenset(token.word for token in tokens if token.tag == "v" and len(token.word) == 1) - PLAIN,
            told=_HAPPENED.search(text) is not None and marks.CHANGES.search(text) is None,
        )


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
    starts = {token.start for token in tokens if token.tag != "n" or len(token.word) < DIVIDED}
    return any(
        not tokens or len(found.group()) > 1 or found.start() in starts for found in marks.CHANGES.finditer(text)
    )
