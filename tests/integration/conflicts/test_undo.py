"""A decision about a conflict that is taken back leaves no trace of it in any store but the record of the conflict."""

import uuid
from collections.abc import Iterator

import psycopg
import pytest
import redis
from psycopg import sql

import biem
from biem.adapters.milvus.light_import import MilvusClient
from biem.bootstrap import Servers
from biem.domain.conflict import RESOLUTIONS, Conflict
from biem.domain.policies.aim import AimPolicy
from tests.support.fakes import HeldClock, WordEmbedder
from tests.support.life_workloads import ONLY_SLEEP
from tests.support.servers import Configure
from tests.support.workloads import value_of

FORM_ALL = AimPolicy(admission="always")
Stored = dict[str, object]
"""What a place of a store holds, by the name of the place."""


@pytest.fixture
def memory(settings: Configure) -> Iterator[biem.Memory]:
    where = biem.Scope(user=uuid.uuid4().hex)
    chosen = settings(sleep=ONLY_SLEEP, aim=FORM_ALL)
    with biem.connect(chosen, scope=where, embedder=WordEmbedder(dim=512), clock=HeldClock()) as opened:
        yield opened


def stored(where: Servers, memory: biem.Memory, *ids: str, without: str = "") -> Stored:
    """All that the three stores hold about memories; rows that name the memory `without` are left out."""
    return {
        **_in_postgres(where.postgres_dsn, ids, without),
        **_in_redis(where.redis_url, memory.bound_to.ns),
        **_in_milvus(where.milvus_uri, ids),
    }


def _in_postgres(dsn: str, ids: tuple[str, ...], without: str) -> Stored:
    """Each table's rows that name one of the memories, but the conflicts themselves.

    The number of a link's last change is left out: it has to grow, so that other processes read the link again.
    """
    with psycopg.connect(dsn, autocommit=True) as connection:
        listed = """SELECT table_name FROM information_schema.tables
            WHERE table_schema = 'public' AND table_type = 'BASE TABLE' ORDER BY 1"""
        tables = [name for (name,) in connection.execute(listed).fetchall() if name != "conflicts"]
        assert "supersessions" in tables
        held: Stored = {}
        for table in tables:
            query = sql.SQL("SELECT (to_jsonb(t) - 'version')::text FROM {} AS t WHERE t::text LIKE ANY (%s)").format(
                sql.Identifier(table)
            )
            rows = connection.execute(query, ([f"%{key}%" for key in ids],)).fetchall()
            held[f"postgres.{table}"] = sorted(row for (row,) in rows if not without or without not in row)
        return held


def _in_redis(url: str, ns: str) -> Stored:
    with redis.Redis.from_url(url) as client:
        return {f"redis {key.decode()}": value_of(client, key) for key in client.scan_iter(f"*{ns}*")}


def _in_milvus(uri: str, ids: tuple[str, ...]) -> Stored:
    client = MilvusClient(uri=uri, dedicated=True)
    try:
        held: Stored = {}
        for collection in client.list_collections():
            client.load_collection(collection)
            rows = client.query(collection, ids=list(ids), output_fields=["*"], consistency_level="Strong")
            held |= {f"milvus {collection} {row['id']}": repr(sorted(row.items())) for row in rows}
        return held
    finally:
        client.close()


def conflict_between(memory: biem.Memory, older: str, newer: str) -> Conflict:
    [found] = [one for one in memory.conflicts(status=None) if (one.older_id, one.newer_id) == (older, newer)]
    return found


@pytest.mark.parametrize("resolution", [*RESOLUTIONS, "ignore"])
def test_a_decision_of_a_user_that_is_taken_back_leaves_both_as_they_were(
    memory: biem.Memory, stack: Servers, resolution: str
) -> None:
    # Given two memories that disagree, with links, tags and a vector each, and the canvas that holds them
    older = memory.remember("Li Ming works at Acme", tags=["job"], conversation="talk")
    newer = memory.remember("Li Ming works at Globex", tags=["news"], conversation="talk")
    friend = memory.remember("Li Ming has a friend at Acme", conversation="talk")
    assert memory.flush()
    pending = conflict_between(memory, older, newer)
    assert pending.status == "pending"
    before = stored(stack, memory, older, newer)
    assert any(older in str(rows) and friend in str(rows) for place, rows in before.items() if "links" in place)
    assert sum(place.startswith("milvus") for place in before) == 2

    # When it is decided / Then something is another than before, unless it is decided that nothing is to be done
    decided = memory.resolve(pending.id, resolution)
    assert memory.flush()
    during = stored(stack, memory, older, newer)
    assert (during == before) is (resolution in ("keep_both", "ignore"))

    # And when that is taken back, everything about both is what it was, and the conflict waits as before
    memory.undo(pending.id)
    assert memory.flush()
    after = stored(stack, memory, older, newer, without=decided.merged_id or "")
    if decided.merged_id:  # the canvas and the newest texts know the merged memory, which is archived now
        before, after = (
            {place: held for place, held in some.items() if not place.startswith("redis")} for some in (before, after)
        )
    assert after == before
    assert conflict_between(memory, older, newer) == pending


def test_a_decision_of_a_rule_that_is_taken_back_leaves_both_as_they_were(memory: biem.Memory, stack: Servers) -> None:
    # Given a memory that a newer one replaced because a rule was sure
    older = memory.remember("I live in Beijing", speaker="Ann")
    assert memory.flush()
    alone = _in_postgres(stack.postgres_dsn, (older,), "")["postgres.memories"]
    newer = memory.remember("I moved from Beijing to Shanghai", speaker="Ann")
    assert memory.flush()
    decided = conflict_between(memory, older, newer)
    assert (decided.status, decided.decided_by, decided.resolution) == ("resolved", "rule", "keep_new")
    assert decided.explanation.endswith(".")
    assert memory.get(older).superseded_by == newer

    # When it is taken back / Then the older is, to the byte, what it was before the newer was given
    undone = memory.undo(decided.id)
    assert memory.flush()
    assert _in_postgres(stack.postgres_dsn, (older,), newer)["postgres.memories"] == alone
    assert _in_postgres(stack.postgres_dsn, (older,), "")["postgres.supersessions"] == []

    # And deciding and taking back once more changes nothing at all
    before = stored(stack, memory, older, newer)
    memory.resolve(decided.id, "keep_new")
    assert memory.undo(decided.id) == undone
    assert (undone.status, undone.resolution, undone.decided_by) == ("pending", None, None)
    assert memory.flush()
    assert stored(stack, memory, older, newer) == before
