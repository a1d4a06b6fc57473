"""Numbers of recall: how many are searched for, returned, and judged again by a model."""

from dataclasses import dataclass

from biem.domain.policies.designs import Profile, Selection


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


@dataclass(frozen=True, slots=True)
class RecallPolicy:
    """How candidates are found and ranked."""

    profile: Profile = "hybrid"
    """Whose ranking: this package's own, or that of one of the designs (`biem.domain.designs.formulas`)."""
    selection: Selection = "top_k"
    """The best hits, or drawn from more of them by score or by its square."""
    top_k: int = 10
    max_top_k: int = 1_000
    candidates_per_result: int = 3
    min_candidates: int = 30
    """Rows of each search: on the dev dialogues recall@10 is flat from 30 to 200."""
    activation_weight: float = 0.5
    """What full activation along links adds to a score (log-odds); 0 leaves the graph out."""
    activated: int = 20
    """Memories found by links alone that may become candidates."""
    hot_matches: int = 10
    """Texts of HotKV that share most words with the query, taken along."""
    use_canvas: bool = True
    """Compare the query with the vectors of the canvas, too: the index may be down or behind."""
    conflict_penalty: float = 1.0
    """Log-odds taken from a memory in an open conflict, times the conflict's confidence."""
    superseded_penalty: float = 3.0
    """Log-odds taken from a message that was contradicted since; a fact that no longer holds is left out altogether."""
    pending_scan: int = 50
    """Pending rows whose words match, taken into the same answer."""
    hot_scan: int = 64
    """Newest texts of HotKV looked at for words of the query: covers what Milvus does not show yet."""
    max_query_chars: int = 8_000
    """The rest of a longer query (a pasted document) is ignored."""
    strict_words: tuple[str, ...] = ("精确", "原文", "证明", "引用", "来源", "exact", "quote", "proof")
    """`mode="auto"` hands out the originals when the query has one of these."""
    search_timeout_s: float = 2.0
    """A vector index that has not answered by then is treated as down for this call."""
    retry_down_s: float = 2.0
    """A server found down is not asked again for this long, so that one outage does not slow every call."""
