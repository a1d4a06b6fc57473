"""What is known of memories by rules: it follows from their texts, so it can be found out anew."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from biem.domain.fields import Analysis
from biem.domain.node import Node


@dataclass(frozen=True, slots=True)
class Described:
    """A memory's analysis, and its words as they are indexed, with spaces between."""

    memory_id: str
    analysis: Analysis
    lexemes: str


class Analyses(Protocol):
    """The analyses of the memories of all scopes, but for those that are still to be encoded."""

    def page(self, after: str, limit: int) -> list[Node]:
        """At most `limit` memories whose id is above `after`, the lowest first; archived ones, too. "" is below all."""

    def describe(self, described: Sequence[Described]) -> int:
        """Keep these instead of what is kept; returns for how many memories it was something else.

        What was erased meanwhile stays so.
        """
