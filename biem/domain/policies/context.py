"""The tunable numbers of the context block (BIEM B52 – B57, requirements C31)."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

SLOTS: Mapping[str, int] = MappingProxyType({"knowledge": 14, "skill": 7, "event": 3, "task": 1, "emotion": 1})
"""Angel's short-term slots of each kind (requirements 7.2)."""


@dataclass(frozen=True, slots=True)
class ContextPolicy:
    """The block handed to the model (BIEM B56)."""

    top_k: int = 5
    item_chars: int = 200
    entities: int = 5
    repeat_entities: bool = False
    """Whether entities are listed that the item says already: of use only to a reader that looks for them there."""
    budget_tokens: int = 1_000
    """Room for the block; whole items only."""
    min_confidence: float = 0.6
    """Nothing is told where it is less sure, 0 to 1, that a line answers (`engine.context.picking`); 0: never."""
    second_look: int = 0
    """Best hits, at most 50, from which a language model chooses what to tell; 0: no model is asked."""
    drop: float = 5.0
    """Worth (`biem.engine.context.picking`) below the best hit from which on a hit is not told: a sure answer needs no
    unlikely ones beside it."""
    repeat_from: float = 0.9
    """Share of common index terms (Jaccard) from which on a text repeats a better one and is not told."""
    order: Literal["time", "rank"] = "rank"
    """What is picked is told in the order it happened, or best first."""
    marks: bool = False
    """Whether each item begins with its energy, as `[● E=0.85]` (BIEM B57)."""
    layout: Literal["quoted", "bare"] = "quoted"
    """A line has speaker, date and the text in quotation marks, or the text alone, as BIEM B56 has it."""
    core_tokens: int = 200
    """Room for core memories, which come first, of the whole."""
    core_most: int = 20
    slots: float = 0.0
    """Short-term slots: × `SLOTS` of each kind for what was of use last, told whatever is asked (G27, G28); 0: none."""
    slot_tokens: int = 400
    """Room for them, of the whole."""
    original_chars: int = 2_000
    """Length of an original that strict mode adds for a text that was cut (AIM A48)."""
    recent: int = 0
    """Newest texts of the scope that end the block; agents that send their history need none."""

    def __post_init__(self) -> None:
        if self.order not in ("time", "rank") or not self.drop >= 0 or not 0 < self.repeat_from <= 1:
            raise ValueError("context.order is time or rank, drop not negative, repeat_from a share above 0")
        if self.layout not in ("quoted", "bare"):
            raise ValueError("context.layout is quoted or bare")
        if min(self.top_k, self.item_chars) < 1 or min(self.entities, self.budget_tokens, self.core_tokens) < 0:
            raise ValueError("context.top_k and item_chars must be positive, the other sizes not negative")
        if not 0 <= self.second_look <= 50:
            raise ValueError("context.second_look is a number from 0 to 50")
        if min(self.core_most, self.original_chars, self.recent, self.slot_tokens) < 0 or not 0 <= self.slots <= 100:
            raise ValueError(
                "context.core_most, original_chars, recent and slot_tokens must not be negative, slots ≤ 100"
            )

    @property
    def slots_of_kinds(self) -> dict[str, int]:
        """How many memories of each kind stay in view."""
        return {kind: max(1, round(size * self.slots)) for kind, size in SLOTS.items()} if self.slots else {}
