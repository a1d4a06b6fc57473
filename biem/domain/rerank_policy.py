"""The tunable numbers of reranking (Angel G48)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RerankPolicy:
    """What a reranker is asked, where there is one."""

    top_n: int = 20
    """The best hits that it puts in order; the others follow."""
    timeout_s: float = 1.0
    """A recall waits no longer for it: the design expects 0.1 to 0.3 s."""
    pause_s: float = 30.0
    """A reranker that failed is left alone for so long, or for as long as it asks: no outage slows each call."""
    text_chars: int = 2_000
    """Of each text; models read some 500 tokens."""

    def __post_init__(self) -> None:
        if self.top_n < 1 or self.text_chars < 1 or not self.timeout_s > 0 or not self.pause_s >= 0:
            raise ValueError("rerank.top_n, text_chars and timeout_s must be positive, pause_s not negative")
