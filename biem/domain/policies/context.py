"""The tunable numbers of the context block."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

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
    sure_from: float = 0.7
    """Confidence, 0 to 1, below which a block says that it may not answer; never in the layout `bare`. 0: off."""
    second_look: int = 0
    """Best hits, at most 50, from which a language model selects; 0: no model is called."""
    min_relevance: float = 0.08
    """Minimum, 0 to 1, of p · √(1 − q), where a line is about what is asked with probability p, and one of the better
    lines with q; other lines are omitted, except the best. 0: off."""
    drop: float = 5.0
    """Maximum difference in log-odds to the best hit where the ranking rates hits: in dialogues of several people, less
    their penalty for persons, and without vectors."""
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
    notes_drop: float = 0.6
    """Minimum share of the score of the best chunk that further chunks of notes must have. 0: off."""
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
        shares = (self.sure_from, self.min_relevance, self.notes_share, self.notes_min_confidence, self.notes_drop)
        if not all(0 <= share <= 1 for share in shares) or self.note_chars < 1:
            names = "sure_from, min_relevance, notes_share, notes_min_confidence and notes_drop"
            raise ValueError(f"context: {names} are 0 to 1, note_chars positive")
        if min(self.core_most, self.original_chars, self.recent, self.slot_tokens) < 0 or not 0 <= self.slots <= 100:
            raise ValueError(
                "context.core_most, original_chars, recent and slot_tokens must not be negative, slots ≤ 100"
            )

    @property
    def slots_of_kinds(self) -> dict[str, int]:
        """Number of recently useful memories of each kind."""
        return {kind: max(1, round(size * self.slots)) for kind, size in SLOTS.items()} if self.slots else {}
