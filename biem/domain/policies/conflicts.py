"""Numbers of conflict detection and of automatic decisions."""

import math
from dataclasses import dataclass
from typing import Annotated

from annotated_types import Interval


@dataclass(frozen=True, slots=True)
class ConflictPolicy:
    """Handling of a pair of conflicting memories."""

    suspect_confidence: float = 0.34
    """Minimum confidence for a language model to judge a pair; without a model, nothing happens. F1 is best here on
    the dev pairs, half of which are contradictions; among the neighbours of a memory, most suspicions are false.
    """
    record_confidence: float = 0.5
    """Minimum confidence for a verdict to be recorded as a conflict, for a person or a model to decide."""
    act_confidence: Annotated[float, Interval(ge=0, le=2)] = 0.8
    """Minimum confidence for a verdict to supersede the older memory automatically: rare, and right at least four
    times in five. Above 1: never.
    """
    readings: int = 3
    """Neighbours of a new memory that are read together with it where no rule decides, the most similar first; 0: no
    pair is read. Each costs about twice as much as embedding a memory. In lives by hand the memory that a message ends
    is among the three most similar in 92 % of the cases.
    """
    read_similarity: float = 0.2
    """Neighbours less similar than this (calibrated) are not read."""
    read_change: float = -3.0
    """Memories with lower log-odds to tell of a change, by their vectors, are not read with older ones."""
    reading_slope: float = 0.693
    reading_bias: float = -1.663
    """The confidence that a newer message ends an older one: the logistic function of bias + slope · log-odds."""
    suspects: int = 2
    """Suspicions about one memory that a model judges, the strongest first."""
    least_similarity: float = 0.1
    """Neighbours less similar than this (calibrated) are about something else and not compared."""
    neighbours: int = 10
    """Nearest memories that a new one is compared with."""
    around: int = 100
    """Memories written just before and after the new ones that are compared, because the index may not return them
    yet.
    """
    max_statement_chars: int = 2_000
    """Longer texts are documents with many statements: their sentences are compared, and no rule alone supersedes
    one.
    """
    protected_importance: Annotated[float, Interval(ge=1, le=5)] = 4.5
    """An older memory of at least this importance (of 1–5), or of the layer core, is never superseded by a rule
    alone.
    """
    decisions: int = 20
    """Conflicts judged, or merges finished, in one run."""
    judge_confidence: float = 0.8
    """Minimum confidence for the language model's verdict to supersede; below it the conflict stays for a person."""
    lease_s: float = 120.0
    """Lease of a conflict; one that is not decided is leased again after this, then after 4, 16, … times as long."""
    max_attempts: int = 8
    """After these the conflict is left to a person. The pauses add up to weeks: an exhausted daily budget uses up
    few attempts.
    """

    def confidence_of_reading(self, log_odds: float) -> float:
        """The confidence, 0 to 1, that a newer message ends an older one; see `reading_slope`."""
        return 1.0 / (1.0 + math.exp(-(self.reading_bias + self.reading_slope * log_odds)))
