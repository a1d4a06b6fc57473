"""What a text tells by itself."""

from typing import Protocol

from biem.domain.fields import Analysis


class Analyzer(Protocol):
    """What can be known about a text without a model, in English and Chinese."""

    def lexemes(self, text: str) -> list[str]:
        """Index terms in order, with repeats: stemmed lower-case Latin words, CJK characters' words and bigrams.

        The same tokenizer serves Milvus' BM25, PostgreSQL's text search and HotKV. A term has no white space.
        Text that has letters or digits never gives an empty list.
        """

    def analyze(self, text: str) -> Analysis:
        """Fields, entities, sentiment and language."""

    def keywords(self, text: str, limit: int) -> list[str]:
        """At most `limit` words and names that tell what a text is about, best first, none twice in another case.

        Each is longer than one character and none is a stop word; a text of nothing else gives `[]`.
        """

    def related(self, question: str) -> frozenset[str]:
        """Index terms with which the matter of a question is told in other words, its own among them.

        Empty where nothing is known of the matter. "Who is my employer?" gives the terms of work, hire, join, 上班 …
        """
