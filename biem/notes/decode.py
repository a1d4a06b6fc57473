"""Text from the bytes of a note."""

import codecs
import re
from dataclasses import dataclass
from shlex import quote

from charset_normalizer import from_bytes

from biem.domain.note import SkippedNote
from biem.domain.text import storable

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_GUESSED = ["gb18030", "big5", "shift_jis", "euc_kr", "cp1252"]
_NAMES = {"gb18030": "GB18030", "big5": "BIG5", "shift_jis": "SHIFT_JIS", "euc_kr": "EUC-KR", "cp1252": "CP1252"}
_MOST_CHAOS = 0.1
_CLEAR_BY = 0.05
"""By so much the best guess must be less chaotic than the next."""
_LEAST_BYTES = 8
"""Fewer bytes beyond ASCII tell encodings of several bytes a character not apart."""
_SAMPLE = 256 << 10
_HEAD = 8 << 10
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_MOST_CONTROLS = 0.02
_REPLACED = "\ufffd \t\n"
_LEAST_WIDE, _MOSTLY = 8, 0.8
"""Of characters, and the share of them that are Latin, in UTF-16 without a mark."""
_ALONE = re.compile(rb"(?<![\x80-\xff])[\x80-\xff](?![\x80-\xff])")
_BEYOND = re.compile(rb"[\x80-\xff]")


@dataclass(frozen=True, slots=True)
class DecodedText:
    """`encoding` is as Python names it; line breaks are `\\n`, NUL and lone surrogates U+FFFD."""

    text: str
    encoding: str


def decode(path: str, data: bytes, *, max_bytes: int) -> DecodedText | SkippedNote:
    """The text of a file: by its mark, as UTF-8, or in the encoding that it clearly has; else why it is skipped."""
    if len(data) > max_bytes:
        reason = f"it has {len(data):,} bytes, more than {max_bytes:,}: divide it into several notes"
        return SkippedNote(path, "too-large", reason)
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decoded(path, data[len(mark) :], encoding, errors="replace")
    if wide := _wide(data):
        try:
            return _decoded(path, data, wide)
        except UnicodeDecodeError:
            pass
    if _is_binary(data):
        return SkippedNote(path, "unreadable", "it is no text: give it another extension, or add it to .biemignore")
    try:
        return _decoded(path, data, "utf-8")
    except UnicodeDecodeError as error:
        guessed = _guess(data, error.start)
    if guessed:
        try:
            return _decoded(path, data, guessed)
        except UnicodeDecodeError:
            pass
    reason = (
        "it is not UTF-8, and which encoding it has is unclear: put that, such as GB18030 or BIG5, for ENCODING and "
        + conversion(path, "")
    )
    return SkippedNote(path, "not-utf8", reason)


def conversion(path: str, encoding: str) -> str:
    """How to convert a file to UTF-8."""
    source = _NAMES.get(encoding, encoding.upper() or "ENCODING")
    name = quote(path)
    return f"convert it with: iconv -f {source} -t UTF-8 {name} > {name}.new && mv {name}.new {name}"


def _decoded(path: str, data: bytes, encoding: str, errors: str = "strict") -> DecodedText | SkippedNote:
    text = storable(data.decode(encoding, errors)).replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        return SkippedNote(path, "unreadable", "it is empty: write something, or delete it")
    if not text.strip(_REPLACED):
        return SkippedNote(path, "unreadable", "no character of it can be read: save it again as UTF-8")
    return DecodedText(text, encoding)


def _wide(data: bytes) -> str:
    """UTF-16 without a mark, where almost all of its characters are of Latin scripts: every other byte is 0 then."""
    head = data[:_HEAD]
    half = len(head) // 2
    first, second = head[::2].count(0), head[1::2].count(0)
    if half < _LEAST_WIDE or min(first, second) or max(first, second) < _MOSTLY * half:
        return ""
    encoding = "utf-16-be" if first else "utf-16-le"
    text = head[: 2 * half].decode(encoding, "replace").encode()
    return "" if _CONTROLS.search(text) else encoding


def _is_binary(data: bytes) -> bool:
    head = data[:_HEAD]
    return len(_CONTROLS.findall(head)) > _MOST_CONTROLS * len(head)


def _guess(data: bytes, first: int) -> str:
    """The encoding, empty where several are as likely. `first` is the first byte that is not UTF-8."""
    sample = data if len(data) <= _SAMPLE else data[max(0, first - _HEAD) :][:_SAMPLE]
    matches = [*from_bytes(sample, cp_isolation=_GUESSED, preemptive_behaviour=False)]
    if not matches or matches[0].chaos > _MOST_CHAOS:
        return ""
    best = matches[0]
    alone, beyond = len(_ALONE.findall(sample)), len(_BEYOND.findall(sample))
    if best.encoding == "cp1252":
        return "cp1252" if 2 * alone > beyond else ""
    if beyond < _LEAST_BYTES or 2 * alone > beyond:
        return ""
    rival = any(other.chaos < best.chaos + _CLEAR_BY and other.coherence >= best.coherence for other in matches[1:])
    return "" if rival else best.encoding
