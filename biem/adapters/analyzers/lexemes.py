"""Text to index terms: one tokenizer for Milvus' BM25, PostgreSQL's text search and HotKV.

Latin words are lower-cased, stripped of accents and stemmed; Han runs give characters and pairs of characters, which
beat dictionary words on every Chinese set we measured; other unspaced scripts give pairs. Identifiers are kept whole
and in parts, because people often remember a part. Every rule is linear in the length of the text.
"""

import re
import threading
import unicodedata
from itertools import chain
from typing import cast

import Stemmer

from biem.adapters.analyzers import words
from biem.adapters.analyzers.characters import DENSE, EMOJI, HAN, PART, WORD, normal, parts
from biem.adapters.analyzers.numerals import times

MAX_TERM = 64

_TOKEN = re.compile(
    rf"(?P<dense>[{DENSE}]++)"
    r"|(?P<number>(?<![A-Za-z0-9.])(?:[0-9]{1,3}(?:,[0-9]{3})++|[0-9]++)(?:\.[0-9]++)?+(?:[%‰]|[百千万萬亿億]++))"
    r"|(?P<sharp>(?<![A-Za-z0-9])[A-Za-z](?:\+\+|\#)(?!\w))"
    rf"|(?P<chunk>{WORD}(?:(?:_{{1,2}}+|[.:@'+/&\-]|(?<=[0-9]),(?=[0-9]{{3}}(?![0-9]))){WORD})*+)"
    rf"|(?P<emoji>{EMOJI})"
)
_CONTRACTION = re.compile("'(?:s|re|ve|ll|d|m)$")
_JOINT = re.compile(r"[._:@+&\-]+")
_EXACT = re.compile(r"[._@&0-9]")
_DECIMAL = re.compile(r"[0-9]+\.[0-9]+")
_QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]+)?)([a-z]+)")
_MAGNITUDES = frozenset("kmbgt")
_HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_DATE_PART = re.compile(r"0([0-9])")
_HAN = re.compile(f"[{HAN}]")
_NONE: frozenset[str] = frozenset()
_ARTICLES = frozenset({"a", "an", "the"})


class Lexer:
    """Thread-safe and equal in every process; PyStemmer is not thread-safe, so each thread has a stemmer."""

    def __init__(self) -> None:
        self._stop = words.load_set("stop_en")
        self._grammar = words.load_set("stop_zh")
        self._threads = threading.local()

    def lexemes(self, text: str) -> list[str]:
        """See `Analyzer.lexemes`. Stop words are kept when there is nothing else."""
        text_ = normal(text)
        return self._terms(text_, self._stop, self._grammar) or self._terms(text_, _NONE, _NONE) or _anything(text)

    def wording(self, text: str) -> list[str]:
        """See `Analyzer.wording`."""
        return self._terms(normal(text), _ARTICLES, _NONE) or self.lexemes(text)

    def _terms(self, text: str, stop: frozenset[str], grammar: frozenset[str]) -> list[str]:
        stemmer = self._stemmer()
        out: list[str] = []
        for found in chain.from_iterable(map(_TOKEN.finditer, parts(text, PART))):
            kind, token = found.lastgroup, found.group()
            if kind == "chunk":
                if token.isalpha() and len(token) <= MAX_TERM:
                    _word(token, stop, stemmer, out)
                else:
                    _chunk(token, stop, stemmer, out)
            elif kind == "dense":
                _dense(token, grammar, out)
            elif kind == "number":
                out.append(times(token)[:MAX_TERM])
            else:
                out.append(token.lower())
        return out

    def _stemmer(self) -> Stemmer.Stemmer:
        try:
            return self._threads.porter
        except AttributeError:
            self._threads.porter = Stemmer.Stemmer("porter")
            return self._threads.porter


def _word(token: str, stop: frozenset[str], stemmer: Stemmer.Stemmer, out: list[str]) -> None:
    lower = token.lower()
    if lower in stop:
        return
    plain = lower if lower.isascii() else _without_accents(lower)
    out.append(_stem(plain, stemmer) if plain.isascii() else plain[:MAX_TERM])
    if token[1:] != lower[1:] and not token.isupper() and token.isascii():
        humps = _HUMPS.findall(token)
        if len(humps) > 1:
            out.extend(_stem(hump.lower(), stemmer) for hump in humps)


def _stem(word: str, stemmer: Stemmer.Stemmer) -> str:
    """Porter reduces `s` to an empty string."""
    return cast(str, stemmer.stemWord(word)) or word


def _chunk(chunk: str, stop: frozenset[str], stemmer: Stemmer.Stemmer, out: list[str]) -> None:
    for piece in chunk.replace(",", "").split("/"):
        whole = piece
        if "'" in piece:
            if piece.lower() in stop:
                continue
            whole = _CONTRACTION.sub("", piece)
            if "'" in whole:
                for part in whole.split("'"):
                    if len(part) > 1:
                        _part(part, stop, stemmer, out)
                whole = whole.replace("'", "").lower()
        lower = whole.lower()
        quantity = _QUANTITY.fullmatch(lower)
        if quantity:
            out.append(lower[:MAX_TERM])
            if quantity[2] not in _MAGNITUDES:
                out.extend(part[:MAX_TERM] for part in quantity.groups())
            continue
        parts = _JOINT.split(whole)
        if len(parts) == 1 or _DECIMAL.fullmatch(whole):
            _part(whole, stop, stemmer, out)
            continue
        if _EXACT.search(whole):
            out.append(_cut(lower))
        for part in parts:
            _part(_DATE_PART.sub(r"\1", part) if len(part) == 2 else part, stop, stemmer, out)


def _part(part: str, stop: frozenset[str], stemmer: Stemmer.Stemmer, out: list[str]) -> None:
    if part.isalpha() and len(part) <= MAX_TERM:
        _word(part, stop, stemmer, out)
    elif part:
        out.append(_cut(part.lower()))


def _cut(term: str) -> str:
    return (term if term.isascii() else _without_accents(term))[:MAX_TERM]


def _dense(run: str, grammar: frozenset[str], out: list[str]) -> None:
    if len(run) == 1:
        if run not in grammar:
            out.append(run)
        return
    previous = ""
    for char in run:
        common = char in grammar
        if previous and not (common and previous in grammar):
            pair = previous + char
            if pair not in grammar:
                out.append(pair)
        if not common and char >= "\u3400" and _HAN.match(char):
            out.append(char)
        previous = char


def _without_accents(word: str) -> str:
    """é → e and ά → α; marks of other scripts carry meaning and stay."""
    if any("\u0400" <= c < "\u1e00" or c >= "\u2000" for c in word):
        return word
    return "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c)).replace("ς", "σ")


def _anything(text: str) -> list[str]:
    """The letters of a text that normalisation reduced to marks."""
    return [run.lower()[:MAX_TERM] for run in re.findall(r"[^\W_]+", text)]
