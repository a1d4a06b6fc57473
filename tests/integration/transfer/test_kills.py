"""An import and a move that die at every statement: asked for again, they end as if no process had died."""

import io
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import biem
from biem.adapters.postgres.database import Connection
from biem.domain.scope import Scope
from biem.engine.transfer import importing
from tests.integration.faults.test_death_at_every_statement import Cast, cut_everywhere, differing, players
from tests.support.effort import sized
from tests.support.savepoint_stage import Stage, on_stage
from tests.support.transfers import House, exported, lived

__all__ = ["players"]


class Both(Stage):
    """A stage of two scopes, which tells what is in each."""

    def __init__(self, connection: Connection, first: Scope, second: Scope) -> None:
        super().__init__(connection, first)
        self.scopes = (first, second)

    @contextmanager
    def transaction(self, *, put_back: bool = False) -> Iterator[None]:
        """One may also die before a transaction that follows another one."""
        if not put_back:
            self.enter()
        with super().transaction(put_back=put_back):
            yield

    def state(self) -> dict[str, list[str]]:
        told: dict[str, list[str]] = {}
        for scope in self.scopes:
            part = Stage(self.connection, scope).state()
            told |= {f"{scope.user} {name}": rows for name, rows in part.items()}
        return told

    def work(self, memory: biem.Memory) -> None:
        """Do all that waits; the leases of the dead have run out."""
        encoder: Any = memory._system.encoder
        due = "UPDATE outbox SET due_at = clock_timestamp() WHERE dead_at IS NULL AND ns = ANY (%s)"
        for _ in range(80):
            self.connection.execute("SELECT set_config('biem.ns', '*', true)")
            self.connection.execute(due, ([scope.ns for scope in self.scopes],))
            if not encoder():
                return
        raise AssertionError("the work finds no end")


def dying(
    players: Cast, stage: Both, ask: Callable[[biem.Memory], object], *, stride: int = 1
) -> tuple[int, dict[int, Any]]:
    """At how many places it could have died, and what was other than it should be."""

    def whole(memory: biem.Memory) -> None:
        ask(memory)
        stage.work(memory)

    with on_stage(players.living, stage), on_stage(players.heir, stage), stage.transaction(put_back=True):
        before = stage.state()
        with stage.transaction(put_back=True):
            whole(players.living)
            expected = stage.state()
        assert expected != before
        ends = cut_everywhere(stage, lambda: whole(players.living), lambda: whole(players.heir), stride=stride)
    return ends.places, differing(ends, expected)


@pytest.fixture
def scopes(players: Cast) -> tuple[Scope, Scope]:
    """One in which everything is, and another one."""
    first, second = (players.living.scope(user=uuid.uuid4().hex) for _ in range(2))
    lived(House(first, players.clock))
    return first.bound_to, second.bound_to


@pytest.mark.long
@pytest.mark.req("X8", partly="import")
def test_an_import_dies_before_any_statement_and_ends_when_it_is_repeated(
    players: Cast, scopes: tuple[Scope, Scope], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "_BATCH", 9)
    source, target = scopes
    file = exported(players.living.scope(user=source.user))
    stage = Both(players.connection, source, target)
    reports: list[Any] = []

    def ask(memory: biem.Memory) -> None:
        reports.append(memory.scope(user=target.user).import_(io.BytesIO(file)))

    deaths, different = dying(players, stage, ask, stride=sized(3, 1))
    # Then each time all is there once, and the counts of the last report are right
    assert different == {}
    assert deaths > 20
    assert {report.memories for report in reports} == {reports[0].created}
    assert {report.created + report.already_there for report in reports} == {reports[0].memories}


@pytest.mark.long
@pytest.mark.req("X8", partly="move")
def test_a_move_dies_before_any_statement_and_ends_when_it_is_repeated(
    players: Cast, scopes: tuple[Scope, Scope]
) -> None:
    source, target = scopes
    mine = players.living.scope(user=source.user)
    chosen = [node.id for node in mine.list(limit=500).items][::2]
    stage = Both(players.connection, source, target)

    def ask(memory: biem.Memory) -> None:
        memory.scope(user=source.user).move(target, ids=chosen)

    deaths, different = dying(players, stage, ask)
    assert different == {}
    assert deaths > 1
