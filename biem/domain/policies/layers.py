"""The tunable numbers of a whole window and of kept statements."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from annotated_types import Interval

from biem.domain.observing.category import categories_of
from biem.domain.policies.bounds import Size


@dataclass(frozen=True, slots=True)
class LayerPolicy:
    """How statements that are worth keeping are sorted."""

    categories: Mapping[str, Any] = field(default_factory=dict)
    """Further categories: by name, an object with kind, layer, ttl_days, folder and patterns (regular expressions)."""
    ttl_days: Annotated[float, Interval(ge=7, le=30)] = 14.0
    """Days, 7 to 30, after which tasks, notes and contexts expire, unless their category has its own `ttl_days`."""
    tags: int = 5
    """Keywords stored as tags of a kept statement, unless a language model gives it others."""
    proposed_most: int = 5
    """Statements of one message that a language model may propose in addition to the rules."""
    short_term_most: int = 100
    """Short-term memories with a category that a scope keeps; of more the least important are archived."""

    def __post_init__(self) -> None:
        categories_of(self.categories, self.ttl_days)
        if self.short_term_most < 1 or min(self.tags, self.proposed_most) < 0:
            raise ValueError("layers.short_term_most is at least 1, tags and proposed_most are not negative")


@dataclass(frozen=True, slots=True)
class BuilderPolicy:
    """How a whole window is divided among its sections."""

    total_budget: Size = 128_000
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
