"""Judges whether two statements can both hold."""

from typing import Protocol

from biem.domain.conflict import Matter, Statement, Verdict


class ContradictionRules(Protocol):
    """Decides without a model, in microseconds, and never raises on any text."""

    def compare(
        self, older: Statement, newer: Statement, similarity: float | None, *, least: float = 0.0
    ) -> Verdict | None:
        """The conflict between two statements, or None when they can both hold.

        `similarity` is the embedder's calibrated similarity of the two texts, 0 to 1, or None where unknown. The answer
        depends on nothing but the arguments. Verdicts less sure than `least` need not be looked for. `Verdict.partial`
        says that the older text claims something besides, with which the newer has no quarrel.
        """

    def rivals(self, older: Statement, newer: Statement) -> bool:
        """Whether the two give different values of one thing, or of one attribute of one person.

        Both may be true, and nothing is to be decided by it: a reader wants the newer first. Pure as `compare` is.
        """

    def matter(self, text: str) -> Matter:
        """Whom a text speaks of, in the words of the one who says it."""
