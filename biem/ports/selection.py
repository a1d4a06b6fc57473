"""What the records tell about the conditions of a search that the vector index does not know."""

from collections.abc import Sequence
from typing import Protocol

from biem.domain.scope import Scope
from biem.ports.embedding import Vector
from biem.ports.index import Filter


class Selection(Protocol):
    """Reads which memories meet a filter, and compares these few without the vector index."""

    def matching(self, scopes: Sequence[Scope], where: Filter, most: int | None) -> list[str] | None:
        """The ids of all memories that meet the conditions; None where there are more than `most`, or where no index
        tells it, so that all memories of the scopes would have to be read. A `most` of None: read them.

        Archived, erased and other scopes' memories are never in the answer.
        """

    def meeting(self, scopes: Sequence[Scope], ids: Sequence[str], where: Filter) -> frozenset[str]:
        """Those of these memories that are live and meet the conditions."""

    def vectors(self, scopes: Sequence[Scope], ids: Sequence[str]) -> dict[str, Vector]:
        """The vectors of this embedder; without those memories that have none yet."""

    def words(self, scopes: Sequence[Scope], ids: Sequence[str], lexemes: Sequence[str]) -> dict[str, float]:
        """BM25 of those of these memories that share a word with `lexemes`, with statistics of just these."""
