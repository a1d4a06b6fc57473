"""A second judgement of the best candidates by a model that reads query and text together (Angel G48)."""

from collections.abc import Sequence
from typing import Protocol


class Reranker(Protocol):
    """A cross-encoder, here or behind an address. Thread-safe."""

    def rerank(self, query: str, texts: Sequence[str], timeout_s: float) -> list[float]:
        """How well each text answers the query, in [0, 1], in the order of the texts; no text gives `[]`.

        One try, which ends after `timeout_s` seconds. Raises `RerankerUnavailable` for an outage, a slow answer and one
        that is not a finite number for each text.
        """

    def close(self) -> None:
        """Release what it holds; a second call does nothing."""
