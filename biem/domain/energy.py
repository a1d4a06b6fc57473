"""The energy of a memory: E(t) = clamp(E_anchor · exp(−λ·Δh), 0, 1), evaluated on read and never rewritten by ageing.

Stored as the pair (energy_anchor, anchor_at). Because all energies decay at one rate λ, their order never changes
without an access, so `key = ln E_anchor + λ·t_anchor` orders them for ever and "below θ at time t" is the range query
`key < λ·t + ln θ` (forward decay, Cormode et al. 2009). λ is per hour; times are aware datetimes.
"""

import math
from datetime import UTC, datetime

from biem.domain.scores import clamp01

_EPOCH = datetime(2020, 1, 1, tzinfo=UTC)
_FLOOR = 1e-12
"""Energy 0 has no logarithm; this value replaces it and stays below every threshold for ever."""


def hours_since_epoch(at: datetime) -> float:
    """Hours from 2020-01-01 UTC to `at`: small enough for exact keys in a float for centuries."""
    return (at - _EPOCH).total_seconds() / 3600.0


def energy_at(anchor: float, anchor_at: datetime, at: datetime, decay_per_hour: float) -> float:
    """Energy in [0, 1] at `at`. A clock that ran backwards does not raise it."""
    hours = max(0.0, (at - anchor_at).total_seconds() / 3600.0)
    return clamp01(anchor * math.exp(-decay_per_hour * hours))


def energy_key(anchor: float, anchor_at: datetime, decay_per_hour: float) -> float:
    """The time-invariant order of energies: a greater key means a greater energy at every later instant."""
    return math.log(max(anchor, _FLOOR)) + decay_per_hour * hours_since_epoch(anchor_at)


def key_threshold(theta: float, at: datetime, decay_per_hour: float) -> float:
    """The key below which memories have energy < `theta` (0 < θ ≤ 1) at `at`, and above which they do not."""
    return math.log(theta) + decay_per_hour * hours_since_epoch(at)


def indicator(energy: float) -> str:
    """The symbol of an energy in the context block: `●` above 0.7, `○` above 0.3, `◌` otherwise."""
    return "●" if energy > 0.7 else "○" if energy > 0.3 else "◌"


def reason_quality(reason: str) -> int:
    """1 for an informative reason (six or more words, or eight CJK characters), −1 for a shorter one, 0 for none."""
    if not reason.strip():
        return 0
    weight = sum(1.0 if ord(c) > 0x2E7F else 0.0 for c in reason) / 8 + len(reason.split()) / 6
    return 1 if weight >= 1.0 else -1


def initial_energy(importance: float, reason: str) -> float:
    """Energy of a new memory in [0.1, 1]: 0.2·importance, ± 0.1 by the quality of its reason.

    `importance` is 1–5. An informative reason adds 0.1, a shorter one subtracts 0.1; without a reason the importance
    decides alone.
    """
    return min(1.0, max(0.1, 0.2 * importance + 0.1 * reason_quality(reason)))
