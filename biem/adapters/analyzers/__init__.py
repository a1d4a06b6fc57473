"""The port `Analyzer` by rules alone, without a model, in English and Chinese."""

from collections.abc import Iterable
from functools import cache, lru_cache

from biem.adapters.analyzers import model_names
from biem.adapters.analyzers.aspects import Aspects
from biem.adapters.analyzers.characters import normal
from biem.adapters.analyzers.extract import Extractor, language
from biem.adapters.analyzers.glossary import Glossary
from biem.adapters.analyzers.keywords import Keywords
from biem.adapters.analyzers.lexemes import Lexer
from biem.adapters.analyzers.sentiment import Sentiment
from biem.domain.fields import Analysis
from biem.ports import Analyzer

__all__ = ["RuleAnalyzer", "build"]


_KEPT, _SPLIT = 512, 4_096
"""Cached analyses, keywords and index terms: several steps of one batch, and of one recall, read the same texts.

A block splits some fifty texts and parts of texts; with a thousand kept, a third of them had been dropped before they
came again.
"""
_LONGEST_KEPT = 4_000
"""Maximum characters of a cached text."""


class RuleAnalyzer:
    """Deterministic, thread-safe, without network; build one and share it."""

    def __init__(self) -> None:
        self._lexer = Lexer()
        self._extractor = Extractor()
        self._sentiment = Sentiment()
        self._keywords = Keywords(self._extractor)
        self._aspects = Aspects(self._lexer.lexemes)
        self._glossary = Glossary()
        self._analyzed = lru_cache(_KEPT)(self._analyze)
        self._split = lru_cache(_SPLIT)(self._terms)
        self._found = lru_cache(_KEPT)(self._topics)

    def lexemes(self, text: str) -> list[str]:
        """See `Analyzer.lexemes`."""
        return list(self._split(text)) if len(text) <= _LONGEST_KEPT else self._lexer.lexemes(text)

    def _terms(self, text: str) -> tuple[str, ...]:
        return tuple(self._lexer.lexemes(text))

    def wording(self, text: str) -> list[str]:
        """See `Analyzer.wording`."""
        return self._lexer.wording(text)

    def analyze(self, text: str) -> Analysis:
        """See `Analyzer.analyze`."""
        return self._analyzed(text) if len(text) <= _LONGEST_KEPT else self._analyze(text)

    def _analyze(self, text: str) -> Analysis:
        clean = normal(text)
        fields, entities = self._extractor.extract(clean)
        return Analysis(fields, entities, self._sentiment.score(clean), language(clean))

    def related(self, question: str) -> frozenset[str]:
        """See `Analyzer.related`."""
        return self._aspects.related(question)

    def keywords(self, text: str, limit: int) -> list[str]:
        """See `Analyzer.keywords`."""
        return list(self._found(text, limit)) if len(text) <= _LONGEST_KEPT else self._keywords.keywords(text, limit)

    def _topics(self, text: str, limit: int) -> tuple[str, ...]:
        return tuple(self._keywords.keywords(text, limit))

    def english(self, words: Iterable[str]) -> frozenset[str]:
        """See `Analyzer.english`."""
        return frozenset(self.lexemes(" ".join(sorted(frozenset().union(*map(self._glossary.english, words))))))


@cache
def _rules() -> RuleAnalyzer:
    """One for all memories of the process: it reads word lists for 10 ms."""
    return RuleAnalyzer()


def build(names_pipeline: str = "") -> Analyzer:
    """The analyzer of both languages; a spaCy pipeline, if given, finds further names.

    Raises `MissingExtra` or `ConfigError` where the pipeline cannot be loaded.
    """
    rules = _rules()
    if not names_pipeline:
        return rules
    return model_names.load(rules, names_pipeline)
