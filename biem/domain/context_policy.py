"""The tunable numbers of the context block (BIEM B52 – B57, requirements C31)."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class ContextPolicy:
    """The block handed to the model (BIEM B56)."""

    top_k: int = 5
    item_chars: int = 200
    entities: int = 5
    budget_tokens: int = 1_000
    """Room for the block; whole items only."""
    min_confidence: float = 0.45
    """Nothing is told below: at most 5 % of questions about another conversation's people get something told on the dev
    dialogues, and at most a point of recall@10 is lost; 0: always tell the best there is."""
    second_look: int = 0
    """Best hits, at most 50, from which a language model chooses what to tell; 0: no model is asked."""
    drop: float = 3.0
    """Log-odds below the best hit from which on a hit is not told: a sure answer needs no unlikely ones beside it. This
    costs no evidence on the dev dialogues; less trades evidence for tokens about as well as a smaller `top_k`."""
    repeat_from: float = 0.9
    """Share of common index terms (Jaccard) from which on a text repeats a better one and is not told."""
    order: Literal["time", "rank"] = "time"
    """What is picked is told in the order it happened, or best first."""
    core_tokens: int = 200
    """Room for core memories, which come first, of the whole."""
    core_most: int = 20
    original_chars: int = 2_000
    """Length of an original that strict mode adds for a text that was cut (AIM A48)."""
    recent: int = 0
    """Newest texts of the scope that end the block; agents that send their history need none."""

    def __post_init__(self) -> None:
        if self.order not in ("time", "rank") or not self.drop >= 0 or not 0 < self.repeat_from <= 1:
            raise ValueError("context.order is time or rank, drop not negative, repeat_from a share above 0")
        if min(self.top_k, self.item_chars) < 1 or min(self.entities, self.budget_tokens, self.core_tokens) < 0:
            raise ValueError("context.top_k and item_chars must be positive, the other sizes not negative")
        if not 0 <= self.second_look <= 50:
            raise ValueError("context.second_look is a number from 0 to 50")
        if min(self.core_most, self.original_chars, self.recent) < 0:
            raise ValueError("context.core_most, original_chars and recent must not be negative")
