"""Numbers of the search for contradictions and of what is decided without asking."""

from dataclasses import dataclass


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
    """Nearest memories that a new one is compared with."""
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
