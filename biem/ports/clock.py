"""The source of time."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """The source of time, which tests can control."""

    def now(self) -> datetime:
        """The current instant, aware, in UTC."""
