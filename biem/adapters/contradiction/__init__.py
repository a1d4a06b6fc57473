"""Rules for statements that cannot both hold: `ContradictionRules` for English and Chinese, without a model.

Each folder uses only those above it; the modules beside them put the rules together (`rules`, `recall_rules`).

    lexicon      words and patterns
    reading      clauses of a sentence, with persons, polarity and times
    subjects     whom a statement is about, and who says it
    statements   what it says: core, numbers, parts, topics
    values       values of attributes, and what replaces them
"""

from collections.abc import Sequence
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING

from biem.domain.conflict import Matter, Statement, Verdict
from biem.domain.speech.first_person import in_first_person

if TYPE_CHECKING:
    from biem.adapters.contradiction.recall_rules import RecallRules
    from biem.adapters.contradiction.rules import RuleContradictions

__all__ = ["LateRules", "build"]


class LateRules:
    """The rules of both languages, loaded at the first comparison: compiling their patterns takes as long as a recall.

    Thread-safe.
    """

    def __init__(self) -> None:
        self._loading = Lock()
        self._recall_rules: RecallRules | None = None
        self._rules: RuleContradictions | None = None

    def _part(self) -> "RecallRules":
        """Only the part that a recall needs."""
        from biem.adapters.contradiction.recall_rules import RecallRules  # noqa: PLC0415

        with self._loading:
            self._recall_rules = self._recall_rules or RecallRules()
            return self._recall_rules

    def _made(self) -> "RuleContradictions":
        from biem.adapters.contradiction.rules import RuleContradictions  # noqa: PLC0415

        part = self._part()
        with self._loading:
            self._rules = self._rules or RuleContradictions(part)
            return self._rules

    def compare(
        self, older: Statement, newer: Statement, similarity: float | None, *, least: float = 0.0
    ) -> Verdict | None:
        """As the port says."""
        older, newer = _by_the_user(older), _by_the_user(newer)
        return (self._rules or self._made()).compare(older, newer, similarity, least=least)

    def ending(self, older: Statement, newer: Statement) -> Verdict | None:
        """As the port says."""
        older, newer = _by_the_user(older), _by_the_user(newer)
        return (self._rules or self._made()).ending(older, newer)

    def claims(self, statement: Statement) -> Sequence[str]:
        """As the port says."""
        return (self._rules or self._made()).claims(_by_the_user(statement))

    def rivals(self, older: Statement, newer: Statement) -> bool:
        """As the port says."""
        older, newer = _by_the_user(older), _by_the_user(newer)
        return (self._recall_rules or self._part()).rivals(older, newer)

    def matter(self, text: str) -> Matter:
        """As the port says."""
        return (self._recall_rules or self._part()).matter(in_first_person(text))


def _by_the_user(one: Statement) -> Statement:
    text = in_first_person(one.text)
    return one if text == one.text else replace(one, text=text)


def build() -> LateRules:
    """The rules of both languages."""
    return LateRules()
