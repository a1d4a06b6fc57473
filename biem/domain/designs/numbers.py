"""The designs' numbers, verbatim, by the setting they replace: `BIEM_PROFILE`.

A profile replaces defaults only: an explicit setting wins. Numbers equal to the default are listed, too, so that a
profile is complete. Where a document leaves a number open, none is listed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, get_args

Design = Literal["default", "biem", "hippocampus", "angel", "aimate", "aim"]
DESIGNS: tuple[str, ...] = get_args(Design)


@dataclass(frozen=True, slots=True)
class Number:
    """One value of a document: `setting` is `section.name` of the settings."""

    setting: str
    value: Any
    source: str
    """The requirements that define it."""
    meaning: str


_BIEM = (
    Number("recall.profile", "biem", "B44–B46", "ranking of recall"),
    Number("recall.top_k", 10, "B43, B48", "memories returned"),
    Number("formulas.biem_vector", 0.7, "B46", "weight of likeness"),
    Number("formulas.biem_activation", 0.3, "B46", "weight of activation"),
    Number("formulas.biem_candidates", 2, "B44", "nearest memories for each one wanted"),
    Number("graph.seeds", 5, "B45", "best candidates from which activation spreads"),
    Number("graph.hops", 2, "B45, B48", "how far it spreads"),
    Number("graph.decay", 0.5, "B45, B48", "what a hop leaves of it"),
    Number("graph.semantic_similarity", 0.7, "B20", "likeness above which memories are linked"),
    Number("graph.temporal_links", 5, "B19", "newest memories that a new one is linked with"),
    Number("graph.temporal_window_s", 300.0, "B19", "seconds they may be older"),
    Number("energy.decay_per_hour", 0.1, "B33", "λ"),
    Number("energy.boost", 0.1, "B34", "what an access adds"),
    Number("energy.boost_cooldown_s", 0.0, "B34, B47, C19", "every access adds it"),
    Number("energy.feedback", 0.1, "B35", "what feedback of ±1 adds or takes"),
    Number("tiers.max_nodes", 100, "B8", "memories in the canvas"),
    Number("tiers.idle_s", 3_600.0, "B9", "seconds after which an idle one leaves"),
    Number("tiers.minimum", 0.1, "B10", "least energy in the canvas"),
    Number("tiers.enter", 0.5, "B11", "energy from which a new memory enters"),
    Number("tiers.demote", 0.3, "B12, B50", "energy below which one leaves"),
    Number("tiers.promote", 0.7, "B36, B49", "energy from which one rises"),
    Number("conflicts.neighbours", 10, "B40", "nearest memories that a new one is compared with"),
    Number("consolidation.crystal_size", 5, "B28", "smallest cluster that becomes a fact"),
    Number("aim.admission", "always", "B41, C7", "every message is formed"),
    Number("context.top_k", 5, "B52", "memories in the block"),
    Number("context.item_chars", 200, "B56", "characters of an item"),
    Number("context.entities", 5, "B56", "entities of an item"),
    Number("context.repeat_entities", True, "B56", "entities that the text names are listed, too"),
    Number("context.order", "rank", "B56", "items by their rank"),
    Number("context.marks", True, "B57", "an item begins with its energy"),
    Number("context.layout", "bare", "B56", "then comes its text alone"),
)

_HIPPOCAMPUS = (
    Number("recall.profile", "hippocampus", "H27–H32", "ranking of recall"),
    Number("concepts.enabled", True, "H38", "the main switch"),
    Number("concepts.keywords", "precise", "H19", "the model is asked for key concepts"),
    Number("concepts.similarity", 0.7, "H12, H34", "likeness that links topics, and that merges items"),
    Number("concepts.forget_idle_h", 24.0, "H13", "idle hours after which strength falls"),
    Number("concepts.sample_ratio", 0.01, "H13, C30", "share of the idle items that a run takes"),
    Number("concepts.snippets", 8, "H9", "snippets of one build"),
    Number("concepts.snippet_messages", 40, "H9", "messages of a snippet"),
    Number("concepts.near_age_h", 6.0, "H9", "first peak of the ages sampled, in hours"),
    Number("concepts.near_spread_h", 3.0, "H9", "its spread"),
    Number("concepts.near_weight", 0.6, "H9", "its weight"),
    Number("concepts.far_age_h", 32.0, "H9", "second peak"),
    Number("concepts.far_spread_h", 12.0, "H9", "its spread"),
    Number("concepts.max_depth", 3, "H28, H39", "how far activation spreads"),
    Number("concepts.max_memory_num", 3, "H30, H39", "concepts chosen"),
    Number("concepts.max_memory_length", 2, "H31, H39", "items of each"),
    Number("concepts.selection", "squared_norm", "H30, C28", "drawn with the probability a²/Σa²"),
    Number("concepts.cached_keywords", 10, "H25", "keywords kept of a conversation"),
    Number("concepts.kept_keywords", 8, "H25", "those left when there are more"),
    Number("context.layout", "bare", "H43", "running memory as the document writes it, and items likewise"),
    Number("concepts.running_items", 3, "H42", "items of running memory"),
    Number("concepts.running_turns", 3, "H40", "turns that they stay"),
    Number("concepts.running_similarity", 0.7, "H41", "likeness from which a new one is refused"),
    Number("concepts.instant", True, "H44", "saved messages are judged for instant memory"),
    Number("sleep.build_s", 600.0, "H9", "seconds between builds (proposed: the document has none)"),
    Number("sleep.forget_s", 1_000.0, "H13", "seconds between forgettings (proposed, too)"),
    Number("sleep.consolidate_s", 1_000.0, "H12", "seconds between consolidations (proposed, too)"),
)

_ANGEL = (
    Number("recall.profile", "angel", "G17–G21", "recall by kinds, chains and weights"),
    Number("recall.top_k", 7, "G21", "memories returned"),
    Number("typed.per_kind", 7, "G17", "candidates of each kind"),
    Number("typed.selection", "weighted_random", "G20", "drawn by weight"),
    Number("formulas.notes_bm25", 0.3, "G46", "weight of BM25"),
    Number("formulas.notes_content", 0.4, "G46", "weight of the content vector"),
    Number("formulas.notes_tag", 0.3, "G46", "weight of the tag vector"),
    Number("energy.boost", 0.0, "G15, C19", "only useful recall strengthens"),
    Number("retention.promote_useful", 1, "G29", "feedback makes a memory long-term"),
    Number("context.slots", 1.0, "G27, G28", "14 facts, 7 skills, 3 events, a task and an emotion stay in view"),
    Number("encode.batch", 64, "G59", "texts of one embedding call"),
    Number("embedder.cache_mb", 100, "G57", "cache of vectors, in MB"),
)

_AIMATE = (
    Number("recall.profile", "aimate", "M36–M41", "ranking of recall"),
    Number("recall.top_k", 5, "M21", "memories returned"),
    Number("formulas.aimate_candidates", 10, "M36", "candidates of each search"),
    Number("formulas.aimate_min_similarity", 0.6, "M21", "least likeness"),
    Number("formulas.aimate_vector", True, "M21", "search by meaning"),
    Number("formulas.aimate_keyword", True, "M21", "search by words"),
    Number("formulas.aimate_time_weight", True, "M21", "age counts"),
    Number("formulas.aimate_decay", 0.95, "M39", "what 30 days leave of a score (proposed: the document has none)"),
    Number("retention.noise_days", 14.0, "M62, M75", "days that a short-term memory stays, at any importance"),
    Number("retention.low_days", 14.0, "M62, M75", "the same"),
    Number("retention.normal_days", 14.0, "M62, M75", "the same"),
    Number("retention.high_days", 14.0, "M62, M75", "the same"),
    Number("retention.access_factor", 1.0, "M75", "access does not prolong a short-term memory's span"),
    Number("retention.reason_factor", 1.0, "M75", "nor does a reason"),
    Number("retention.useful_factor", 0.0, "M75", "nor does praise"),
    Number("retention.stated_days", 14.0, "M75", "nor does a statement"),
    Number("retention.keep_lasting", False, "M75", "nor what the text says"),
    Number("retention.assistant_factor", 1.0, "M75", "nor who said it"),
    Number("retention.promote_accesses", 5, "M50, M75", "accesses that make a memory long-term"),
    Number("retention.long_term_days", 90.0, "M51", "unused days after which a long-term memory is archived"),
    Number("sleep.lifecycle_s", 3_600.0, "M54, M77", "seconds between maintenances"),
    Number("layers.ttl_days", 14.0, "M62, M75", "days after which tasks, notes and contexts expire"),
    Number("builder.total_budget", 128_000, "M73", "tokens of a window"),
    Number("builder.core", 0.1, "M73", "share of core memories"),
    Number("builder.session", 0.5, "M73", "share of the session"),
    Number("builder.short_term", 0.2, "M73", "share of short-term memories"),
    Number("builder.long_term", 0.2, "M73", "share of long-term memories"),
    Number("builder.flow", False, "M73", "no section exceeds its share"),
    Number("session.max_tokens", 128_000, "M74", "tokens from which a session is trimmed"),
    Number("session.warning_ratio", 0.7, "M74, C33", "share of them from which it warns"),
    Number("session.critical_ratio", 0.85, "M74, C33", "share from which the warning is critical"),
    Number("session.trim_target", 0.5, "M74", "share that trimming leaves"),
    Number("session.protected_rounds", 3, "M74", "newest rounds that are never trimmed"),
)

_AIM = (
    Number("recall.profile", "aim", "A33–A36", "ranking of recall"),
    Number("recall.top_k", 3, "A36", "nodes returned (proposed: the document has none)"),
    Number("write.hot_window", 256, "A42", "W"),
    Number("aim.admission", "gate", "A28", "the gate decides which messages are formed"),
    Number("aim.gate_form", "raw", "A28, C8", "sigmoid(α·r + β·s + γ2·c), which refuses nothing below 0.5"),
    Number("aim.write_threshold", 0.6, "A45", "τ_write"),
    Number("aim.gate_alpha", 0.5, "A45", "α"),
    Number("aim.gate_beta", 0.3, "A45", "β"),
    Number("aim.gate_gamma2", 0.2, "A45", "γ2"),
    Number("aim.local_cluster_k", 32, "A42", "K"),
    Number("aim.inertia_strength", 0.5, "A43", "λ"),
    Number("aim.inertia_momentum", 0.85, "A43", "μ"),
    Number("aim.weight_decay_gamma", 0.8, "A44", "γ"),
    Number("aim.fresh_weight", 1.0, "A44", "w of a new node"),
    Number("aim.anchor_threshold", 0.1, "A46", "τ_anchor"),
    Number("aim.anchor_boost", 2.0, "A46", "η"),
    Number("aim.conflict_penalty", 1.0, "A46", "taken from a node that conflicts"),
    Number("aim.anchor_filter", "all", "A12", "numbers, names and symbols of a query are required"),
    Number("aim.prototype", "summary", "A30", "a message is embedded as its summary and its fields"),
    Number("aim.store_evidence", True, "A48", "originals are handed out"),
    Number("aim.max_evidence_length", 2_000, "A48", "characters of an original"),
)

NUMBERS: Mapping[str, tuple[Number, ...]] = MappingProxyType(
    {"default": (), "biem": _BIEM, "hippocampus": _HIPPOCAMPUS, "angel": _ANGEL, "aimate": _AIMATE, "aim": _AIM}
)
"""Every design's numbers; `default` is this package's own combination of them."""
