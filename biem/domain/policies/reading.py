"""The weights by which a block takes readings into account.

Fitted as `benchmarks.fit_reading` does, by a script, to lives that the model which reads was not fitted to (ADR 0096);
those of successors by a script to twelve other lives (ADR 0097).
"""

from dataclasses import dataclass

from biem.domain.policies.confidence import require_finite


@dataclass(frozen=True, slots=True)
class ReadingWeights:
    """Log-odds; see `biem.engine.context.reading` and `…currency.successor_reading`."""

    line_bias: float = -0.21
    line_prior: float = 0.625
    """Per unit of the worth of a line before it was read."""
    line_read: float = 0.33
    """Per unit of the log-odds of its reading."""
    bias: float = 0.26
    """.2 below the fitted one, so that reading gains both answers and silence, as chosen on these lives."""
    prior: float = 0.39
    """Per unit of the sureness before lines were read."""
    most: float = 0.3
    """Per unit of the highest log-odds of a reading."""
    own: float = 0.13
    """Per unit of the log-odds of the reading of the line that is likeliest then; 0 without one."""

    successor_bias: float = 0.05
    """.2 above the fitted one: a former value in the first line misleads, a line too many does not."""
    successor_prior: float = 0.87
    """Per unit of the log-odds, before both were read, that a later line tells how an earlier one stands now."""
    successor_ends: float = 0.24
    """Per unit of the log-odds, of their reading, that the later line ends what the earlier says."""
    successor_answers: float = 0.435
    """Per unit of the log-odds, of its reading, that the later line answers the question."""

    def __post_init__(self) -> None:
        require_finite(self)
