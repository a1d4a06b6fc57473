"""Fields, entities and language of one text, combined from the four kinds of rules."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from biem.adapters.analyzers import symbols
from biem.adapters.analyzers.characters import PART, parts
from biem.adapters.analyzers.definitions import Definitions
from biem.adapters.analyzers.names import Kind, Names
from biem.adapters.analyzers.quantities import Quantities
from biem.domain.fields import Fields

MOST = 200
"""Maximum anchors of each kind; a book has more, and then they identify nothing."""

_Named = tuple[int, str, Kind]
"""Position, name and kind."""
_ORDER: dict[Kind, int] = {"person": 0, "name": 1, "organisation": 2, "place": 3, "work": 4, "handle": 5}
_HAN = re.compile("[\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_LATIN = re.compile("[A-Za-zÀ-ÖØ-öø-ɏ]")
_OTHER = re.compile(r"[^\W\d_A-Za-zÀ-ÖØ-öø-ɏ\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")


class Extractor:
    """Works on text cleaned by `script.normal`."""

    def __init__(self) -> None:
        self._quantities = Quantities()
        self._names = Names()
        self._definitions = Definitions()

    def extract(self, text: str, *, numbered: bool = True) -> tuple[Fields, tuple[str, ...]]:
        """The fields, and the names and products for display, most useful first; `numbered`: with the numbers."""
        named: list[_Named] = []
        products: list[_Named] = []
        numbers: list[str] = []
        definitions: list[str] = []
        marked: list[str] = []
        start = 0
        for part in parts(text, PART):
            marks = list(symbols.spans(part))
            bare = _blank(part, ((begin, end) for begin, end, _, _ in marks))
            named += [(start + at, name, kind) for at, name, kind in sorted(set(self._names.found(bare)))]
            products += [(start + at, symbol, "name") for at, _, symbol, kind in marks if kind == "model"]
            if numbered:
                numbers += [number for _, _, number in self._quantities.spans(bare)]
            definitions += self._definitions.terms(part)
            marked += [symbol for _, _, symbol, _ in marks]
            start += len(part)
        named = _outside_works(named)
        fields = Fields(_once(numbers), _once(name for _, name, _ in named), _once(definitions), _once(marked))
        return fields, _ranked([*named, *products])


def language(text: str) -> str:
    """`zh`, `en` or `und` by information: one Han character has about as much as two Latin letters."""
    han, latin, other = 2 * len(_HAN.findall(text)), len(_LATIN.findall(text)), 2 * len(_OTHER.findall(text))
    if han + latin == 0 or other > max(han, latin):
        return "und"
    return "zh" if han >= latin else "en"


def _outside_works(named: Sequence[_Named]) -> list[_Named]:
    """Without the names that are part of the title of a work."""
    works = "\n".join(dict.fromkeys([name for _, name, kind in named if kind == "work"][:MOST]))
    parts_of_works = {name for name in {name for _, name, _ in named} if name in works}
    return [one for one in named if one[2] == "work" or one[1] not in parts_of_works]


def _once(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for value in values if value))[:MOST]


def _ranked(named: list[tuple[int, str, Kind]]) -> tuple[str, ...]:
    times = Counter(name for _, name, _ in named)
    best: dict[str, tuple[int, int, int]] = {}
    for at, name, kind in named:
        rank = (-times[name], _ORDER[kind], at)
        best[name] = min(rank, best.get(name, rank))
    return tuple(sorted(best, key=lambda name: best[name]))[:MOST]


def _blank(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """`text` of the same length with these spans blanked, so that 4 in `GPT-4` is no number."""
    parts, last = [], 0
    for start, end in spans:
        parts += [text[last:start], "\ufffd" * (end - start)]
        last = end
    return "".join([*parts, text[last:]])
