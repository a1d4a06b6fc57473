"""The tunable numbers of the context block, of a whole window, of layers and of sessions."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from biem.domain.observing.category import categories_of

SLOTS: Mapping[str, int] = MappingProxyType({"knowledge": 14, "skill": 7, "event": 3, "task": 1, "emotion": 1})
"""Angel's short-term slots of each kind."""

UNVERIFIED_SHARE = 0.2
"""Maximum share of a block's tokens for untrusted memories; they get only what the others leave."""


@dataclass(frozen=True, slots=True)
class ContextPolicy:
    """Contents and format of the block."""

    top_k: int = 5
    item_chars: int = 200
    entities: int = 5
    repeat_entities: bool = False
    """Whether to list entities that the item's text contains already: only for readers that parse the list."""
    budget_tokens: int = 1_000
    """Maximum tokens of the block; whole items only."""
    min_confidence: float = 0.55
    """Minimum confidence, 0 to 1, that a line answers (`engine.context.picking`); else the block is empty. 0: off."""
    second_look: int = 0
    """Best hits, at most 50, from which a language model selects; 0: no model is called."""
    drop: float = 5.0
    """Maximum difference in worth (`biem.engine.context.picking`) to the best hit; hits further below are omitted: a
    confident answer needs no unlikely ones."""
    repeat_from: float = 0.9
    """Share of common index terms (Jaccard) from which a text repeats a better one and is omitted."""
    order: Literal["time", "rank"] = "rank"
    """Chronological order, or best first."""
    marks: bool = False
    """Whether each item begins with its energy, as `[● E=0.85]`."""
    layout: Literal["quoted", "bare"] = "quoted"
    """A line has speaker, date and quoted text, or only the text, as in BIEM."""
    core_tokens: int = 200
    """Maximum tokens of core memories, which come first; part of the budget."""
    core_most: int = 20
    slots: float = 0.0
    """Short-term slots, × `SLOTS` of each kind, for recently useful memories, shown for every question; 0: none."""
    slot_tokens: int = 400
    """Maximum tokens of these memories; part of the budget."""
    original_chars: int = 2_000
    """Maximum characters of an original that strict mode adds for a cut text."""
    notes_share: float = 0.4
    """Maximum share of what core memories leave for notes, as long as memories need the rest; 0: no notes."""
    notes_min_confidence: float = 0.5
    """Minimum confidence, 0 to 1, that the notes answer; else the block has none."""
    note_chars: int = 600
    """Maximum characters shown of a chunk of a note: of a longer one the sentences that the query asks for."""
    recent: int = 0
    """Newest texts of the scope at the end of the block; agents that send their history need none."""

    def __post_init__(self) -> None:
        if self.order not in ("time", "rank") or not self.drop >= 0 or not 0 < self.repeat_from <= 1:
            raise ValueError("context.order is time or rank, drop not negative, repeat_from a share above 0")
        if self.layout not in ("quoted", "bare"):
            raise ValueError("context.layout is quoted or bare")
        if min(self.top_k, self.item_chars) < 1 or min(self.entities, self.budget_tokens, self.core_tokens) < 0:
            raise ValueError("context.top_k and item_chars must be positive, the other sizes not negative")
        if not 0 <= self.second_look <= 50:
            raise ValueError("context.second_look is a number from 0 to 50")
        if not 0 <= self.notes_share <= 1 or not 0 <= self.notes_min_confidence <= 1 or self.note_chars < 1:
            raise ValueError("context.notes_share and notes_min_confidence are from 0 to 1, note_chars positive")
        if min(self.core_most, self.original_chars, self.recent, self.slot_tokens) < 0 or not 0 <= self.slots <= 100:
            raise ValueError(
                "context.core_most, original_chars, recent and slot_tokens must not be negative, slots ≤ 100"
            )

    @property
    def slots_of_kinds(self) -> dict[str, int]:
        """Number of recently useful memories of each kind."""
        return {kind: max(1, round(size * self.slots)) for kind, size in SLOTS.items()} if self.slots else {}


@dataclass(frozen=True, slots=True)
class LayerPolicy:
    """How statements that are worth keeping are sorted."""

    categories: Mapping[str, Any] = field(default_factory=dict)
    """Further categories: by name, an object with kind, layer, ttl_days, folder and patterns (regular expressions)."""
    ttl_days: float = 14.0
    """Days, 7 to 30, after which tasks, notes and contexts expire, unless their category has its own `ttl_days`."""
    short_term_most: int = 100
    """Short-term memories with a category that a scope keeps; of more the least important are archived."""

    def __post_init__(self) -> None:
        categories_of(self.categories, self.ttl_days)
        if self.short_term_most < 1:
            raise ValueError("layers.short_term_most is at least 1")


@dataclass(frozen=True, slots=True)
class BuilderPolicy:
    """How a whole window is divided among its sections."""

    total_budget: int = 128_000
    """Tokens of the window."""
    core: float = 0.1
    """Share of core memories …"""
    long_term: float = 0.2
    """… of memories and notes found for the query …"""
    short_term: float = 0.2
    """… of recent tasks, notes and contexts …"""
    session: float = 0.5
    """… and of the conversation. The four sum to 1."""
    flow: bool = True
    """Whether what a section leaves of its share goes to the next one."""
    notes_share: float = 0.5
    """Maximum share of the long-term section for notes, as long as memories need the rest."""
    top_k: int = 20
    """Maximum memories found for the query, and as many chunks of notes."""
    item_chars: int = 2_000
    """Maximum characters of a memory found for the query: of a longer one the sentences that the query asks for."""
    short_term_days: float = 7.0
    """Age of the oldest short-term memory that is shown without being found."""
    most: int = 1_000
    """Core and short-term memories read, of each; a warning counts the others."""

    def __post_init__(self) -> None:
        shares = (self.core, self.long_term, self.short_term, self.session)
        if min(shares) < 0 or not math.isclose(sum(shares), 1.0, abs_tol=1e-6):
            raise ValueError(
                f"builder.core, long_term, short_term and session are shares that sum to 1, not {sum(shares):g}"
            )
        if min(self.total_budget, self.top_k, self.item_chars, self.most) < 1 or not self.short_term_days > 0:
            raise ValueError("builder.total_budget, top_k, item_chars, most and short_term_days must be positive")
        if not 0 <= self.notes_share <= 1:
            raise ValueError("builder.notes_share is from 0 to 1")


@dataclass(frozen=True, slots=True)
class SessionPolicy:
    """How much of a conversation a model is given, and when the oldest part is summarised."""

    max_tokens: int = 128_000
    """Tokens of a session from which it is trimmed, and the default size of its window."""
    warning_ratio: float = 0.7
    """Share of `max_tokens` from which a session is said to fill up …"""
    critical_ratio: float = 0.85
    """… and to be nearly full."""
    trim_target: float = 0.5
    """Share of `max_tokens` that trimming leaves, unless the protected rounds are more."""
    protected_rounds: int = 3
    """The newest rounds, which are never trimmed; neither are system messages."""
    summary_chars: int = 1_000
    """Maximum length of the summary of one slice."""
    stuck_s: float = 3_600.0
    """Time after which `diagnose` reports a session that should have been trimmed."""

    def __post_init__(self) -> None:
        if self.max_tokens < 1 or self.protected_rounds < 1 or self.summary_chars < 100:
            raise ValueError("session.max_tokens and protected_rounds are at least 1, summary_chars at least 100")
        if not 0 < self.warning_ratio <= self.critical_ratio <= 1 or not 0 <= self.trim_target < 1:
            raise ValueError(
                "session.warning_ratio is above 0 and not above critical_ratio, which is at most 1; trim_target is at "
                "least 0 and below 1"
            )
