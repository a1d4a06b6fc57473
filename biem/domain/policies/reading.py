"""The weights by which a block takes readings into account.

Fitted as `benchmarks.fit_reading` does, by a script, to lives that the model which reads was not fitted to (ADR 0096);
those of successors as `benchmarks.fit_successors` does, by a script, to 230 lives (ADR 0097).
"""

from dataclasses import dataclass

from biem.domain.policies.confidence import require_finite


@dataclass(frozen=True, slots=True)
class ReadingWeights:
    """Log-odds; see `biem.engine.context.reading` and `…currency.successor_reading`."""

    line_bias: float = -0.25
    """.1 below the fitted one, so that fewer lines are shown beside one that answers."""
    line_prior: float = 0.482
    """Per unit of the worth of a line before it was read."""
    line_read: float = 0.595
    """Per unit of the log-odds of its reading."""
    bias: float = 1.2
    """.1 above the fitted one: so as many questions are answered as before the model was fitted last, and fewer unknown
    ones get lines."""
    prior: float = 0.175
    """Per unit of the sureness before lines were read."""
    most: float = 0.256
    """Per unit of the highest log-odds of a reading."""
    mean: float = 0.338
    """Per unit of the mean of these log-odds."""
    own: float = 0.262
    """Per unit of the log-odds of the reading of the line that is likeliest then; 0 without one."""

    successor_bias: float = 0.4
    """So that as many right later lines go first as with the weights before, and as many are shown."""
    successor_prior: float = 0.191
    """Per unit of the log-odds, before both were read, that a later line tells how an earlier one stands now."""
    successor_ends: float = 0.614
    """Per unit of the log-odds, of their reading, that the later line ends what the earlier says."""
    successor_answers: float = 0.866
    """Per unit of the log-odds, of its reading, that the later line answers the question."""
    successor_older: float = -0.448
    """Per unit of these log-odds of the earlier line: what surely answers is rarely changed by what may answer."""

    def __post_init__(self) -> None:
        require_finite(self)
