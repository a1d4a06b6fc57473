"""Names found by a trained model, in addition to the rules: those without a capital letter, title or tag.

Any spaCy pipeline with a component that sets entities works; it reads only texts of its own language. Where a rule and
the model overlap the rule wins, so that the model adds names and removes none.
"""

import importlib
import re
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from biem.adapters.analyzers.extract import MOST
from biem.domain.fields import Analysis
from biem.errors import ConfigError, MissingExtra
from biem.ports import Analyzer

Reader = Callable[[str], Iterable[tuple[str, str]]]
"""From a text to its names, each with its label in spaCy's terms."""

_QUANTITIES = frozenset(("DATE", "TIME", "PERCENT", "MONEY", "QUANTITY", "ORDINAL", "CARDINAL"))
"""Labels that are no names: numbers and times have separate rules."""
_IDLE = ("tagger", "morphologizer", "parser", "senter", "attribute_ruler", "lemmatizer", "textcat")
"""Components that names do not need; disabled."""
_EDGES = " \t\n.,;:!?\"'“”‘’()[]"
_FRAME = re.compile(r"^the(?:\s+|$)|['’]s$", re.IGNORECASE)
"""Article and genitive."""
_LENGTHS = range(2, 65)
_READ = 20_000
"""Maximum characters read of a text: the time grows with them."""


class ModelNames:
    """The port `Analyzer`: another analyzer, plus the names of a model. Thread-safe if `read` is."""

    def __init__(self, inner: Analyzer, read: Reader, language: str) -> None:
        """`language` of the texts that `read` supports, as in `Analysis`; `xx`: any."""
        self._inner = inner
        self._read = read
        self._language = language

    def lexemes(self, text: str) -> list[str]:
        """See `Analyzer.lexemes`."""
        return self._inner.lexemes(text)

    def wording(self, text: str) -> list[str]:
        """See `Analyzer.wording`."""
        return self._inner.wording(text)

    def analyze(self, text: str) -> Analysis:
        """See `Analyzer.analyze`."""
        known = self._inner.analyze(text)
        if self._language not in (known.language, "xx"):
            return known
        taken = [name.casefold() for name in (*known.fields.names, *known.entities)]
        more: list[str] = []
        for written, label in self._read(text[:_READ]):
            name = _bare(written)
            key = name.casefold()
            if label in _QUANTITIES or len(name) not in _LENGTHS or any(key in one or one in key for one in taken):
                continue
            taken.append(key)
            more.append(name)
        if not more:
            return known
        fields = replace(known.fields, names=(*known.fields.names, *more)[:MOST])
        return replace(known, fields=fields, entities=(*known.entities, *more)[:MOST])

    def related(self, question: str) -> frozenset[str]:
        """See `Analyzer.related`."""
        return self._inner.related(question)

    def english(self, words: Iterable[str]) -> frozenset[str]:
        """See `Analyzer.english`."""
        return self._inner.english(words)

    def keywords(self, text: str, limit: int) -> list[str]:
        """See `Analyzer.keywords`."""
        return self._inner.keywords(text, limit)


def load(inner: Analyzer, pipeline: str) -> ModelNames:
    """An analyzer with the names of a spaCy pipeline: an installed package, or a folder written by `nlp.to_disk`.

    Raises `MissingExtra` without spaCy, `ConfigError` for a missing pipeline or one that finds no names.
    """
    try:
        spacy: Any = importlib.import_module("spacy")
    except ImportError as error:
        raise MissingExtra("BIEM_NAMES_PIPELINE needs spaCy; run: pip install 'biem[names]'") from error
    try:
        nlp = spacy.load(pipeline, exclude=list(_IDLE))
    except (OSError, ValueError) as error:
        raise ConfigError(f"BIEM_NAMES_PIPELINE: spaCy cannot load {pipeline!r}: {error}") from error
    if not any("doc.ents" in nlp.get_pipe_meta(name).assigns for name in nlp.pipe_names):
        raise ConfigError(f"BIEM_NAMES_PIPELINE: {pipeline!r} has no component that finds names (ner, entity_ruler)")
    lock = threading.Lock()

    def read(text: str) -> list[tuple[str, str]]:
        with lock:  # a pipeline extends its string table while it reads
            return [(entity.text, entity.label_) for entity in nlp(text).ents]

    return ModelNames(inner, read, nlp.lang)


def _bare(written: str) -> str:
    return _FRAME.sub("", written.strip(_EDGES)).strip(_EDGES)
