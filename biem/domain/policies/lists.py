"""The weights by which a block answers a question for all things of a kind: "Which books have I read?".

Fitted by `benchmarks.fit_members` to lives by hand (ADR 0089).
"""

from dataclasses import dataclass

from biem.domain.policies.confidence import require_finite


@dataclass(frozen=True, slots=True)
class MemberWeights:
    """Log-odds per unit of each feature that a line tells of one of these things; see `biem.engine.context.members`."""

    bias: float = -5.67
    worth: float = -0.14
    """Log-odds that it is about what is asked, as of any question (`LineWeights`) …"""
    behind: float = -0.32
    """… and those of the best line, minus these."""
    ahead: float = 8.09
    """Likeness to the question, minus the mean of all lines."""
    group: float = 1.1
    """How like it is to others that are like the question (`engine.recall.group`)."""
    statement: float = 3.01
    """1 if it states something."""
    assistant: float = -1.85
    """1 if the assistant said it."""
    changed: float = 0.14
    """Log-odds that it tells of a change, within ±4."""
    holds: float = 0.68
    """1 if it tells how things are."""
    answering: float = 0.31
    """Log-odds that it answers, by its vector, within ±2."""
    covered: float = 1.56
    """Share of the question's terms that it has, the rare ones weighing most."""

    def __post_init__(self) -> None:
        require_finite(self)


@dataclass(frozen=True, slots=True)
class MembershipWeights:
    """Log-odds per unit of each feature of all lines that some of them tell of such things."""

    bias: float = -0.23
    best: float = 0.31
    """Log-odds of the likeliest line."""
    sure: float = 0.23
    """Log-odds that a line answers, as of any question (`SilenceWeights`), within ±4."""
    likest: float = 1.99
    """Highest likeness of a line to the question, 0 to 1."""

    def __post_init__(self) -> None:
        require_finite(self)
