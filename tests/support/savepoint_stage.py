"""A stage for processes that die: several object graphs on one connection, whose transactions are savepoints of one.

What is committed at some moment can be handed to another process and put back, as often as there are statements.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, cast

import psycopg
from psycopg.rows import tuple_row

import biem
from biem.adapters.postgres.database import Connection, Database, Row, named_row
from biem.adapters.postgres.sql import numbered
from biem.adapters.postgres.sql.sending import Parameters, SentAnswer
from biem.domain.scope import Scope

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
    "documents": """
        SELECT i.path, i.key, i.value::text, i.ttl_s, m.text, m.status, m.on_expiry, m.expires_at IS NULL
        FROM items i LEFT JOIN memories m ON m.id = i.memory_id WHERE i.ns = %(ns)s""",
    "conflicts": """
        SELECT o.text, n.text, c.status, c.resolution, c.decided_by, c.plan IS NULL,
            (SELECT count(*) FROM supersessions s WHERE s.conflict_id = c.id)
        FROM conflicts c JOIN memories o ON o.id = c.older_id JOIN memories n ON n.id = c.newer_id
        WHERE c.ns = %(ns)s""",
    "jobs": "SELECT o.task, m.text FROM outbox o JOIN memories m ON m.id = o.memory_id WHERE o.ns = %(ns)s",
    "waiting": """
        SELECT q.job, m.text FROM consolidation_queue q JOIN memories m ON m.id = q.memory_id WHERE q.ns = %(ns)s""",
    "revisions": """
        SELECT m.text, r.revision, r.revised_by, r.text, r.before - 'revised_at' - 'valid_from'
        FROM memory_revisions r JOIN memories m ON m.id = r.memory_id WHERE r.ns = %(ns)s""",
    "sessions": """
        SELECT name, status, head_seq, next_seq, round, messages, tokens, all_tokens, trim_at IS NULL, trim_tries
        FROM sessions WHERE ns = %(ns)s""",
    "messages": """
        SELECT s.name, m.seq, m.role, m.content, m.tokens, m.round, m.data, k.text
        FROM session_messages m JOIN sessions s ON s.id = m.session_id LEFT JOIN memories k ON k.id = m.memory_id
        WHERE m.ns = %(ns)s""",
    "turns": "SELECT turn FROM feedbacks WHERE ns = %(ns)s",
}
"""What a night makes of a scope, apart from ids and the times at which it ran."""

NAMED = """
    WITH named AS (
        SELECT id::text, text FROM memories WHERE ns = %(ns)s UNION ALL
        SELECT id::text, name FROM concepts WHERE ns = %(ns)s)
    """


class Stage:
    """One connection on which several object graphs play, and no one else sees it."""

    def __init__(self, connection: Connection, scope: Scope) -> None:
        self.connection = connection
        self.scope = scope
        self.before: Callable[[], None] | None = None
        """Hears of every statement that is not within a transaction."""
        self.statements = 0
        self._deep = 0

    def execute(self, *arguments: Any, **options: Any) -> Any:
        self.enter()
        return self.connection.execute(*arguments, **options)

    def send(self, *statements: tuple[str, Parameters], binary: bool = False) -> list[SentAnswer[Row]]:
        """Named statements, one after the other."""
        return [self._sent(name, parameters, binary=binary) for name, parameters in statements]

    def _sent(self, name: str, parameters: Parameters, *, binary: bool) -> SentAnswer[Row]:
        text, names = numbered(name)
        values = [parameters[each] for each in names] if isinstance(parameters, Mapping) else parameters
        self.enter()
        cursor: psycopg.RawCursor[Row] = psycopg.RawCursor(self.connection, row_factory=named_row)
        cursor.format = psycopg.pq.Format(binary)
        cursor.execute(text, values)
        return SentAnswer(cursor.fetchall() if cursor.description else [], cursor.rowcount)

    def enter(self) -> None:
        """A statement is about to be sent."""
        self.statements += 1
        if self.before is not None and not self._deep:
            hear, self.before = self.before, None
            hear()
            self.before = hear

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
        cursor = self.connection.cursor(row_factory=tuple_row)
        return {
            name: sorted(map(str, cursor.execute((NAMED + query).encode(), keys).fetchall()))
            for name, query in STATE.items()
        }


@contextmanager
def on_stage(memory: biem.Memory, stage: Stage) -> Iterator[None]:
    """Have all stores of this object graph use the one connection."""
    database = cast(Database, cast(Any, memory._system.records)._database)
    original = database.connection
    me = threading.get_ident()

    def connection(*, patient: bool = False, in_steps: bool = False) -> AbstractContextManager[Connection]:
        if threading.get_ident() == me:
            return nullcontext(cast(Connection, stage))
        return original(patient=patient, in_steps=in_steps)  # workers see nothing of it

    database.connection = connection  # type: ignore[assignment,method-assign]
    try:
        yield
    finally:
        database.connection = original  # type: ignore[method-assign]
