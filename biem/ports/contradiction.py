"""Judges whether two statements can both hold."""

from collections.abc import Sequence
from typing import Protocol

from biem.domain.conflict import Matter, Statement, Verdict


class ContradictionRules(Protocol):
    """Decides without a model, in microseconds, and never raises on any text."""

    def compare(
        self, older: Statement, newer: Statement, similarity: float | None, *, least: float = 0.0
    ) -> Verdict | None:
        """The conflict between two statements, or None when they can both hold.

        `similarity` is the embedder's calibrated similarity of the two texts, 0 to 1, or None where unknown. The result
        depends on the arguments only. Verdicts less confident than `least` may be skipped. `Verdict.partial` means that
        the older text makes further claims that the newer does not dispute.
        """

    def ending(self, older: Statement, newer: Statement) -> Verdict | None:
        """The verdict that the newer ends the older, if a model that reads both says so, with its highest confidence.

        None where that cannot be: they are about different persons or things, or the newer asserts nothing.
        """

    def claims(self, statement: Statement) -> Sequence[str]:
        """The claims of a statement that makes several, each a part of its text; empty for one that makes one."""

    def rivals(self, older: Statement, newer: Statement) -> bool:
        """Whether the two give different values of one thing, or of one attribute of one person.

        Both may be true, and it decides nothing: readers want the newer first. Pure as `compare` is.
        """

    def matter(self, text: str) -> Matter:
        """The persons and attributes that a text is about, from its speaker's view."""
