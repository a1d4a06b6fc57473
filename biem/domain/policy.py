"""Every tunable number, with its unit and its reason. Engine code takes a policy; only bootstrap knows Settings."""

from dataclasses import dataclass, field

from biem.domain.aim_policy import AimPolicy
from biem.domain.concept_policy import ConceptPolicy
from biem.domain.confidence_policy import ConfidenceWeights, OrbitPolicy
from biem.domain.context_policy import ContextPolicy
from biem.domain.formulas import FormulaPolicy, Profile
from biem.domain.night_policy import ConsolidationPolicy, FeedbackPolicy, SleepPolicy
from biem.domain.rank_policy import RankPolicy
from biem.domain.rerank_policy import RerankPolicy
from biem.domain.selection import Selection, TypedPolicy


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
    max_per_minute: int = 0
    """Memories that one scope may write a minute, over all processes; 0: any number. A loop must not fill the disk."""


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

    profile: Profile = "hybrid"
    """Whose ranking: this package's own, or that of one of the designs (`biem.domain.formulas`)."""
    selection: Selection = "top_k"
    """The best hits, or drawn from more of them by score or by its square (C28)."""
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
    """`mode="auto"` hands out the originals when the query has one of these (C22)."""
    search_timeout_s: float = 2.0
    """A vector index that has not answered by then is treated as down for this call."""
    retry_down_s: float = 2.0
    """A server found down is not asked again for this long, so that one outage does not slow every call."""


@dataclass(frozen=True, slots=True)
class EnergyPolicy:
    """Decay of BIEM B33."""

    decay_per_hour: float = 0.1
    """λ: half-life 6.93 hours."""
    boost: float = 0.1
    """What an access adds (B34)."""
    boost_cooldown_s: float = 60.0
    """An access sooner after the last boost is only counted, so that a loop cannot pump a memory; 0 is B verbatim."""
    feedback: float = 0.1
    """What feedback of ±1 adds or takes (B35)."""


@dataclass(frozen=True, slots=True)
class TierPolicy:
    """Which memories the canvas (L1) holds (BIEM B8–B12, B36). All thresholds are energies."""

    max_nodes: int = 100
    """Per scope; beyond it the weakest leaves."""
    idle_s: float = 3_600.0
    """A memory not accessed for so long leaves."""
    enter: float = 0.5
    """A new memory enters from here."""
    promote: float = 0.7
    """A memory of L2 rises from here."""
    demote: float = 0.3
    """Below it a memory leaves."""
    minimum: float = 0.1
    """From here nothing is archived; whatever `demote` says, below it nothing stays in the canvas."""
    sweep_rows: int = 5_000
    """Most memories that one sweep moves out."""
    sweep_scopes: int = 200
    """Scopes whose canvas one sweep compares with the records; the next sweep goes on with others."""

    def __post_init__(self) -> None:
        if not 0 < self.minimum <= self.demote <= self.enter <= self.promote <= 1:
            raise ValueError("energies must be ordered: 0 < minimum <= demote <= enter <= promote <= 1")
        if min(self.max_nodes, self.sweep_rows, self.sweep_scopes) < 1 or self.idle_s <= 0:
            raise ValueError("max_nodes, sweep_rows, sweep_scopes and idle_s must be positive")


@dataclass(frozen=True, slots=True)
class RetentionPolicy:
    """How long an untouched memory stays, by importance, reason and use; then it is archived, never deleted."""

    noise_days: float = 3.0
    """Importance 1; between two whole importances the days are interpolated geometrically."""
    low_days: float = 14.0
    """Importance 2: AIMate's 14 days for what nobody marked."""
    normal_days: float = 90.0
    """Importance 3, so every chat message of normal importance."""
    high_days: float = 365.0
    """Importance 4. Importance 5 and the layer `core` stay for ever."""
    own_days: float = 365.0
    """At least so long stays a message of importance 3 or more in which a person speaks of themselves."""
    keep_lasting: bool = True
    """What a person says of health, safety, identity, relationships or as a standing order has no end."""
    assistant_factor: float = 1 / 3
    """What the assistant said stays this many times as long as the same from a person."""
    long_term_days: float = 90.0
    """At least so long stays what was promoted to the layer `long_term` (M51)."""
    access_factor: float = 2.0
    """Each access multiplies by this the span of what stays shorter than long-term memory, up to that one's."""
    reason_factor: float = 1.5
    """A reason that says something prolongs by this."""
    useful_factor: float = 2.0
    """Each time feedback called it useful adds this many times its span: twice useful stays for more than a year."""
    max_useful: int = 4
    """More praise than this changes nothing."""
    promote_accesses: int = 5
    """A short-term memory returned so often becomes long-term (M50)."""
    promote_useful: int = 2
    """Or called useful so often (C17)."""
    max_memories: int = 2_000_000
    """Per scope; beyond it the least valuable are archived (M52)."""
    keep_share: float = 0.95
    """How full archiving leaves a scope that was too full, so that it need not be measured again at once."""
    batch: int = 500
    """Rows judged in one transaction: their locks last milliseconds."""
    run_rows: int = 5_000
    """Rows one run judges or archives for capacity; the rest waits for the next run."""

    def __post_init__(self) -> None:
        if not 0 < self.noise_days <= self.low_days <= self.normal_days <= self.high_days:
            raise ValueError("days must be positive and rise with importance: noise, low, normal, high")
        if min(self.long_term_days, self.max_memories, self.batch, self.run_rows) <= 0 or not 0 < self.keep_share <= 1:
            raise ValueError("long_term_days, max_memories, batch and run_rows must be positive, keep_share at most 1")
        if self.own_days <= 0 or not 0 < self.assistant_factor <= 1:
            raise ValueError("own_days must be positive, assistant_factor above 0 and at most 1")
        if not 1 <= self.access_factor <= 10:
            raise ValueError("access_factor is a number from 1 to 10")


@dataclass(frozen=True, slots=True)
class ConflictPolicy:
    """What happens to a pair of memories that disagree."""

    suspect_confidence: float = 0.34
    """From here a pair is worth a model's look; with no model to ask, nothing happens. F1 is best here on the dev
    pairs, half of which are contradictions; among the neighbours of a memory, most suspicions are false."""
    record_confidence: float = 0.5
    """From here a verdict is recorded as a conflict, for a person or a model to decide."""
    act_confidence: float = 0.8
    """From here a verdict supersedes the older memory by itself: rare, and right at least four times in five."""
    suspects: int = 2
    """Suspicions about one memory that a model is asked about, the strongest first."""
    least_similarity: float = 0.1
    """Neighbours less alike than this (calibrated) are about something else and not compared."""
    neighbours: int = 10
    """Nearest memories that a new one is compared with (BIEM B40)."""
    around: int = 100
    """Memories written just before and after the new ones, looked at because the index may not show them yet."""
    max_statement_chars: int = 2_000
    """Longer texts are documents that say many things: their sentences are compared, and no rule ends one alone."""
    protected_importance: float = 4.5
    """An older memory this important (of 1–5), or of the layer core, is never superseded by a rule alone."""
    decisions: int = 20
    """Conflicts judged, or merges finished, in one run."""
    judge_confidence: float = 0.8
    """From here the language model's verdict supersedes; below it the conflict stays for a person."""
    lease_s: float = 120.0
    """A conflict that a worker took and did not decide comes back after this, then after 4, 16, … times as long."""
    max_attempts: int = 8
    """Then it is left to a person. The pauses add up to weeks: an exhausted daily budget uses up few of them."""


@dataclass(frozen=True, slots=True)
class GraphPolicy:
    """How memories and concepts are linked, and how activation spreads between them."""

    semantic_similarity: float = 0.7
    """Memories more similar than this are linked (BIEM B20)."""
    temporal_links: int = 5
    """The last memories of the same conversation that a new one is linked to (BIEM B19)."""
    temporal_window_s: float = 300.0
    """They are less than this older."""
    max_links: int = 50
    """Links a node keeps, and neighbours that spreading looks at; the weakest go. Bounds the cost of spreading."""
    tend_links: int = 2_000
    """Changed links whose ends one run of pruning looks at, and traces that it clears; the rest waits for the next."""
    seeds: int = 5
    hops: int = 2
    decay: float = 0.5
    """Per hop (BIEM B45)."""
    max_depth: int = 3
    """Of subtractive spreading (Hippocampus H28)."""
    max_edges: int = 1_000_000
    """Edges that a process holds, of all scopes together: 0.7 GB. The graphs used longest ago are dropped."""
    trace_days: float = 7.0
    """A process idle for longer than this loads its graphs anew: traces of removed links are not kept for ever."""


@dataclass(frozen=True, slots=True)
class Policies:
    """All of them, as one value to hand around."""

    write: WritePolicy = WritePolicy()
    encode: EncodePolicy = EncodePolicy()
    recall: RecallPolicy = RecallPolicy()
    ranking: RankPolicy = field(default_factory=RankPolicy)
    confidence: ConfidenceWeights = field(default_factory=ConfidenceWeights)
    orbit: OrbitPolicy = field(default_factory=OrbitPolicy)
    aim: AimPolicy = field(default_factory=AimPolicy)
    formulas: FormulaPolicy = field(default_factory=FormulaPolicy)
    typed: TypedPolicy = field(default_factory=TypedPolicy)
    rerank: RerankPolicy = field(default_factory=RerankPolicy)
    context: ContextPolicy = field(default_factory=ContextPolicy)
    energy: EnergyPolicy = EnergyPolicy()
    tiers: TierPolicy = TierPolicy()
    retention: RetentionPolicy = RetentionPolicy()
    conflicts: ConflictPolicy = ConflictPolicy()
    concepts: ConceptPolicy = field(default_factory=ConceptPolicy)
    graph: GraphPolicy = GraphPolicy()
    consolidation: ConsolidationPolicy = field(default_factory=ConsolidationPolicy)
    feedback: FeedbackPolicy = field(default_factory=FeedbackPolicy)
    sleep: SleepPolicy = field(default_factory=SleepPolicy)
