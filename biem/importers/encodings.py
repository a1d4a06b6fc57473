"""Which encoding a file has, and its content as UTF-8: parsers and line readers need to know only that one."""

import codecs
import io
from dataclasses import dataclass
from typing import BinaryIO

_CHUNK = 1 << 18
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CHINESE = 0.9
"""Least share of the characters beyond ASCII that GB 2312 has too, for a file to be taken for Chinese text."""


@dataclass(frozen=True, slots=True)
class Encoding:
    """The codec that decodes all of a file; empty when none is known. `wrong_at` is the first byte that is not UTF-8,
    counted from 0.
    """

    codec: str
    wrong_at: int = 0
    wrong_byte: int = 0


def encoding_of(stream: BinaryIO) -> Encoding:
    """Read a seekable stream to its end: by its mark, else UTF-16 without one, UTF-8, or GB 18030 (GBK, GB 2312)."""
    codec = codec_of(stream.read(4))
    if codec != "utf-8":
        return Encoding(codec)
    stream.seek(0)
    wrong = _first_wrong(stream)
    if wrong is None:
        return Encoding("utf-8")
    stream.seek(0)
    return Encoding("gb18030" if _is_chinese(stream) else "", *wrong)


def codec_of(head: bytes) -> str:
    """The codec of a stream that begins with these four bytes, if it is UTF-16 or UTF-32 or has a mark; else UTF-8."""
    for mark, codec in _BOMS:
        if head.startswith(mark):
            return codec
    if len(head) == 4 and head[1] == head[3] == 0 != head[0]:
        return "utf-16-le"
    if len(head) == 4 and head[0] == head[2] == 0 != head[1]:
        return "utf-16-be"
    return "utf-8"


def as_utf8(stream: BinaryIO, codec: str, *, head: bytes = b"", strict: bool = False) -> BinaryIO:
    """The stream's content in UTF-8, without a byte order mark; `head` are bytes that were read from it already.

    What cannot be decoded becomes U+FFFD, or with `strict` raises `UnicodeDecodeError`.
    """
    if codec == "utf-8" and not head:
        return stream
    return io.BufferedReader(_Recoded(stream, codec, head, strict=strict), _CHUNK)


class _Recoded(io.RawIOBase):
    """Decodes a stream and encodes it as UTF-8. Unlike `codecs.EncodedFile`, it leaves line breaks alone."""

    def __init__(self, stream: BinaryIO, codec: str, head: bytes, *, strict: bool) -> None:
        self._stream = stream
        self._head = head
        self._decoder = codecs.getincrementaldecoder(codec)(errors="strict" if strict else "replace")
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview") -> int:  # type: ignore[override]
        while not self._ready:
            data, self._head = self._head or self._stream.read(_CHUNK), b""
            self._ready = self._decoder.decode(data, final=not data).encode(errors="replace")
            if not data:
                break
        count = min(len(buffer), len(self._ready))
        buffer[:count], self._ready = self._ready[:count], self._ready[count:]
        return count


def _first_wrong(stream: BinaryIO) -> tuple[int, int] | None:
    """Position and value of the first byte that is not UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    before = 0
    while True:
        data = stream.read(_CHUNK)
        held = len(decoder.getstate()[0])
        try:
            decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            return before - held + error.start, error.object[error.start]
        if not data:
            return None
        before += len(data)


def _is_chinese(stream: BinaryIO) -> bool:
    """Whether it all decodes as GB 18030, to common characters. Western encodings decode as well, to rare ones."""
    decoder = codecs.getincrementaldecoder("gb18030")()
    common = others = 0
    while True:
        data = stream.read(_CHUNK)
        try:
            text = decoder.decode(data, final=not data)
        except UnicodeDecodeError:
            return False
        beyond = "".join(char for char in text if char > "\x7f")
        known = len(beyond.encode("gb2312", errors="ignore")) // 2
        common, others = common + known, others + len(beyond) - known
        if not data:
            return common > 0 and common >= _CHINESE * (common + others)
