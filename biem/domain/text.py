"""Text as it comes from people and models: what is accepted, how it is cut, how it is shown on one line."""

import hashlib
import re
import unicodedata

from biem.errors import InvalidInput

_SURROGATES = re.compile("[\ud800-\udfff]")
_SPACES = re.compile(r"\s+")


def require_clean(text: str, what: str) -> None:
    """Refuse what no store can hold: NUL and lone surrogates. `what` names the field in the message."""
    position = text.find("\0")
    if position >= 0:
        raise InvalidInput(f"{what} has a NUL character at position {position}; remove it, no database can store it")
    broken = _SURROGATES.search(text)
    if broken:
        raise InvalidInput(
            f"{what} has a lone surrogate (U+{ord(broken.group()):04X}) at position {broken.start()}; it is not valid "
            f"Unicode: decode the source with errors='replace' or repair it"
        )


def sha256(text: str) -> bytes:
    """32 bytes that name a text in every process and on every machine."""
    return hashlib.sha256(text.encode()).digest()


def cut_bytes(text: str, limit: int) -> str:
    """The longest head of `text` of at most `limit` UTF-8 bytes, never cutting inside a character."""
    encoded = text.encode()
    return text if len(encoded) <= limit else encoded[:limit].decode(errors="ignore")


def cut_lexemes(lexemes: str, most_bytes: int) -> str:
    """As many whole terms, with spaces between, as fit."""
    head = cut_bytes(lexemes, most_bytes)
    return lexemes if head == lexemes else head.rpartition(" ")[0]


def one_line(text: str, limit: int) -> str:
    """`text` on one line of at most `limit` characters, safe to show inside a block of other lines.

    Every kind of line break and control or format character (zero-width, bidirectional) goes, so that remembered text
    can neither open a new line nor hide one; a longer text ends in `...`.
    """
    spaced = _SPACES.sub(" ", text)
    shown = "".join(c for c in spaced if c == " " or unicodedata.category(c)[0] != "C").strip()
    return shown if len(shown) <= limit else shown[: max(0, limit - 3)].rstrip() + "..."
