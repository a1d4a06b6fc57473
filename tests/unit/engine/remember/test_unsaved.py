"""Messages that wait in this process: what happens when they are too many."""

import logging
from collections.abc import Callable

import pytest

from biem.engine.remember.unsaved import Unsaved
from biem.errors import StoreUnavailable


class Memory:
    """Stores messages while it is up."""

    def __init__(self) -> None:
        self.up = False
        self.stored: list[str] = []

    @property
    def remember(self) -> Callable[..., str]:
        return self._remember

    def _remember(self, text: str) -> str:
        if not self.up:
            raise StoreUnavailable("PostgreSQL is down; start it")
        self.stored.append(text)
        return text


def test_the_first_message_that_is_dropped_of_too_many_is_logged_once_per_outage(
    caplog: pytest.LogCaptureFixture,
) -> None:
    memory = Memory()
    unsaved = Unsaved(lambda: memory)

    def dropped() -> int:
        return sum("the oldest ones are dropped" in record.message for record in caplog.records)

    with caplog.at_level(logging.ERROR, "biem.plugin"):
        # Given as many messages as may wait / When more come / Then it is said once that the oldest are lost
        for number in range(1_000):
            unsaved.save({"text": str(number)})
        assert (len(unsaved), dropped()) == (1_000, 0)
        for number in range(1_000, 1_003):
            unsaved.save({"text": str(number)})
        assert (len(unsaved), dropped()) == (1_000, 1)

        # When they are stored, and the next outage is as long / Then it is said again
        memory.up = True
        unsaved.save()
        assert memory.stored == [str(number) for number in range(3, 1_003)]
        memory.up = False
        for number in range(1_001):
            unsaved.save({"text": str(number)})
        assert dropped() == 2
