"""What a message and a question read does not follow what is stored (X32): rows that PostgreSQL counts, not seconds.

`COMPLEXITY_SIZES="1000 10000 100000 1000000"` compares more and larger scopes than one waits for each time.
"""

import os
import uuid
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime

import psycopg
import pytest
from psycopg import sql

from benchmarks._embedders import SyntheticEmbedder
from benchmarks._scale_rows import create_database, fill
from benchmarks._synthetic import Texts
from biem.adapters.clock import SystemClock
from biem.adapters.postgres.migrations import migrate
from biem.bootstrap import Servers
from biem.bootstrap.system import assemble
from biem.domain.scope import Scope
from biem.memory import Memory
from tests.support.fakes import eventually
from tests.support.servers import Configure

SIZES = [int(size) for size in os.environ.get("COMPLEXITY_SIZES", "1000 10000").split()]
WARM, ROUNDS = 1, 3
READ = "SELECT relname, seq_tup_read + coalesce(idx_tup_fetch, 0) FROM pg_stat_user_tables"
OTHERS = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"


def converse(memory: Memory, encode: Callable[[], int], rounds: int) -> None:
    """Messages, a fact, a question, a block, the window of a new session and praise, again and again."""
    texts = Texts(seed=3)
    for number in range(rounds):
        said = [memory.remember(texts.text(), speaker="Ana", conversation="talk") for _ in range(3)]
        said.append(memory.remember(texts.text()))
        while encode():
            pass
        memory.recall(texts.text())
        memory.context(texts.text())
        memory.build_context(texts.text(), session=memory.sessions.open(f"session {number}").id)
        memory.feedback(useful=said[:2], turn=f"turn {number} of {rounds}")


def rows_read(where: Servers, settings: Configure, dsn: str, scope: Scope, rounds: int) -> dict[str, int]:
    """Rows that a process reads from its start to its end, by table."""
    with psycopg.connect(dsn, autocommit=True) as admin:
        eventually(lambda: admin.execute(OTHERS).fetchone() == (0,))  # who filled the tables counts when he leaves
        admin.execute("SELECT pg_stat_reset()")
        with ExitStack() as stack:
            place = Servers(dsn, where.redis_url, where.milvus_uri, where.milvus_token, embedded=False)
            apart = settings(queue="none", milvus_collection="complexity")
            parts = assemble(
                settings=apart,
                where=place,
                embedder=SyntheticEmbedder(),
                clock=SystemClock(),
                stack=ExitStack(),
                serve=False,
            )
            stack.callback(parts.release)
            stack.callback(parts.recaller.close)  # accesses are counted by then
            converse(Memory(parts, scope), parts.encoder, rounds)
        eventually(lambda: admin.execute(OTHERS).fetchone() == (0,))  # who leaves tells what he read
        return {str(table): int(rows) for table, rows in admin.execute(READ)}


# Statement by statement: contract/postgres: test_links, test_concepts, test_conflicts, test_core, test_aim and
# test_life. The jobs of the night, in time, up to a million: benchmarks.scale. Milvus searches by its index alone
@pytest.mark.req("X32")
@pytest.mark.req("M5", "M9", partly="as many rows in a large scope; milliseconds at 100,000: benchmarks.promises")
def test_a_conversation_reads_no_more_rows_in_a_large_scope_than_its_searches_take(
    settings: Configure, stack: Servers
) -> None:
    each: list[dict[str, int]] = []
    for size in SIZES:
        # Given a database with that many memories, linked, of many subjects
        scope, embedder = Scope("benchmark", f"rows_{uuid.uuid4().hex[:8]}"), SyntheticEmbedder()
        dsn = create_database(stack.postgres_dsn, scope.user)
        try:
            migrate(dsn)
            fill(dsn, scope, size, embedder.info.id, datetime.now(UTC), embedder.info.dim)

            # When a process talks with it; next to what it reads at its start, of links and settings
            few, many = (rows_read(stack, settings, dsn, scope, rounds) for rounds in (WARM, WARM + ROUNDS))
            each.append({table: rows - few.get(table, 0) for table, rows in many.items() if rows})
        finally:
            with psycopg.connect(stack.postgres_dsn, autocommit=True) as admin:
                admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(scope.user)))

    # Then it read the tables of every hot path
    smallest, *larger = each
    assert {"memories", "embeddings", "evidence", "outbox", "scopes", "crystal_links", "mirrors"} <= smallest.keys()

    # And in a scope ten, or a thousand, times as large not twice as many of any: searches only fill up their limits
    for size, rows in zip(SIZES[1:], larger, strict=True):
        grown = {table: (smallest.get(table, 0), count) for table, count in rows.items()}
        assert {table: pair for table, pair in grown.items() if pair[1] > 2 * pair[0] + 100} == {}, size
        assert rows["memories"] / ROUNDS < size / 5
