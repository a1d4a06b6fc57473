"""The jobs of a scope at once, and with their connections cut or their process dying at any statement."""

import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, cast

import psycopg
import pytest

import biem
from biem.adapters.postgres.database import Database, PooledConnection
from biem.domain.link import Key
from biem.domain.policies.aim import AimPolicy
from biem.domain.policies.graph import GraphPolicy
from biem.domain.policies.jobs import SleepPolicy
from biem.domain.scope import Scope
from biem.telemetry import Span
from tests.support.fakes import HeldClock, eventually
from tests.support.life_workloads import CLUSTER, HABIT, ONLY_SLEEP, embedder, night_is_done, story
from tests.support.servers import Testbed

KILLS = 4
"""Real deaths in the wired system; `test_death_at_every_statement` goes through all of them."""


class Killed(BaseException):
    """As if the process had ended here."""


class Watched:
    """A connection that tells before each statement."""

    def __init__(self, connection: PooledConnection, tell: Callable[[], None]) -> None:
        self._connection = connection
        self._tell = tell

    def execute(self, *arguments: Any, **options: Any) -> Any:
        self._tell()
        return self._connection.execute(*arguments, **options)

    def send(self, *statements: Any, **options: Any) -> Any:
        self._tell()
        return self._connection.send(*statements, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


@contextmanager
def before_each_statement(memory: biem.Memory, tell: Callable[[], None]) -> Iterator[None]:
    """Hear of every statement that the wired system sends to PostgreSQL."""
    database = cast(Database, cast(Any, memory._system.records)._database)
    original = database.connection

    @contextmanager
    def watched(*, patient: bool = False, in_steps: bool = False) -> Iterator[PooledConnection]:
        with original(patient=patient, in_steps=in_steps) as connection:
            yield cast(PooledConnection, Watched(connection, tell))

    database.connection = watched  # type: ignore[method-assign]
    try:
        yield
    finally:
        database.connection = original  # type: ignore[method-assign]


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()


@pytest.fixture
def living(testbed: Testbed, clock: HeldClock) -> Iterator[biem.Memory]:
    """A memory in which nothing happens on its own, in a scope of the test's own."""
    with biem.connect(
        testbed.settings(sleep=ONLY_SLEEP), scope=Scope(user=uuid.uuid4().hex), embedder=embedder(), clock=clock
    ) as memory:
        yield memory


@pytest.mark.req("X38")
def test_three_nights_at_once_do_what_one_does(testbed: Testbed, living: biem.Memory, clock: HeldClock) -> None:
    # Given work for every job, in two scopes that tell the same
    scopes = [living, living.scope(user=uuid.uuid4().hex)]
    ids = [story(scope) for scope in scopes]
    clock.advance(days=5)
    with biem.connect(
        testbed.settings(sleep=ONLY_SLEEP), scope=living.bound_to, embedder=embedder(), clock=clock
    ) as beside:
        # When three work on both at once, two as threads of one process
        nights = [living, beside, living, *(memory.scope(user=scopes[1].bound_to.user) for memory in (living, beside))]
        together = threading.Barrier(len(nights))

        def night(memory: biem.Memory) -> list[str]:
            together.wait()
            return [job.reason for _ in range(3) for job in memory.sleep().failed]

        with ThreadPoolExecutor(len(nights)) as threads:
            reasons = {reason for failed in threads.map(night, nights) for reason in failed}
    # Then they kept out of each other's way, and everything was done once
    assert reasons <= {"it runs already"}
    for memory, named in zip(scopes, ids, strict=True):
        memory.flush()
        memory.sleep()  # anyone who found a job running left it
        night_is_done(memory, named, testbed.where.postgres_dsn, testbed.where.milvus_uri)


@pytest.mark.long
@pytest.mark.req("X8", "X38", partly="the wired system, connections cut again and again")
def test_a_night_whose_connections_are_cut_again_and_again_ends_well(
    testbed: Testbed, living: biem.Memory, clock: HeldClock
) -> None:
    ids = story(living)
    clock.advance(days=5)
    statements = 0
    with psycopg.connect(testbed.where.postgres_dsn, autocommit=True) as admin:

        def cut() -> None:
            nonlocal statements
            statements += 1
            if statements % 29 == 0:  # longer than the longest transaction, and no multiple of anything
                admin.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE application_name LIKE 'biem%' AND datname = current_database()"
                )

        # When all connections are cut before every 29th statement of some nights
        with before_each_statement(living, cut):
            for _ in range(3):
                living.sleep()  # what failed says so, and nothing is raised
    assert statements > 100
    # Then an undisturbed night finds little to do, and everything is there once
    eventually(lambda: not living.sleep().failed)
    night_is_done(living, ids, testbed.where.postgres_dsn, testbed.where.milvus_uri)


@pytest.mark.long
@pytest.mark.req("X8", partly="the wired system, a death at some statements of all jobs")
def test_a_process_that_dies_at_any_statement_of_the_night_loses_and_doubles_nothing(
    testbed: Testbed, living: biem.Memory, clock: HeldClock
) -> None:
    # Given as many scopes as deaths, with work for every job
    scopes = [living.scope(user=uuid.uuid4().hex) for _ in range(KILLS + 1)]
    ids = [story(scope) for scope in scopes]
    clock.advance(days=5)
    left = 0

    me = threading.get_ident()

    def count() -> None:
        nonlocal left
        if threading.get_ident() == me:  # the worker that indexes is another process
            left -= 1
            if left == 0:
                raise Killed

    assert not living.sleep().failed  # the canvases of all scopes are swept by anyone who is first
    with before_each_statement(living, count):
        assert not scopes[-1].sleep().failed
    statements = -left
    # When the process dies in each of them, ever later
    for number, memory in enumerate(scopes[:KILLS]):
        left = 1 + number * statements // KILLS
        with before_each_statement(living, count), pytest.raises(Killed):
            memory.sleep()
        # Then the next one goes on from there
        assert not memory.sleep().failed
    for memory, named in zip(scopes, ids, strict=True):
        night_is_done(memory, named, testbed.where.postgres_dsn, testbed.where.milvus_uri)


# G16's report to a caller that asks for a night: integration/cli/test_life and unit/engine/sleep/test_jobs
@pytest.mark.req("X2")
@pytest.mark.req("G16")
@pytest.mark.req("G26", "H15", partly="in the background, without being told")
def test_jobs_run_automatically_when_they_are_due(testbed: Testbed, clock: HeldClock) -> None:
    # Given a memory with the default periods
    settings = testbed.settings(sleep=SleepPolicy(tick_s=0.05))
    with biem.connect(settings, scope=Scope(user=uuid.uuid4().hex), embedder=embedder(), clock=clock) as memory:
        ran: dict[str, int] = {}

        def note(span: Span) -> None:
            name, changed = str(span.attributes.get("job", "")), span.attributes.get("changed", 0)
            ran[name] = ran.get(name, 0) + (changed if isinstance(changed, int) else 0)

        memory.telemetry.attach(note)
        ids = story(memory)
        # When days go by and no one calls sleep
        for _ in range(5):
            clock.advance(days=1)
            eventually(lambda: memory.flush(1.0))
        # Then everything a night does has been done
        eventually(lambda: memory.facts() and memory.get(ids["noise 0"]).status == "archived", 300)
        eventually(lambda: memory.get(ids["merged 0"]).status == "archived", 300)
        eventually(lambda: "archived" in {memory.get(ids[f"double {number}"]).status for number in (0, 1)}, 300)
        eventually(lambda: memory.related("saffron"), 300)
        # And every job there is has run
        eventually(lambda: ran.keys() >= set(SleepPolicy().periods()), 300)
        # And says how much it changed, a moment after others can see it
        eventually(lambda: all(ran[name] > 0 for name in ("build", "crystallise", "dedupe", "lifecycle")), 300)


@pytest.mark.req("G26")  # on its own, when it is due: the test above
@pytest.mark.req(
    "H15", partly="between any two statements of every task a question is answered; no latency is asserted"
)
def test_a_night_joins_what_was_recalled_together_prunes_what_is_weak_and_keeps_no_question_waiting(
    testbed: Testbed, clock: HeldClock
) -> None:
    # Given two scopes that were given the same; in one of them it was recalled together, three times
    settings = testbed.settings(
        sleep=ONLY_SLEEP, aim=AimPolicy(admission="always"), graph=GraphPolicy(max_links=3, temporal_links=5)
    )
    with (
        biem.connect(settings, scope=Scope(user=uuid.uuid4().hex), embedder=embedder(), clock=clock) as used,
        biem.connect(settings, scope=used.bound_to, embedder=embedder(), clock=clock) as beside,
    ):
        idle = used.scope(user=uuid.uuid4().hex)
        told = {
            memory: [memory.remember(text, conversation="c", wait=True) for text in CLUSTER] for memory in (used, idle)
        }
        for wanted in range(1, 4):
            used.recall(HABIT, top_k=len(CLUSTER))
            eventually(lambda least=wanted: all(used.get(key).access_count >= least for key in told[used]))  # type: ignore[misc]
            clock.advance(seconds=61)

        def links(memory: biem.Memory) -> set[Key]:
            return {link.key for key in told[memory] for link in memory.links(key)}

        before = {memory: links(memory) for memory in told}
        asked = 0

        def ask() -> None:
            nonlocal asked
            asked += 1
            if asked % 5 == 0:
                assert questions.submit(beside.recall, HABIT).result(300)

        # When both have a night, and between its statements a user asks
        with ThreadPoolExecutor(1) as questions, before_each_statement(used, ask):
            assert [memory.sleep().failed for memory in told] == [(), ()]
        assert asked > 50

        # Then what was recalled together hangs together by what it has in common, and what was not does not
        assert used.flush()
        [fact] = used.facts()
        added = {memory: links(memory) - before[memory] for memory in told}
        assert added[used]
        assert all(fact.id in key for key in added[used])
        assert added[idle] == set()

        # And of both the weak links are gone
        for memory in told:
            assert before[memory] - links(memory)
