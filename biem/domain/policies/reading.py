"""The weights by which a block takes the readings of its likeliest lines into account.

Fitted by `benchmarks.fit_reading` to lives that the model which reads was not fitted to (ADR 0096).
"""

from dataclasses import dataclass

from biem.domain.policies.confidence import require_finite


@dataclass(frozen=True, slots=True)
class ReadingWeights:
    """Log-odds; see `biem.engine.context.reading`."""

    line_bias: float = -0.15
    line_prior: float = 0.5
    """Per unit of the worth of a line before it was read."""
    line_read: float = 0.55
    """Per unit of the log-odds of its reading."""
    bias: float = 0.4
    """.2 below the fitted one, so that reading gains both answers and silence, as chosen on these lives."""
    prior: float = 0.37
    """Per unit of the sureness before lines were read."""
    most: float = 0.5
    """Per unit of the highest log-odds of a reading."""
    own: float = 0.12
    """Per unit of the log-odds of the reading of the line that is likeliest then; 0 without one."""

    def __post_init__(self) -> None:
        require_finite(self)
