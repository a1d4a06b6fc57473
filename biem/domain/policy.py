"""Every tunable number, with its unit and its reason. Engine code takes a policy; only bootstrap knows Settings."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WritePolicy:
    """What `remember` accepts."""

    max_text_bytes: int = 262_144
    """Longer texts are documents: split them. Also keeps a tsvector below PostgreSQL's 1 MiB."""
    max_tags: int = 64
    max_tag_chars: int = 128
    max_reason_chars: int = 4_000
    max_ref_chars: int = 512
    max_name_chars: int = 256
    """Speaker, conversation, source."""
    max_metadata_bytes: int = 65_536
    max_lexeme_bytes: int = 60_000
    """Milvus holds at most 65,535 bytes in a VARCHAR; PostgreSQL indexes the same lexemes."""
    hot_window: int = 256
    """HotKV's W: texts kept at hand per scope (AIM-Memory A42)."""
    bulk_rows: int = 500
    """Rows per transaction of `remember_many`: large enough to share one fsync, small enough to report progress."""
    future_days: int = 366
    """`at` may lie this far ahead (planned events, clocks that run fast)."""


@dataclass(frozen=True, slots=True)
class EncodePolicy:
    """How the worker turns pending rows into indexed memories."""

    batch: int = 64
    """Rows per claim and texts per embedder call (Angel G59)."""
    lease_s: float = 60.0
    """A claim not completed by then belongs to whoever claims next. Slowest batch seen: 64 long texts, 15 s."""
    max_attempts: int = 5
    """Then the row goes to the dead letter with its reason."""
    backoff_s: float = 1.0
    """First pause after a server refused; doubles up to `backoff_max_s`."""
    backoff_max_s: float = 30.0
    poll_s: float = 1.0
    """How often an idle worker looks for rows that nobody woke it for."""


@dataclass(frozen=True, slots=True)
class RecallPolicy:
    """How candidates are found and ranked."""

    top_k: int = 10
    max_top_k: int = 1_000
    candidates_per_result: int = 5
    min_candidates: int = 50
    """Over-fetch: live filters and fusion need more rows than are returned."""
    ranked_per_result: int = 3
    min_ranked: int = 60
    """Candidates whose live state is fetched for the final ranking."""
    dense_weight: float = 0.4
    lexical_weight: float = 0.6
    """Fusion of the two normalised scores. On the dev dialogues 0.3–0.5 for dense are within noise, 0.6 loses."""
    pending_scan: int = 50
    """Pending rows whose words match, taken into the same answer."""
    hot_scan: int = 64
    """Newest texts of HotKV looked at for words of the query: covers what Milvus does not show yet."""
    fresh_s: float = 30.0
    """How long a new memory is also looked for in HotKV: above the staleness of Milvus' bounded consistency (5 s)."""
    max_query_chars: int = 8_000
    """The rest of a longer query (a pasted document) is ignored."""
    strict_words: tuple[str, ...] = ("精确", "原文", "证明", "引用", "来源", "exact", "quote", "proof")
    """`mode="auto"` hands out the originals when the query has one of these (C22)."""
    search_timeout_s: float = 2.0
    """A vector index that has not answered by then is treated as down for this call."""
    retry_down_s: float = 2.0
    """A server found down is not asked again for this long, so that one outage does not slow every call."""


@dataclass(frozen=True, slots=True)
class ContextPolicy:
    """The block handed to the model (BIEM B56)."""

    top_k: int = 5
    item_chars: int = 200
    entities: int = 5
    budget_tokens: int = 1_000
    """Room for the block; whole items only."""


@dataclass(frozen=True, slots=True)
class EnergyPolicy:
    """Decay of BIEM B33."""

    decay_per_hour: float = 0.1
    """λ: half-life 6.93 hours."""


@dataclass(frozen=True, slots=True)
class Policies:
    """All of them, as one value to hand around."""

    write: WritePolicy = WritePolicy()
    encode: EncodePolicy = EncodePolicy()
    recall: RecallPolicy = RecallPolicy()
    context: ContextPolicy = ContextPolicy()
    energy: EnergyPolicy = EnergyPolicy()
