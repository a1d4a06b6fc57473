"""Where time comes from."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Where time comes from, so that tests can hold it."""

    def now(self) -> datetime:
        """The current instant, aware, in UTC."""
