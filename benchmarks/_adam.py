"""Gradient descent by Adam with decay of the weights, as the fits of vector maps use it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]

_MEAN, _SQUARE, _LEAST = 0.9, 0.999, 1e-8
_WARM, _LAST = 20, 0.05
"""Steps over which the rate rises, and the share of it that is left at the end."""


class Adam:
    """Changes these arrays in place, over a known number of steps."""

    def __init__(self, weights: Sequence[Matrix], rate: float, decay: Sequence[float], steps: int) -> None:
        """`decay`: of each array, per unit of the rate."""
        self._weights, self._rate, self._decay, self._steps = weights, rate, decay, steps
        self._mean = [np.zeros_like(one) for one in weights]
        self._square = [np.zeros_like(one) for one in weights]
        self._step = 0

    def step(self, slopes: Sequence[Matrix]) -> None:
        """Go one step down these slopes."""
        self._step += 1
        number, square = self._step, self._square
        rate = self._rate * min(number / _WARM, 1.0) * (1.0 - (1.0 - _LAST) * number / self._steps)
        for place, (weights, slope) in enumerate(zip(self._weights, slopes, strict=True)):
            self._mean[place] = _MEAN * self._mean[place] + (1.0 - _MEAN) * slope
            square[place] = _SQUARE * square[place] + (1.0 - _SQUARE) * slope * slope
            mean = self._mean[place] / (1.0 - _MEAN**number)
            change = mean / (np.sqrt(square[place] / (1.0 - _SQUARE**number)) + _LEAST)
            weights -= (rate * (change + self._decay[place] * weights)).astype(np.float32)
