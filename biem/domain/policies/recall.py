"""Numbers of recall: candidates, results, and reranking by a model."""

from dataclasses import dataclass

from biem.domain.policies.bounds import Pause, Seconds, Size
from biem.domain.policies.designs import Profile, Selection


@dataclass(frozen=True, slots=True)
class RerankPolicy:
    """Use of the reranker, where there is one."""

    top_n: Size = 20
    """The best hits that it reorders; the others follow."""
    timeout_s: Seconds = 1.0
    """Timeout of its call: the design expects 0.1 to 0.3 s."""
    pause_s: Pause = 30.0
    """Pause after a failure, unless its Retry-After is longer, so that an outage does not slow each call."""
    text_chars: Size = 2_000
    """Maximum characters of each text; models read some 500 tokens."""


@dataclass(frozen=True, slots=True)
class RecallPolicy:
    """How candidates are found and ranked."""

    profile: Profile = "hybrid"
    """The ranking: this package's own, or that of one of the designs (`biem.domain.designs.formulas`)."""
    selection: Selection = "top_k"
    """The best hits, or a draw from more of them by score or by its square."""
    top_k: Size = 10
    max_top_k: Size = 1_000
    candidates_per_result: int = 3
    min_candidates: int = 30
    """Candidates of each search: on the dev dialogues recall@10 is flat from 30 to 200."""
    activation_weight: float = 0.5
    """Score of full activation along links (log-odds); 0 disables the graph."""
    activated: int = 20
    """Maximum number of candidates found by links alone."""
    hot_matches: int = 10
    """Candidates from HotKV, those that share most words with the query."""
    use_canvas: bool = True
    """Whether the vectors of the canvas are searched, too: the index may be down or behind."""
    conflict_penalty: float = 1.0
    """Log-odds subtracted from a memory in an open conflict, times the conflict's confidence."""
    superseded_penalty: float = 3.0
    """Log-odds subtracted from a message that was contradicted since; a fact that is no longer valid is left out."""
    pending_scan: int = 50
    """Maximum number of pending candidates, matched by words."""
    hot_scan: int = 64
    """Newest texts of HotKV that are searched: covers rows that Milvus does not return yet."""
    max_query_chars: Size = 8_000
    """The rest of a longer query (a pasted document) is ignored."""
    strict_words: tuple[str, ...] = ("精确", "原文", "证明", "引用", "来源", "exact", "quote", "proof")
    """With `mode="auto"`, a query with one of these words returns the originals."""
    search_timeout_s: Seconds = 2.0
    """Timeout of the vector index; after it, the index counts as down for this call."""
    retry_down_s: Pause = 2.0
    """Pause before a failed server is queried again, so that one outage does not slow every call."""

    def __post_init__(self) -> None:
        if self.top_k > self.max_top_k:
            raise ValueError(f"recall.top_k is at most max_top_k, {self.max_top_k}, not {self.top_k}")
