"""Text from people and models: validation, cutting, display on one line, Chinese in simplified characters."""

import hashlib
import re
import sys
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from os import PathLike, fspath
from typing import Any, cast, overload

from biem.errors import InvalidInput
from biem.lazy import lazy

_SURROGATES = re.compile("[\ud800-\udfff]")
_SPACES = re.compile(r"\s+")
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]"
)
"""Invisible characters that Unicode does not class as controls: fillers, variation selectors, tags."""
_NOT_STORABLE = re.compile("[\0\ud800-\udfff]")
_UNSTORABLE = dict.fromkeys((0, *range(0xD800, 0xE000)), "\N{REPLACEMENT CHARACTER}")
_MOST_LEVELS = 100
"""Of JSON values within each other; what writes answers takes 255, in documents with levels of their own."""
MOST_LISTED = 1_000
"""Maximum items that one call lists."""


def require_clean(text: str, what: str) -> None:
    """Reject characters that no store accepts: NUL and lone surrogates. `what` names the field in the message."""
    position = text.find("\0")
    if position >= 0:
        raise InvalidInput(f"{what} has a NUL character at position {position}; remove it, no database can store it")
    broken = _SURROGATES.search(text)
    if broken:
        raise InvalidInput(
            f"{what} has a lone surrogate (U+{ord(broken.group()):04X}) at position {broken.start()}; it is not valid "
            f"Unicode: decode the source with errors='replace' or repair it"
        )


def require_string(value: object, what: str) -> None:
    """Reject values that are no strings, or that no store accepts. `what` names the value in the message."""
    if not isinstance(value, str):
        raise InvalidInput(f"{what} must be a string, not {type(value).__name__}")
    require_clean(value, what)


def require_names(names: object, what: str) -> None:
    """A lone string would be read letter by letter, and find nothing."""
    if isinstance(names, str | bytes) or not isinstance(names, Collection):
        raise InvalidInput(f"{what} must be a list of strings, such as [{names!r:.40}], not {type(names).__name__}")
    for name in names:
        if not isinstance(name, str):
            raise InvalidInput(f"{what} must be a list of strings; one of them is {type(name).__name__}")
        require_clean(name, f"one of the {what}")


def require_path(value: object, what: str) -> str:
    """The path of a file or folder as a string; rejects values that name none."""
    if not isinstance(value, str | PathLike):
        raise InvalidInput(f"{what} must be a path, not {type(value).__name__}")
    path = fspath(value)
    require_string(path, what)
    if not path:
        raise InvalidInput(f"{what} is empty; give the path of a file or folder")
    return path


def require_count(value: object, what: str, most: int) -> None:
    """Reject values that are no integer from 1 to `most`. `what` names the value in the message."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise InvalidInput(f"{what} must be a whole number from 1 to {most:,}, not {value!r}")


def counted(number: int, one: str, several: str = "") -> str:
    """A number and what is counted: `1 memory`, `2 memories`. `several` is for what has another plural."""
    plural = several or (f"{one[:-1]}ies" if one.endswith("ry") else f"{one}s")
    return f"{number} {one if number == 1 else plural}"


def require_json(value: Any, what: str) -> None:
    """Reject JSON values that could be stored but not read again: nested too deeply, or a number that no float holds.

    `what` names the value in the message.
    """
    level = [value]
    for _ in range(_MOST_LEVELS):
        inner: list[Any] = []
        for each in level:
            if isinstance(each, Mapping):
                inner += each.values()
            elif isinstance(each, list | tuple):
                inner += each
            elif isinstance(each, int) and abs(each) > sys.float_info.max:
                raise InvalidInput(f"{what} has a number with more digits than a JSON reader takes; store it as text")
        if not inner:
            return
        level = inner
    raise InvalidInput(f"{what} is nested more than {_MOST_LEVELS} levels deep")


def sha256(text: str) -> bytes:
    """32 bytes that identify a text in every process and on every machine."""
    return hashlib.sha256(text.encode()).digest()


def cut_bytes(text: str, limit: int) -> str:
    """The longest prefix of `text` of at most `limit` UTF-8 bytes, never cutting inside a character."""
    encoded = text.encode()
    return text if len(encoded) <= limit else encoded[:limit].decode(errors="ignore")


def cut_lexemes(lexemes: str, most_bytes: int) -> str:
    """As many whole terms, space-separated, as fit."""
    head = cut_bytes(lexemes, most_bytes)
    return lexemes if head == lexemes else head.rpartition(" ")[0]


def storable(text: str) -> str:
    """`text` as PostgreSQL accepts it: NUL and lone surrogates, which a broken client may send, become U+FFFD.

    Raises `InvalidInput` for what is no string.
    """
    if not isinstance(text, str):
        raise InvalidInput(f"a text must be a string, not {type(text).__name__}; pass the text of the message")
    return text if _NOT_STORABLE.search(text) is None else text.translate(_UNSTORABLE)


def rejoined(parts: Sequence[str], text: str) -> str:
    """Parts of a text, in their order, with a blank between those that do not follow each other directly in it.

    The subject of another part, which one was given so that it stands alone ("I hiking in the Tatras"), is removed.
    """
    own = [_as_in(text, part) for part in parts]
    before = ["", *own]
    return "".join(part if one + part in text else f" {part}" for one, part in zip(before, own, strict=False)).lstrip()


def _as_in(text: str, part: str) -> str:
    """The part, or its longest end of at least half of it that the text has."""
    ends = (part[start:] for start in range(len(part) // 2 + 1))
    return next((end.lstrip() for end in ends if end in text), part)


def one_line(text: str, limit: int) -> str:
    """`text` on one line of at most `limit` characters, safe inside a block of other lines.

    Every kind of line break and control, format (zero-width, bidirectional) or otherwise invisible character is
    removed, so that stored text can neither open a new line nor hide one; a longer text ends in `...`.
    """
    spaced = _SPACES.sub(" ", _INVISIBLE.sub("", text))
    if not spaced.isprintable():  # most texts have no such character, and then none has to be looked for
        spaced = "".join(c for c in spaced if c == " " or unicodedata.category(c)[0] != "C")
    shown = spaced.strip()
    return shown if len(shown) <= limit else shown[: max(0, limit - 3)].rstrip() + "..."


class Terms(Sequence[str]):
    """The terms of one text, split lazily: a recall reads several hundred texts and examines few of them term by
    term. Equal to any sequence of the same terms.
    """

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __len__(self) -> int:
        return self.text.count(" ") + 1 if self.text else 0

    def __iter__(self) -> Iterator[str]:
        return iter(self.text.split(" ") if self.text else ())

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        return [*self][place]

    def __eq__(self, other: object) -> bool:
        return [*self] == [*other] if isinstance(other, Sequence) and not isinstance(other, str) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Terms({self.text!r})"


def stored(terms: Sequence[str]) -> str:
    """The terms as one string."""
    return terms.text if isinstance(terms, Terms) else " ".join(terms)


def jaccard(some: frozenset[str], other: frozenset[str]) -> float:
    """The share of common terms of two texts, in [0, 1]; 1 for two texts without terms."""
    both = some | other
    return len(some & other) / len(both) if both else 1.0


class LatePattern:
    """A regular expression that is compiled at its first use: a large one takes milliseconds, and a question uses few.

    It has the attributes of the compiled pattern, each of which is kept here after its first use.
    """

    def __init__(self, text: str, flags: int) -> None:
        self._text = text
        self._flags = flags

    @lazy
    def compiled(self) -> re.Pattern[str]:
        """The pattern itself. Raises `re.error`."""
        return re.compile(self._text, self._flags)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = getattr(self.compiled, name)
        setattr(self, name, value)
        return value


def late(text: str, flags: int = 0) -> re.Pattern[str]:
    """A pattern for its methods; functions of `re` do not take it."""
    return cast("re.Pattern[str]", LatePattern(text, flags))


_HAN = late("[\u4e00-\u9fff]")


def is_han(text: str) -> bool:
    """Whether it is written in Chinese characters rather than in letters."""
    return not text.isascii() and 3 * len(_HAN.findall(text)) > len(text)


def share(values: frozenset[str], others: frozenset[str]) -> bool:
    """Whether two sets of words have one in common; a Chinese word, which has no boundaries, may contain the other."""
    if values & others:
        return True
    han = [[word for word in words if len(word) > 1 and not word.isascii()] for words in (values, others)]
    return any(one in other or other in one for one in han[0] for other in han[1])


_BY_WORD = late(
    "乾(?![隆坤])|瞭(?=[解然])|帐(?=[号户单目款本务])|甚(?=么)|(?<![显卓昭原名巨专论编土所遗合])著(?![名作述者录书称])"
)
"""Characters that are of simplified texts, too; which one stands for them depends on the word."""
_OF_WORDS = {"乾": "干", "瞭": "了", "著": "着", "帐": "账", "甚": "什"}


def simplified(text: str) -> str:
    """`text` in simplified Chinese characters, of which all rules, word lists and fitted weights are.

    It has the same length, each character in the place of the one that it stands for.
    Texts without a character that only traditional texts have are returned as they are.
    """
    if text.isascii():
        return text
    table, traditional = _traditional()
    if traditional.search(text) is None:
        return text
    return _BY_WORD.sub(lambda found: _OF_WORDS[found.group()], text.translate(table))


def part_of(written: str, part: str) -> str:
    """The part of `written` that is `part` in simplified characters; `part` itself if there is none."""
    place = simplified(written).find(part)
    return part if place < 0 else written[place : place + len(part)]


@cache
def _traditional() -> tuple[dict[int, str], re.Pattern[str]]:
    """For each of the characters its simplified one, by code point, and a pattern for one of them."""
    lines = files("biem.domain").joinpath("traditional.txt").read_text("utf-8").splitlines()
    groups = [group for line in lines if not line.startswith("#") for group in line.split()]
    table = {ord(old): group[0] for group in groups for old in group[1:]}
    return table, re.compile(f"[{''.join(map(chr, table))}]")
