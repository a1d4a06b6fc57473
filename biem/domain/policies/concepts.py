"""The tunable numbers of the concept memory, each with its unit and its reason."""

from dataclasses import dataclass, fields
from typing import Literal


@dataclass(frozen=True, slots=True)
class ConceptPolicy:
    """The concept memory of Hippocampus: building from conversation, fading, recall."""

    enabled: bool = True
    """False: nothing is built or recalled, and no server or model is called."""
    keywords: Literal["precise", "fast"] = "precise"
    """`precise` asks the language model where there is one, `fast` never does."""
    topic_num: int = 5
    """Key concepts requested from the model."""
    fast_keywords: int = 40
    """Keywords of fast mode: a high limit is harmless, because only existing concepts count."""
    banned: tuple[str, ...] = ()
    """Topics that are never built."""
    snippets: int = 8
    snippet_messages: int = 40
    """Snippets of one build, and the maximum of messages in each."""
    near_age_h: float = 6.0
    near_spread_h: float = 3.0
    near_weight: float = 0.6
    far_age_h: float = 32.0
    far_spread_h: float = 12.0
    """Distribution of ages in hours that building prefers: two peaks; the far one has the rest of the weight."""
    uses_per_message: int = 1
    """How often one message may be built from."""
    pause_s: float = 600.0
    """Idle time after which a conversation is over and is built at the next opportunity, however short it is."""
    intake: int = 2_000
    """Memories sorted into snippets by one build."""
    topics_per_snippet: int = 6
    """Topics of a snippet, or of a fact, when no language model names them."""
    items_per_topic: int = 3
    """Messages of a snippet kept as items of a topic, without a language model: the most informative."""
    item_chars: int = 300
    """Characters of an item."""
    similarity: float = 0.7
    """Minimum similarity to link two names, and to merge two items of a concept."""
    similar_names: int = 64
    """Concepts whose names a new one is compared with: those that share most of its terms."""
    term_postings: int = 200
    """Concepts examined for each term of a new name, so that no name is compared with all."""
    consolidate_concepts: int = 32
    """Concepts that one consolidation picks."""
    items_per_concept: int = 40
    """Items of a concept that are compared or recalled: the strongest."""
    forget_idle_h: float = 24.0
    """An item neither accessed nor strengthened for this long is idle."""
    forget_rows: int = 2_000
    """Items and links that one run of forgetting weakens."""
    sample_ratio: float = 1.0
    """Share of the idle items that a run takes; 0.01 as in Hippocampus."""
    item_strength: int = 7
    """Strength of a new item: idle days until it is gone."""
    item_strength_max: int = 60
    """Maximum strength of an item, so that all fade in bounded time."""
    access_cooldown_s: float = 3_600.0
    """A concept recalled again sooner is not written again."""
    max_memory_num: int = 3
    max_memory_length: int = 2
    max_depth: int = 3
    """Concepts chosen, items of each, and how far activation spreads."""
    selection: Literal["top_k", "squared_norm"] = "top_k"
    """The most activated concepts, or drawn by the square of their activation."""
    cached_keywords: int = 10
    kept_keywords: int = 8
    """A conversation's keywords: beyond the first number, only the last of the second are kept."""
    running_items: int = 3
    running_turns: int = 3
    running_similarity: float = 0.7
    """Running memory: maximum of items, turns they stay, and the similarity from which a new one is refused."""
    state_ttl_s: float = 86_400.0
    """Seconds after which the conversation states of an idle scope are dropped."""
    conversations: int = 1_000
    """Conversations of a scope whose state is stored."""
    instant: bool = True
    """Whether saved messages are judged for instant memory."""
    instant_importance: float = 4.0
    """Minimum importance for an instant memory without a language model."""
    instant_age_h: float = 12.0
    """Instant memories older than this are built into concepts."""
    instant_kept_h: float = 168.0
    """Age after which they are removed; the message itself stays."""
    instant_rows: int = 100
    """Instant memories that one build takes."""

    def __post_init__(self) -> None:
        for share in ("near_weight", "similarity", "sample_ratio", "running_similarity"):
            if not 0.0 <= getattr(self, share) <= 1.0:
                raise ValueError(f"concepts.{share} is a share from 0 to 1, not {getattr(self, share)}")
        for item in fields(self):
            value = getattr(self, item.name)
            least = 1 if isinstance(value, int) else 0
            if not isinstance(value, bool | str | tuple) and not value >= least:  # true for NaN, too
                raise ValueError(f"concepts.{item.name} is at least {least}, not {value}")
        if self.kept_keywords > self.cached_keywords:
            raise ValueError("concepts.kept_keywords is at most concepts.cached_keywords")
