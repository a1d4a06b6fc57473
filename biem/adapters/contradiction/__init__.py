"""Which statements cannot both hold, without a model: the `ContradictionRules` port in English and Chinese."""

from threading import Lock
from typing import TYPE_CHECKING

from biem.domain.conflict import Matter, Statement, Verdict

if TYPE_CHECKING:
    from biem.adapters.contradiction.rules import RuleContradictions

__all__ = ["LateRules", "build"]


class LateRules:
    """The rules of both languages, whose patterns take as long to compile as a recall takes: at the first comparison.

    Thread-safe.
    """

    def __init__(self) -> None:
        self._loading = Lock()
        self._rules: RuleContradictions | None = None

    def _made(self) -> "RuleContradictions":
        from biem.adapters.contradiction.rules import RuleContradictions  # noqa: PLC0415

        with self._loading:
            self._rules = self._rules or RuleContradictions()
            return self._rules

    def compare(
        self, older: Statement, newer: Statement, similarity: float | None, *, least: float = 0.0
    ) -> Verdict | None:
        """As the port says."""
        return (self._rules or self._made()).compare(older, newer, similarity, least=least)

    def rivals(self, older: Statement, newer: Statement) -> bool:
        """As the port says."""
        return (self._rules or self._made()).rivals(older, newer)

    def matter(self, text: str) -> Matter:
        """As the port says."""
        return (self._rules or self._made()).matter(text)


def build() -> LateRules:
    """The rules of both languages."""
    return LateRules()
