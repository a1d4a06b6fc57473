"""Names of mirrored files: readable, the same on every system, and never two that a disk takes for one."""

import unicodedata
from collections.abc import Container, Iterator, Mapping
from datetime import UTC, datetime

from biem.domain.mirror.root import ARCHIVE
from biem.domain.observing.category import Category

_MOST_CHARS = 80
"""Of the title."""
_MOST_BYTES = 200
"""Of the name before its extension: file systems take 255, and a collision adds some."""
_JOINER = "\u200d"
_SHOWN = ("L", "N", "M", "So", "Sk")
_PLAIN = "-_"
_UNTITLED = "untitled"
_ID_DIGITS = 8
_LAYERS = ("core", "short_term", "long_term")


def file_name(at: datetime, category: str, title: str) -> str:
    """`YYYYMMDD_category_title.md`, without signs that Windows or a synchronising program refuses."""
    head = f"{at.astimezone(UTC):%Y%m%d}_{category}_"
    return head + (_cut(_safe(title), _MOST_BYTES - len(head.encode())) or _UNTITLED) + ".md"


def with_id(path: str, memory_id: str) -> str:
    """Another name for a file whose own is taken: with the last digits of its memory's id."""
    return f"{path.removesuffix('.md')}_{memory_id.replace('-', '')[-_ID_DIGITS:]}.md"


def key(path: str) -> str:
    """Equal for paths that are one file on macOS or Windows."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def free_path(path: str, memory_id: str, taken: Container[str]) -> str:
    """The path, or one with the id in its name; `taken` has the keys of the files that are there."""
    return with_id(path, memory_id) if key(path) in taken else path


def folder_of(category: str, layer: str, categories: Mapping[str, Category]) -> str:
    """The folder of a memory."""
    known = categories.get(category)
    return known.folder if known and known.folder else layer


def meant_by(path: str, categories: Mapping[str, Category]) -> dict[str, str]:
    """Layer and category that a file's folder says; empty where it says none."""
    folder = path.removeprefix(ARCHIVE).rpartition("/")[0]
    for each in categories.values():
        if each.folder and each.folder == folder:
            return {"category": each.name, "layer": each.layer}
    top = folder.partition("/")[0]
    return {"layer": top} if top in _LAYERS else {}


def _safe(title: str) -> str:
    shown = "".join(c if _is_safe(c) else " " for c in unicodedata.normalize("NFC", title))
    return "-".join(shown.split()).strip(_PLAIN + _JOINER)


def _is_safe(character: str) -> bool:
    if character.isascii():
        return character.isalnum() or character in _PLAIN
    return character == _JOINER or unicodedata.category(character).startswith(_SHOWN)


def _cut(text: str, most_bytes: int) -> str:
    kept = ""
    for cluster in clusters(text):
        longer = kept + cluster
        if len(longer) > _MOST_CHARS or len(longer.encode()) > most_bytes:
            break
        kept = longer
    return kept.rstrip(_PLAIN)


def clusters(text: str) -> Iterator[str]:
    """What a reader takes for one character each: a base with its marks, joined emoji, a flag."""
    cluster = ""
    for character in text:
        if cluster and not _continues(cluster, character):
            yield cluster
            cluster = ""
        cluster += character
    if cluster:
        yield cluster


def _continues(cluster: str, character: str) -> bool:
    if character == _JOINER or cluster[-1] == _JOINER or unicodedata.category(character)[0] == "M":
        return True
    if "\U0001f3fb" <= character <= "\U0001f3ff":  # tones of skin
        return True
    return len(cluster) == 1 and _is_flag_half(cluster) and _is_flag_half(character)


def _is_flag_half(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"
