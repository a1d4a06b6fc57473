"""A clock for simulated days."""

from datetime import datetime


class HeldClock:
    """The port `Clock`; time moves only when told to."""

    def __init__(self, now: datetime) -> None:
        self._now = now

    def now(self) -> datetime:
        """As the port says."""
        return self._now

    def move_to(self, now: datetime) -> None:
        """Make it this instant."""
        self._now = now
