"""The whole night cut at every statement: whatever had been committed by then, the next night ends as one undisturbed.

The night runs within one transaction of PostgreSQL that is rolled back at the end, with its own transactions as
savepoints. Before each statement what is committed by then is handed to another process, which sleeps, and is put back.
A death within a transaction leaves what was there before it began, which was handed over then.
"""

import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import timedelta
from typing import Any, cast

import psycopg
import pytest

import biem
from biem.adapters.database import Connection, Database
from biem.domain.concept_policy import ConceptPolicy
from biem.domain.scope import Scope
from biem.ports.conflicts import Plan
from tests.fakes import START, HeldClock
from tests.integration.life_workloads import BRIDGE, DOUBLES, ONLY_SLEEP, TALK, embedder
from tests.servers import Testbed

CONCEPTS = ConceptPolicy(snippets=50, topics_per_snippet=50, items_per_topic=50, consolidate_concepts=500)
"""All of everything, so that no choice depends on what was chosen before."""

ALIKE = [f"Li Ming runs along the old river {how}" for how in ("happily", "again", "alone", "slowly", "gladly")]
"""Short, because every word costs statements; and none says all that another one says."""
MERGED = [f"The white choir rehearses Haydn every Tuesday {how}" for how in ("loudly", "softly")]

STATE = {
    "memories": """
        SELECT m.text, m.status, m.tier, m.layer, m.access_count, m.useful_count, round(m.energy_anchor::numeric, 6),
            m.valid_to, h.text, m.due_at, m.tags, jsonb_array_length(m.metadata -> 'merged_from')
        FROM memories m LEFT JOIN memories h ON h.id = m.superseded_by WHERE m.ns = %(ns)s""",
    "derivations": """
        SELECT m.text, s.text, d.origin, d.linked
        FROM derivations d JOIN memories m ON m.id = d.memory_id JOIN memories s ON s.id = d.source_id
        WHERE d.ns = %(ns)s""",
    "facts": "SELECT content, confidence, metadata ? 'superseded_by' FROM crystal_facts WHERE ns = %(ns)s",
    "links": """
        SELECT a.text, b.text, l.link_type, round(l.weight::numeric, 6), l.strength, l.deleted, l.parked
        FROM crystal_links l JOIN named a ON a.id = l.source_id JOIN named b ON b.id = l.target_id
        WHERE l.ns = %(ns)s""",
    "items": """
        SELECT c.name, i.text, i.strength, i.fades_at, (SELECT count(*) FROM concept_sources s WHERE s.item_id = i.id)
        FROM concepts c LEFT JOIN concept_items i ON i.concept_id = c.id WHERE c.ns = %(ns)s""",
    "conflicts": """
        SELECT o.text, n.text, c.status, c.resolution, c.decided_by, c.plan IS NULL,
            (SELECT count(*) FROM supersessions s WHERE s.conflict_id = c.id)
        FROM conflicts c JOIN memories o ON o.id = c.older_id JOIN memories n ON n.id = c.newer_id
        WHERE c.ns = %(ns)s""",
    "jobs": "SELECT o.task, m.text FROM outbox o JOIN memories m ON m.id = o.memory_id WHERE o.ns = %(ns)s",
    "waiting": """
        SELECT q.job, m.text FROM consolidation_queue q JOIN memories m ON m.id = q.memory_id WHERE q.ns = %(ns)s""",
    "turns": "SELECT turn FROM feedbacks WHERE ns = %(ns)s",
}
"""What a night makes of a scope, apart from ids and the times at which it ran."""

NAMED = """
    WITH named AS (
        SELECT id::text, text FROM memories WHERE ns = %(ns)s UNION ALL
        SELECT id::text, name FROM concepts WHERE ns = %(ns)s)
    """


class Stage:
    """One connection on which several object graphs play, and nobody else sees it."""

    def __init__(self, connection: Connection, scope: Scope) -> None:
        self.connection = connection
        self.scope = scope
        self.before: Callable[[], None] | None = None
        """Hears of every statement that is not within a transaction."""
        self.statements = 0
        self._deep = 0

    def execute(self, *arguments: Any, **options: Any) -> Any:
        self.statements += 1
        if self.before is not None and not self._deep:
            hear, self.before = self.before, None
            hear()
            self.before = hear
        return self.connection.execute(*arguments, **options)

    @contextmanager
    def transaction(self, *, put_back: bool = False) -> Iterator[None]:
        """A savepoint; what happened is undone at the end where it is `put_back`."""
        with self.connection.transaction(force_rollback=put_back):
            self._deep += not put_back
            try:
                yield
            finally:
                self._deep -= not put_back

    def cursor(self) -> Any:
        """For many statements at once."""
        assert self._deep, "several statements that are no transaction"
        return self.connection.cursor()

    @staticmethod
    def pipeline() -> AbstractContextManager[None]:
        return nullcontext()

    def written(self) -> int:
        """Grows whenever a row is written."""
        query = "SELECT coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0)::bigint FROM pg_stat_xact_user_tables"
        row = self.connection.execute(query).fetchone()
        assert row is not None
        return int(row[0])

    def state(self) -> dict[str, list[str]]:
        """All that `STATE` tells."""
        keys = {"ns": self.scope.ns}
        self.connection.execute("SELECT set_config('biem.ns', %(ns)s, true)", keys)
        return {
            name: sorted(map(str, self.connection.execute((NAMED + query).encode(), keys).fetchall()))
            for name, query in STATE.items()
        }


@contextmanager
def on_stage(memory: biem.Memory, stage: Stage) -> Iterator[None]:
    """Have all stores of this object graph use the one connection."""
    database = cast(Database, cast(Any, memory._parts.records)._database)
    original = database.connection
    me = threading.get_ident()

    def connection(*, patient: bool = False) -> AbstractContextManager[Connection]:
        if threading.get_ident() == me:
            return nullcontext(cast(Connection, stage))
        return original(patient=patient)  # workers see nothing of it

    database.connection = connection  # type: ignore[assignment,method-assign]
    try:
        yield
    finally:
        database.connection = original  # type: ignore[method-assign]


def converge(memory: biem.Memory) -> int:
    """Nights of another process until one changes nothing; returns how many. What fails is raised."""
    memory._parts.associations.drop(memory.bound_to)  # it has just come
    jobs = memory._parts.sleeper.jobs.values()  # without their locks: who died held one
    for night in range(1, 5):
        if not sum(sum(job.run(memory.bound_to).values()) for job in jobs):
            return night
    raise AssertionError("nights find no end")


def prepare(memory: biem.Memory, clock: HeldClock) -> None:
    """A little for every job to do."""
    memory.remember_many([{"text": text, "speaker": "Ann", "conversation": "farm"} for text in TALK[:2]], wait=True)
    clock.advance(days=1)
    memory.sleep()  # builds concepts, which fade within the next days
    clock.advance(days=8)
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
    resolver: Any = memory._parts.resolver  # a process that died when it had decided to merge the two
    details = resolver._details(memory.bound_to, memory.get(pair.older_id), memory.get(pair.newer_id))
    resolver._conflicts.begin(memory.bound_to, pair.id, Plan("merge", ref="merge:x", details=details), 0.0)
    clock.advance(days=8)


@pytest.mark.req("X8", "X38")
def test_a_night_that_dies_before_any_statement_is_made_good_by_the_next(testbed: Testbed) -> None:
    clock, scope = HeldClock(), Scope(user=uuid.uuid4().hex)
    settings = testbed.settings(sleep=ONLY_SLEEP, concepts=CONCEPTS)
    with (
        biem.connect(settings, scope=scope, embedder=embedder(), clock=clock) as living,
        biem.connect(settings, scope=scope, embedder=embedder(), clock=clock) as heir,
        psycopg.connect(testbed.where.postgres_dsn, autocommit=True) as connection,
    ):
        prepare(living, clock)
        connection.execute("SET ROLE biem_service")
        stage = Stage(connection, scope)
        with on_stage(living, stage), on_stage(heir, stage), stage.transaction(put_back=True):
            # Given a night that nothing disturbs, in which every job has something to do, and how it ends
            with stage.transaction(put_back=True):
                assert [job.name for job in living.sleep().jobs if job.reason or not job.changed] == []
                converge(heir)
                expected = stage.state()
            # When the process dies before any statement of the night, and another one has the next nights
            different: dict[int, dict[str, set[str]]] = {}
            cuts, seen = 0, -1

            def die() -> None:
                nonlocal cuts, seen
                if stage.written() == seen:
                    return  # the same is there as before the last statement
                cuts, statement = cuts + 1, stage.statements
                with stage.transaction(put_back=True):
                    connection.execute("UPDATE conflicts SET due_at = now() WHERE plan IS NOT NULL")  # leases run out
                    converge(heir)
                    found = stage.state()
                if found != expected:
                    different[statement] = {name: set(found[name]) ^ set(rows) for name, rows in expected.items()}
                seen = stage.written()

            stage.before, stage.statements = die, 0
            assert not living.sleep().failed
            stage.before = None
    # Then each time all ends as if nobody had died
    assert different == {}
    assert cuts > 30
