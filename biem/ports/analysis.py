"""Analysis of a text without a model."""

from collections.abc import Iterable
from typing import Protocol

from biem.domain.fields import Analysis


class Analyzer(Protocol):
    """Extracts structure from a text without a model, in English and Chinese."""

    def lexemes(self, text: str) -> list[str]:
        """Index terms in order, with repeats: stemmed lower-case Latin words, CJK characters' words and bigrams.

        The same tokenizer serves Milvus' BM25, PostgreSQL's text search and HotKV. A term has no white space.
        Text that has letters or digits never gives an empty list.
        """

    def wording(self, text: str) -> list[str]:
        """The terms of `lexemes` and those of all other words but articles, in order, with repeats.

        Two texts of the same wording say the same: "I do" is not "I don't", nor is "from A to B" "to A from B".
        Text that has letters or digits never gives an empty list.
        """

    def analyze(self, text: str) -> Analysis:
        """Fields, entities, sentiment and language."""

    def keywords(self, text: str, limit: int) -> list[str]:
        """At most `limit` keywords and names of a text, best first, without repeats that differ in case only.

        Each is longer than one character and none is a stop word; a text without such words gives `[]`.
        """

    def related(self, question: str) -> frozenset[str]:
        """Index terms in which a question's subject may be phrased, including its own.

        Empty where the subject is unknown. "Who is my employer?" gives the terms of work, hire, join, 上班 …
        """

    def english(self, words: Iterable[str]) -> frozenset[str]:
        """Index terms of the English words that Chinese words may mean, by a dictionary; 蜜月 gives "honeymoon".

        Words that the dictionary does not have, and those of other scripts, give none.
        """
