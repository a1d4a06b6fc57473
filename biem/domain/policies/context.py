"""The tunable numbers of the context block."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Literal

from annotated_types import Interval

from biem.domain.policies.bounds import Count, Share, Size

SLOTS: Mapping[str, int] = MappingProxyType({"knowledge": 14, "skill": 7, "event": 3, "task": 1, "emotion": 1})
"""Angel's short-term slots of each kind."""

UNVERIFIED_SHARE = 0.2
"""Maximum share of a block's tokens for untrusted memories; they get only what the others leave."""


@dataclass(frozen=True, slots=True)
class ContextPolicy:
    """Contents and format of the block."""

    top_k: Size = 5
    item_chars: Size = 200
    entities: Count = 5
    repeat_entities: bool = False
    """Whether to list entities that the item's text contains already: only for readers that parse the list."""
    budget_tokens: Count = 1_000
    """Maximum tokens of the block; whole items only."""
    min_confidence: Share = 0.55
    """Minimum confidence, 0 to 1, that a line answers (`engine.context.picking`); else the block is empty. 0: off."""
    sure_from: Share = 0.7
    """Confidence, 0 to 1, below which a block says that it may not answer; never in the layout `bare`. 0: off."""
    readings: Annotated[int, Interval(ge=0, le=20)] = 3
    """Likeliest lines, at most 20, that are read together with the question (`engine.context.reading`). 0: none."""
    request_readings: Annotated[int, Interval(ge=0, le=20)] = 6
    """The same for a request ("Plan my week"), which has few words in common with the lines that it needs. At most
    `readings`, or where these are 0, it counts for nothing."""
    successors: Annotated[int, Interval(ge=0, le=20)] = 2
    """Pairs of a line that is shown and a later line, at most 20, that are read together to know which of them holds
    (`engine.context.currency.successor_reading`), beside one that words exclude. 0: none."""
    second_look: Annotated[int, Interval(ge=0, le=50)] = 0
    """Best hits, at most 50, from which a language model selects; 0: no model is called."""
    min_relevance: Share = 0.07
    """Minimum, 0 to 1, of p · √(1 − q), where a line is about what is asked with probability p, and one of the better
    lines with q; other lines are omitted, except the best. 0: off."""
    drop: Annotated[float, Interval(ge=0)] = 5.0
    """Maximum difference in log-odds to the best hit where the ranking rates hits: in dialogues of several people, less
    their penalty for persons, and without vectors."""
    repeat_from: Annotated[float, Interval(gt=0, le=1)] = 0.9
    """Share of common index terms (Jaccard) from which a text repeats a better one and is omitted."""
    order: Literal["time", "rank"] = "rank"
    """Chronological order, or best first."""
    marks: bool = False
    """Whether each item begins with its energy, as `[● E=0.85]`."""
    layout: Literal["quoted", "bare"] = "quoted"
    """A line has speaker, date and quoted text, or only the text, as in BIEM."""
    core_tokens: Count = 200
    """Maximum tokens of core memories, which come first; part of the budget."""
    core_most: Count = 20
    slots: Annotated[float, Interval(ge=0, le=100)] = 0.0
    """Short-term slots, × `SLOTS` of each kind, for recently useful memories, shown for every question; 0: none."""
    slot_tokens: Count = 400
    """Maximum tokens of these memories; part of the budget."""
    original_chars: Count = 2_000
    """Maximum characters of an original that strict mode adds for a cut text."""
    notes_share: Share = 0.4
    """Maximum share of what core memories leave for notes, as long as memories need the rest; 0: no notes."""
    notes_min_confidence: Share = 0.5
    """Minimum confidence, 0 to 1, that the notes answer; else the block has none."""
    notes_drop: Share = 0.6
    """Minimum share of the score of the best chunk that further chunks of notes must have. 0: off."""
    note_chars: Size = 600
    """Maximum characters shown of a chunk of a note: of a longer one the sentences that the query asks for."""
    recent: Count = 0
    """Newest texts of the scope at the end of the block; agents that send their history need none."""

    def lines_to_read(self, *, request: bool) -> int:
        """Likeliest lines that are read with a question, or with a request."""
        return max(self.readings, self.request_readings) if request and self.readings else self.readings

    @property
    def slots_of_kinds(self) -> dict[str, int]:
        """Number of recently useful memories of each kind."""
        return {kind: max(1, round(size * self.slots)) for kind, size in SLOTS.items()} if self.slots else {}
