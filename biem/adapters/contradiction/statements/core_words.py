"""The words that name a thing or its value: English stems, and Chinese words by their parts of speech."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from biem.adapters.contradiction import lexicon
from biem.adapters.contradiction.reading.reader import StatementReader
from biem.adapters.contradiction.statements.core import Piece, blanked

_WORD = re.compile(r"[^\W\d_][\w'’&-]*")
_HAN = re.compile(r"[\u4e00-\u9fffA-Za-z]")
_PREFIXED = "我你他她咱不没"
_STRETCH = re.compile(r"[\u4e00-\u9fff]+|[A-Za-z]+|[^\u4e00-\u9fffA-Za-z]+")
_SYLLABLES = ("zg", "g", "o", "y", "e", "a", "ag")
"""Tags of characters that form unknown words."""
DIVIDED = 3
"""Minimum characters of a word that no unknown word begins with."""
PLAIN = frozenset("姓叫是在有去到当做养买开坐住用换改成为给说看要会能想来得上下过没不")
_BEFORE_VALUES = PLAIN - {"看"}
_NAMED = ("nr", "ns", "nt", "nz")
_GRAMMAR = "ucpdrymqfexokt"
"""First letters of the segmenter's tags of particles, prepositions, conjunctions, adverbs, pronouns, times …"""
_RESULTS = "到成为给去回来在掉了走完上下出入"
"""A verb followed by one of these is a predicate: neither a thing nor a value."""
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
_IN_SENTENCE = re.compile(r"[\w,’'&-]\s{1,2}$")


class Token(NamedTuple):
    """A Chinese word, its part of speech and position."""

    word: str
    tag: str
    start: int


class CoreWords:
    """Reads the words that name the thing and its value. Thread-safe."""

    def __init__(self, reader: StatementReader) -> None:
        self._reader = reader
        found = lexicon.sets("subjects")
        known = found["husk"] | found["plain"] | found["time"]
        self._husk = {reader.stem(word) for word in known if word.isascii()} | {w for w in known if w.isascii()}
        self._times = found["time"]
        self._han_husk = {word for word in known if not word.isascii()}
        self._stop = reader.is_empty

    def tokens(self, text: str) -> list[Token]:
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

    def latin(self, text: str, taken: list[tuple[int, int]]) -> Iterator[Piece]:
        rest = blanked(text, taken + [one.span() for one in _PREDICATE.finditer(text)])
        for found in _WORD.finditer(rest):
            word = found.group().removesuffix("'s").removesuffix("’s")
            if word.lower() == "s":
                continue
            stem, named = self._reader.stem(word), word[0].isupper() and _IN_SENTENCE.search(text[: found.start()][-3:])
            plain = {stem, word.lower()} & self._husk or self._stop(stem) or self._stop(word.lower())
            if not plain or (named and len(word) > 1 and stem not in self._times):
                yield Piece(stem, found.start(), found.start() + len(word))

    def han(self, tokens: list[Token], taken: list[tuple[int, int]], *, favourite: bool) -> list[Piece]:
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
            found.append((Piece(word, start, end), tag if len(word) < DIVIDED else ""))
        return [piece for piece in _joined(found) if piece.stem not in self._han_husk]


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


def on_words(
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
