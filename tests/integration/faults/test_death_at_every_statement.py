"""Nights, workers and calls cut at every statement: from any committed state it ends as if no process had died.

The story runs within one transaction of PostgreSQL that is rolled back at the end, with its own transactions as
savepoints. Before each statement what is committed by then is handed to another process, which sleeps, and is put back.
A death within a transaction leaves what was there before it began, which was handed over then.
"""

import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import psycopg
import pytest

import biem
from biem.adapters.postgres.database import Connection, named_row
from biem.bootstrap import Servers
from biem.domain.policies.concepts import ConceptPolicy
from biem.domain.scope import Scope
from biem.ports.conflicts import Plan
from tests.support.effort import sized
from tests.support.fakes import START, HeldClock, eventually
from tests.support.life_workloads import BRIDGE, DOUBLES, ONLY_SLEEP, TALK, embedder
from tests.support.savepoint_stage import Stage, on_stage
from tests.support.systems import system

CONCEPTS = ConceptPolicy(snippets=50, topics_per_snippet=50, items_per_topic=50, consolidate_concepts=500)
"""All of everything, so that no choice depends on what was chosen before."""

ALIKE = [f"Li Ming runs along the old river {how}" for how in ("happily", "again", "alone", "slowly", "gladly")]
"""Short, because every word costs statements; and none says all that another one says."""
MERGED = [f"The white choir rehearses Haydn every Tuesday {how}" for how in ("loudly", "softly")]


def converge(memory: biem.Memory) -> int:
    """Nights of another process until one changes nothing; returns how many. What fails is raised."""
    memory._system.associations.drop(memory.bound_to)  # it has just come
    jobs = memory._system.job_runner.jobs.values()  # without their locks: who died held one
    for night in range(1, 5):
        if not sum(sum(job.run(memory.bound_to).values()) for job in jobs):
            return night
    raise AssertionError("nights find no end")


def pass_days(memory: biem.Memory, clock: HeldClock, days: int) -> None:
    """Advance the clock once the canvas has what is hot: a memory that enters it days later has cooled and leaves."""
    canvas: Any = memory._system.recaller._tiers._canvas

    def is_full() -> bool:
        hot = {node.id for node in memory.list(limit=100).items if node.tier == "L1"}
        return bool(canvas.count(memory.bound_to.ns, sorted(hot)) == len(hot))

    eventually(is_full)
    clock.advance(days=days)


def prepare(memory: biem.Memory, clock: HeldClock) -> None:
    """A little for every job to do."""
    memory.remember_many([{"text": text, "speaker": "Ann", "conversation": "farm"} for text in TALK[:2]], wait=True)
    chat = memory.sessions.open("farm")
    memory.sessions.append(chat.id, "tool", "milk: 12 l")
    pass_days(memory, clock, 1)
    memory.sleep()  # builds concepts, which fade within the next days
    pass_days(memory, clock, 8)
    praised = memory.remember_many([{"text": text} for text in ALIKE], wait=True)
    memory.feedback(useful=praised, turn="old")
    memory.remember_many([{"text": text, "layer": "long_term"} for text in MERGED])
    memory.remember_many([{"text": text} for text in DOUBLES])
    memory.remember_many([{"text": text, "at": START + timedelta(days=n)} for n, text in enumerate(BRIDGE)])
    memory.remember_many(
        [{"text": f"Bus {n} was late", "speaker": "Bo", "conversation": "bus", "importance": 1} for n in range(2)]
    )
    memory.remember("Ann works at Acme", at=START)
    memory.remember("Ann works at Globex", at=START + timedelta(days=1), wait=True)
    [pair] = [pair for pair in memory.conflicts() if "Acme" in pair.older_text]
    resolver: Any = memory._system.resolver  # a process that died when it had decided to merge the two
    details = resolver._details(memory.bound_to, memory.get(pair.older_id), memory.get(pair.newer_id))
    resolver._conflicts.begin(memory.bound_to, pair.id, Plan("merge", ref="merge:x", details=details), 0.0)
    memory.sessions.close(chat.id)
    pass_days(memory, clock, 8)


@dataclass(frozen=True, slots=True)
class Cast:
    """Two processes, the connection on which both may play, and their clock."""

    living: biem.Memory
    heir: biem.Memory
    connection: Connection
    clock: HeldClock

    def enter(self) -> tuple[biem.Memory, biem.Memory, Stage]:
        """Both in a scope of the test's own, and its stage."""
        user = uuid.uuid4().hex
        return self.living.scope(user=user), self.heir.scope(user=user), Stage(self.connection, Scope(user=user))


@pytest.fixture(scope="module")
def players(stack: Servers) -> Iterator[Cast]:
    """Connecting takes as long as a story. A sweep is of all scopes: in a database of their own no one has it first."""
    clock = HeldClock()
    with (
        system(stack, sleep=ONLY_SLEEP, concepts=CONCEPTS) as own,
        biem.connect(own.settings, embedder=embedder(), clock=clock) as living,
        biem.connect(own.settings, embedder=embedder(), clock=clock) as heir,
        psycopg.connect(own.where.postgres_dsn, autocommit=True, row_factory=named_row) as connection,
    ):
        connection.execute("SET ROLE biem_service")
        yield Cast(living, heir, connection, clock)


@dataclass
class Ends:
    """What became of a story that was cut, by the statement before which it was; and at how many it could have been."""

    by_statement: dict[int, Any] = field(default_factory=dict)
    places: int = 0


def cut_everywhere(
    stage: Stage, story: Callable[[], object], inherit: Callable[[], object], *, stride: int = 1
) -> Ends:
    """Die before each statement of a story, or each `stride`-th, and have `inherit` done from what is there by then.

    A statement before which the same is there as before the last one is left out.
    """
    ends = Ends()
    seen = -1

    def die() -> None:
        nonlocal seen
        if stage.written() != seen:
            if ends.places % stride == 0:
                with stage.transaction(put_back=True):
                    inherit()
                    ends.by_statement[stage.statements] = stage.state()
            ends.places += 1
            seen = stage.written()

    stage.before, stage.statements = die, 0
    story()
    stage.before = None
    return ends


def differing(ends: Ends, expected: dict[str, list[str]]) -> dict[int, dict[str, set[str]]]:
    """What is other than it should be, by statement."""
    return {
        statement: {name: set(found[name]) ^ set(rows) for name, rows in expected.items()}
        for statement, found in ends.by_statement.items()
        if found != expected
    }


@pytest.mark.sized
@pytest.mark.req("X8", "X38")
def test_a_night_that_dies_before_any_statement_is_made_good_by_the_next(players: Cast) -> None:
    living, heir, stage = players.enter()
    prepare(living, players.clock)
    with on_stage(living, stage), on_stage(heir, stage), stage.transaction(put_back=True):
        # Given a night that nothing disturbs, in which every job has work but notes and the mirror, without a folder
        with stage.transaction(put_back=True):
            idle = {job.name: job.reason for job in living.sleep().jobs if job.reason or not job.changed}
            assert idle == {"notes": "", "note_verdicts": "", "mirror": ""}
            converge(heir)
            expected = stage.state()

        def inherit() -> None:
            players.connection.execute("UPDATE conflicts SET due_at = now() WHERE plan IS NOT NULL")  # leases run out
            converge(heir)

        # When the process dies before any statement of the night, and another one has the next nights
        ends = cut_everywhere(stage, lambda: _assert_well(living), inherit, stride=sized(4, 1))
    # Then each time all ends as if no process had died
    assert differing(ends, expected) == {}
    assert ends.places > 30


def _assert_well(memory: biem.Memory) -> None:
    assert not memory.sleep().failed


def work(memory: biem.Memory, stage: Stage) -> None:
    """Encode, clear and forget all that waits; the leases of the dead have run out."""
    encoder: Any = memory._system.encoder
    for _ in range(40):
        stage.connection.execute(
            "UPDATE outbox SET due_at = clock_timestamp() WHERE dead_at IS NULL AND ns = %s", (stage.scope.ns,)
        )
        if not encoder():
            return
    raise AssertionError("the work finds no end")


def employers(memory: biem.Memory, *names: str) -> None:
    """People who changed their employers, of which no one said so: conflicts that wait."""
    now = memory.now()
    memory.remember_many(
        [
            {"text": f"{name} works at {firm}", "at": now + timedelta(hours=hour)}
            for name in names
            for hour, firm in enumerate(("Acme", "Globex"))
        ],
        wait=True,
    )


@pytest.mark.long
@pytest.mark.req("X8", partly="each verb of the API, and the worker")
def test_any_call_may_die_before_any_statement_and_is_completed_by_repeating_it(players: Cast) -> None:
    living, heir, stage = players.enter()
    # Given memories that were used, refused, archived, and that disagree, decided or not
    employers(living, "Ann", "Bo", "Cid", "Dan")
    named = {conflict.older_text.split()[0]: conflict.id for conflict in living.conflicts()}
    living.resolve(named["Cid"], "keep_new")
    living.resolve(named["Dan"], "merge")
    useful = living.remember_many([{"text": text} for text in ALIKE[:2]], wait=True)
    useless = living.remember("Bus 7 was late", importance=1, wait=True)
    gone = living.remember("The kettle boils at 100 degrees", wait=True)
    living.archive(gone)
    hidden = living.remember("The kettle was made in Solingen", layer="core", wait=True)
    living.quarantine(hidden)
    said = [{"text": "Yes, that is so", "speaker": "Ann", "conversation": "nods"} for _ in range(3)]
    living.remember_many(said, wait=True)
    assert living.flush()
    refused = living.refusals()[0].id
    fresh = [{"text": text, "ref": text, "at": living.now()} for text in ("Eva works at Acme", "Eva joined Globex")]
    stories: dict[str, Callable[[biem.Memory], object]] = {
        "remember and encode": lambda memory: memory.remember_many(fresh),
        "feedback": lambda memory: memory.feedback(useful=useful, useless=[useless], turn="t"),
        "resolve": lambda memory: memory.resolve(named["Ann"], "keep_old"),
        "merge": lambda memory: memory.resolve(named["Bo"], "merge"),
        "undo": lambda memory: memory.undo(named["Cid"]),
        "undo a merge": lambda memory: memory.undo(named["Dan"]),
        "archive": lambda memory: memory.archive(useful[0]),
        "restore": lambda memory: memory.restore(gone),
        "quarantine": lambda memory: memory.quarantine(useful[1]),
        "release": lambda memory: memory.release(hidden, "untrusted"),
        "replay": lambda memory: memory.replay(refused, force=True),
        "erase one": lambda memory: erased(memory, useful[1]),
        "erase all": lambda memory: memory.erase(memory.bound_to),
    }
    different: dict[str, object] = {}
    cuts: dict[str, int] = {}
    with on_stage(living, stage), on_stage(heir, stage):
        for name, ask in stories.items():
            with stage.transaction(put_back=True):
                before = stage.state()
                with stage.transaction(put_back=True):
                    ask(living)
                    work(living, stage)
                    expected = stage.state()
                assert expected != before, name

                def inherit(ask: Callable[[biem.Memory], object] = ask) -> None:
                    ask(heir)
                    work(heir, stage)

                # When the process dies before any statement of a call or of the work that follows, and it is asked
                # for again
                def story(ask: Callable[[biem.Memory], object] = ask) -> None:
                    ask(living)
                    work(living, stage)

                ends = cut_everywhere(stage, story, inherit)
                different[name], cuts[name] = differing(ends, expected), ends.places
    # Then each time all ends as if no process had died
    assert {name: found for name, found in different.items() if found} == {}
    assert min(cuts.values()) > 1, cuts


@pytest.mark.long
@pytest.mark.req("X8", partly="what expires")
def test_a_night_that_archives_and_erases_what_expired_dies_before_any_statement(players: Cast) -> None:
    living, heir, stage = players.enter()
    # Given memories that expire, to be archived or erased, indexed or pending, one archived before; and one that lasts
    for number, how in enumerate(("archive", "archive", "erase", "erase")):
        living.remember(f"The code of room {number} is {how}", ttl=timedelta(hours=1), on_expiry=how, wait=number < 3)
    old = living.remember("The old code is 17", ttl=timedelta(hours=1), on_expiry="erase", wait=True)
    living.archive(old)
    living.remember("The garden has no code", wait=True)
    players.clock.advance(hours=1)
    receipts = "SELECT count(DISTINCT receipt ->> 'target') FROM erasures WHERE ns = %s"
    proven: list[int] = []

    def night(memory: biem.Memory) -> None:
        memory._system.job_runner.jobs["lifecycle"].run(memory.bound_to)
        work(memory, stage)

    def inherit() -> None:
        night(heir)
        row = stage.connection.execute(receipts, (stage.scope.ns,)).fetchone()
        proven.append(0 if row is None else int(row[0]))

    with on_stage(living, stage), on_stage(heir, stage), stage.transaction(put_back=True):
        with stage.transaction(put_back=True):
            night(living)
            expected = stage.state()
        # When the process dies before any statement of the night / Then the next one ends as if no process had died
        ends = cut_everywhere(stage, lambda: night(living), inherit)
    assert differing(ends, expected) == {}
    # And each of the three that were erased has a receipt
    assert set(proven) == {3}
    assert ends.places > 6


def erased(memory: biem.Memory, key: str) -> None:
    """Gone, by this call or by the one that died."""
    with suppress(biem.NotFound):
        memory.erase(key)
