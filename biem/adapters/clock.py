"""The system clock."""

from datetime import UTC, datetime


class SystemClock:
    """The port `Clock` on the machine's own time."""

    def now(self) -> datetime:
        return datetime.now(UTC)  # noqa: TID251 - the one place where time comes from
