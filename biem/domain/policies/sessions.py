"""The tunable numbers of sessions: their size, warnings and trimming."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Interval

from biem.domain.policies.bounds import Size


@dataclass(frozen=True, slots=True)
class SessionPolicy:
    """How much of a conversation a model is given, and when the oldest part is summarised."""

    max_tokens: Size = 128_000
    """Tokens of a session from which it is trimmed, and the default size of its window."""
    warning_ratio: float = 0.7
    """Share of `max_tokens` from which a session is said to fill up …"""
    critical_ratio: float = 0.85
    """… and to be nearly full."""
    trim_target: Annotated[float, Interval(ge=0, lt=1)] = 0.5
    """Share of `max_tokens` that trimming leaves, unless the protected rounds are more."""
    protected_rounds: Size = 3
    """The newest rounds, which are never trimmed; neither are system messages."""
    summary_chars: int = 1_000
    """Maximum length of the summary of one slice."""
    stuck_s: float = 3_600.0
    """Time after which `diagnose` reports a session that should have been trimmed."""

    def __post_init__(self) -> None:
        if self.max_tokens < 1 or self.protected_rounds < 1 or self.summary_chars < 100:
            raise ValueError("session.max_tokens and protected_rounds are at least 1, summary_chars at least 100")
        if not 0 < self.warning_ratio <= self.critical_ratio <= 1 or not 0 <= self.trim_target < 1:
            raise ValueError(
                "session.warning_ratio is above 0 and not above critical_ratio, which is at most 1; trim_target is at "
                "least 0 and below 1"
            )
