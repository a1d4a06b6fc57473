"""Character classes for the rules on words, numbers and names."""

import re
import unicodedata
from collections.abc import Iterator

from biem.domain.text import simplified

DENSE = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u3096\u30a1-\u30fa\u30fc\u3105-\u312f\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Scripts written without spaces between words (Thai, Lao, Burmese, Khmer, kana, Han) and Hangul, as a regex class."""
HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
MARKS = "".join(c for c in map(chr, range(0x300, 0x3000)) if unicodedata.category(c)[0] == "M")
"""Combining marks: parts of words for us, though not for `\\w`."""
LETTER = rf"[^\W_{DENSE}]"
WORD = rf"{LETTER}++(?:[{MARKS}]++{LETTER}*+)*+"
EMOJI = (
    "(?:[\U0001f1e6-\U0001f1ff]{2}|"
    "[\u2600-\u27bf\u2b50\u2b55\U0001f300-\U0001f3fa\U0001f400-\U0001f64f\U0001f680-\U0001faff])"
)

# Normalising a long run of combining marks takes quadratic time: inserted spaces keep `normalize` linear.
_RUN = re.compile(r"[^\w\s\x00-\x7f]{32}")
PART = 4_000
"""Characters that rules process at a time, so that other threads run between two parts of a long text."""
_ENDS = ("\n", "。！？.!?；;", " \t，、,")
"""Preferred split points, best first."""
_BROKEN = re.compile("[\0\ud800-\udfff]")
_QUOTES = str.maketrans("’‘ʼ", "'''")


def parts(text: str, most: int) -> Iterator[str]:
    """`text` in parts of at most `most` characters, in order and complete: split after a line, else a sentence, else a
    blank in the second half of a part, and inside a word only where there is none of these.

    For rules and libraries that process a whole text in one call, during which no other thread can run.
    """
    start = 0
    while len(text) - start > most:
        head = text[start + most // 2 : start + most]
        found = next((place for ends in _ENDS if (place := max(map(head.rfind, ends))) >= 0), -1)
        end = start + most // 2 + found + 1 if found >= 0 else start + most
        yield text[start:end]
        start = end
    yield text[start:]


def normal(text: str) -> str:
    """NFKC in simplified characters with plain apostrophes, without NUL and lone surrogates.

    In linear time for any text.
    """
    if text.isascii():
        return text.replace("\0", " ")
    return "".join(map(_normal, parts(text, PART)))


def _normal(text: str) -> str:
    broken = _BROKEN.sub(" ", text.translate(_QUOTES))
    return simplified(unicodedata.normalize("NFKC", _RUN.sub(lambda run: f"{run.group()} ", broken)))
