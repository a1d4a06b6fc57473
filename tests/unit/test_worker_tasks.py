"""How one wake-up spreads: whoever finds a full batch asks for one more process, and nobody asks twice."""

from collections import deque
from collections.abc import Callable
from typing import Any, cast

from celery import Celery

from biem.bootstrap import ENCODE_TASK
from workers.tasks import Bench, register


class App:
    """The part of Celery that tasks use; `tasks` by name, `sent` in order."""

    def __init__(self) -> None:
        self.tasks: dict[str, Callable[..., Any]] = {}
        self.sent: list[str] = []

    def task(self, *, name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def keep(work: Callable[..., Any]) -> Callable[..., Any]:
            self.tasks[name] = work
            return work

        return keep

    def send_task(self, name: str, **_: Any) -> None:
        self.sent.append(name)


class Shop:
    """A workshop that finds so many memories in each round, and a bench to it."""

    batch = 64

    def __init__(self, *rounds: int) -> None:
        self._rounds = deque(rounds)

    @property
    def workshop(self) -> "Shop":
        return self

    def encode(self) -> int:
        return self._rounds.popleft() if self._rounds else 0


def worked(*rounds: int) -> tuple[int, list[str]]:
    app = App()
    register(cast(Celery, app), cast(Bench, Shop(*rounds)))
    return app.tasks[ENCODE_TASK](), app.sent


def test_a_backlog_calls_one_more_process_once() -> None:
    assert worked(64, 64, 64, 10) == (202, [ENCODE_TASK])


def test_little_to_do_calls_nobody() -> None:
    assert worked(63) == (63, [])
    assert worked() == (0, [])
