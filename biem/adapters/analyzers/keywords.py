"""Fast keyword extraction without a model.

Names, defined terms and symbols first, then content words by frequency, then pairs of adjacent words ("machine
learning"): a pair may be the name of a concept although its parts are not.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise

from biem.adapters.analyzers import words
from biem.adapters.analyzers.characters import DENSE, HAN, LETTER, normal
from biem.adapters.analyzers.chinese_words import knowing
from biem.adapters.analyzers.extract import Extractor
from biem.adapters.analyzers.verbs import Verbs
from biem.domain.text import late

_EDGE = 8_000
"""Only this many characters at the beginning of a text are read."""
_RUN = late(rf"(?P<han>[{HAN}]+)|(?P<word>{LETTER}(?:[^\W{DENSE}]++|['+#]|[.\-](?={LETTER}))*+)|(?P<stop>[^\w\s])")
_KINDS = ("n", "v", "t", "eng", "i", "l", "j")
"""Parts of speech of jieba that can name a topic: nouns, verbs that name an activity (留学), times, idioms."""
_PAST = late("[a-z]{2}[^e]ed$")
"""English verbs in the past tense, which are no topics."""
_PRONOUNS = "我你您他她它"
"""The segmenter treats 我会 and the like as one word."""
_SHORTEST_WORD = 3
_LONGEST = 64
_DENSE = late(f"[{DENSE}]")


class Keywords:
    """Thread-safe; works on any text."""

    def __init__(self, extractor: Extractor) -> None:
        self._extractor = extractor
        self._verbs = Verbs()
        self._idle = words.load_set("not_topics") | words.load_set("stop_en") | words.load_set("stop_zh")

    def keywords(self, text: str, limit: int) -> list[str]:
        """See `Analyzer.keywords`."""
        clean = normal(text[:_EDGE])[:_EDGE]
        fields, entities = self._extractor.extract(clean, numbered=False)
        named = [name for name in (*entities, *fields.names, *fields.definitions, *fields.symbols) if self._names(name)]
        found: dict[str, str] = {}
        for word in chain(named, _by_count(list(self._words(clean)))):
            if len(found) >= limit:
                break
            if len(word) <= _LONGEST:
                found.setdefault(word.casefold(), word)
        return list(found.values())

    def _names(self, name: str) -> bool:
        return len(name) > 1 and not name.isdigit() and name.casefold() not in self._idle

    def _words(self, text: str) -> Iterator[str]:
        """Content words in order; an empty one marks a break, so that no pair spans it."""
        runs = [(found.lastgroup, found.group()) for found in _RUN.finditer(text)]
        spoken = ["", *(run.casefold() if kind == "word" else "" for kind, run in runs), ""]
        for place, (kind, run) in enumerate(runs, start=1):
            if kind == "han":
                last = ""
                for word, tag in knowing().tag(run, hmm=True):
                    known = len(word) > 1 and tag.startswith(_KINDS) and word[0] not in _PRONOUNS
                    known = known and not (tag == "v" and self._verbs.is_chinese_verb(word, last))
                    yield word if known and word not in self._idle else ""
                    last = tag
            elif kind == "word":
                word = run.rstrip("'")
                yield "" if self._says_little(word, spoken[place - 1], spoken[place + 1]) else _shown(word)
            else:
                yield ""

    def _says_little(self, word: str, before: str, after: str) -> bool:
        lower = word.casefold()
        if len(word) < _SHORTEST_WORD and not (word.isupper() and len(word) > 1):
            return True
        if lower in self._idle or (lower.endswith("'s") and lower[:-2] in self._idle):
            return True
        if word.endswith("ed") and _PAST.search(word) is not None:
            return True
        return word.islower() and self._verbs.is_verb(lower, before, after)


def _shown(word: str) -> str:
    """The display form: acronyms and names keep their letters; a capital at the beginning of a sentence is lowered."""
    plain = word.removesuffix("'s")
    return plain if plain[1:] != plain[1:].lower() else plain.lower()


def _by_count(texts: Sequence[str]) -> Iterator[str]:
    """The words, then the pairs of adjacent ones, which most texts do not need; each most frequent first.

    Ties stand in the order of the text.
    """
    yield from (word for word, _ in Counter(filter(None, texts)).most_common())
    pairs = Counter(
        one + ("" if _DENSE.search(one + other) else " ") + other for one, other in pairwise(texts) if one and other
    )
    yield from (pair for pair, _ in pairs.most_common())
