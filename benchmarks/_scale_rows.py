"""Fills a database with made-up memories, as if they had been written over a year: by SQL, as the owner.

Everything that a background job looks at is there and settled: nothing is due, so that a run of the jobs meets only
the new rows. Vectors are left out, except those of the canvas.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

import numpy as np
import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from biem.domain.scope import Scope

HOT = 100
"""Memories of the canvas, which have vectors."""
_TABLES = ("memories", "evidence", "crystal_links", "concepts", "concept_terms", "concept_items", "link_work")

_MEMORIES = """
INSERT INTO memories (id, ns, text, evidence_sha, embed_sha, kind, layer, status, model, importance, speaker,
    conversation, at, created_at, language, lexemes, write_seq, initial_energy, energy_anchor, anchor_at, access_count,
    accessed_at, tier, due_at, valid_from, archived_at, archive_reason)
SELECT uid, %(ns)s, text, sha256(text::bytea), sha256(text::bytea), kind,
    CASE WHEN n %% 20 = 0 THEN 'long_term' ELSE 'short_term' END,
    CASE WHEN archived THEN 'archived' ELSE 'active' END, %(model)s, 2 + n %% 3, 'Ana', 'talk-' || n / 40, said, said,
    'en', lexemes, n, 0.4 + 0.2 * (n %% 3), 0.4 + 0.2 * (n %% 3), said, n %% 3, NULL,
    CASE WHEN archived THEN 'L3' WHEN n > %(size)s - %(hot)s THEN 'L1' ELSE 'L2' END,
    CASE WHEN archived THEN NULL ELSE %(now)s + make_interval(days => 1 + n %% 300) END, said,
    CASE WHEN archived THEN %(now)s END, CASE WHEN archived THEN 'expired' ELSE '' END
FROM (
    SELECT n, (lpad(to_hex(1700000000000 + n), 12, '0') || '7000' || '8000' || lpad(to_hex(n), 12, '0'))::uuid AS uid,
        words || ' n' || n AS text, words || ' n' || n AS lexemes, n %% 5 = 0 AND n <= %(size)s - %(hot)s AS archived,
        CASE WHEN n %% 4 = 0 THEN 'knowledge' ELSE 'event' END AS kind,
        %(now)s - make_interval(secs => (%(size)s - n) * 31e6 / %(size)s) AS said
    FROM (
        SELECT n, 'ana told ben about topic' || n %% 997 || ' and thing' || n::bigint * 7919 %% 9973 || ' near place'
            || n::bigint * 104729 %% 4999 || ' with colour' || n %% 31 AS words
        FROM generate_series(1, %(size)s) AS n
    ) said
) row
"""
_LINKS = """
INSERT INTO crystal_links (ns, source_id, target_id, link_type, weight, strength, created_at, touched_at, version)
SELECT %(ns)s, a.id::text, b.id::text, CASE WHEN a.write_seq %% 4 = 0 THEN 'semantic' ELSE 'temporal' END, 0.8, 8,
    %(now)s, %(now)s, (SELECT graph_version FROM scopes WHERE ns = %(ns)s)
FROM memories a JOIN memories b ON b.ns = a.ns AND b.write_seq = a.write_seq + 1
WHERE a.ns = %(ns)s AND a.write_seq %% 2 = 0 AND a.status = 'active' AND b.status = 'active'
"""
_CONCEPTS = """
WITH named AS (
    SELECT md5(%(ns)s || n)::uuid AS id, 'subject' || n AS name, n FROM generate_series(1, %(size)s / 50) AS n
), concept AS (
    INSERT INTO concepts (id, ns, name, created_at) SELECT id, %(ns)s, name, %(now)s FROM named
), term AS (
    INSERT INTO concept_terms (ns, term, concept_id) SELECT %(ns)s, name, id FROM named
), item AS (
    INSERT INTO concept_items (id, ns, concept_id, text, strength, touched_at, fades_at, created_at)
    SELECT md5(id::text || k)::uuid, %(ns)s, id, 'said number' || k || ' of ' || name, 7, %(now)s,
        %(now)s + interval '7 days', %(now)s
    FROM named CROSS JOIN generate_series(1, 2) AS k
)
INSERT INTO crystal_links (ns, source_id, target_id, link_type, weight, strength, created_at, touched_at, version)
SELECT %(ns)s, least(a.id, b.id)::text, greatest(a.id, b.id)::text, 'cooccurrence', 1, 2, %(now)s, %(now)s,
    (SELECT graph_version FROM scopes WHERE ns = %(ns)s)
FROM named a JOIN named b ON b.n = a.n + 1
"""
_SETTLED = (
    "INSERT INTO evidence (ns, sha256, text) SELECT ns, evidence_sha, text FROM memories WHERE ns = %(ns)s",
    "INSERT INTO link_work (ns, name, done_at) SELECT %(ns)s, 'work ' || n, %(now)s"
    " FROM generate_series(1, %(size)s / 20) AS n",
    "INSERT INTO concept_progress (ns, seq, built) VALUES (%(ns)s, %(size)s, %(size)s / 40)",
    "UPDATE scopes SET write_seq = %(size)s, graph_pruned = graph_version WHERE ns = %(ns)s",
    "INSERT INTO conflicts (id, ns, kind, older_id, newer_id, confidence, rule, created_at)"
    " SELECT md5('conflict' || a.id)::uuid, a.ns, 'contradiction', a.id, b.id, 0.6, 'value', a.created_at"
    " FROM memories a JOIN memories b ON b.ns = a.ns AND b.write_seq = a.write_seq + 1"
    " WHERE a.ns = %(ns)s AND a.write_seq %% 1000 = 1 AND a.status = 'active' AND b.status = 'active'",
)


def create_database(dsn: str, name: str) -> str:
    """Make an empty database on the server of the given one; returns its DSN."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    return make_conninfo(dsn, dbname=name)


def fill(dsn: str, scope: Scope, size: int, model: str, now: datetime, dim: int) -> None:
    """Write `size` memories of one scope with their originals, links and concepts into a migrated, empty database."""
    values = {"ns": scope.ns, "size": size, "model": model, "now": now, "hot": HOT}
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("SET maintenance_work_mem = '256MB'")
        connection.execute("SET synchronous_commit = off")
        connection.execute(
            "INSERT INTO scopes (ns, tenant, usr, project) VALUES (%s, %s, %s, %s)",
            (scope.ns, scope.tenant, scope.user, scope.project),
        )
        with without_indexes(connection), connection.transaction():
            connection.execute(_MEMORIES, values)
        connection.execute("ANALYZE memories")
        with without_indexes(connection, "memories"), connection.transaction():
            for statement in (_LINKS, _CONCEPTS, *_SETTLED):
                connection.execute(statement, values)
            _save_vectors(connection, scope, size, model, dim)
        connection.execute("VACUUM (ANALYZE)")
        connection.execute("CHECKPOINT")


@contextmanager
def without_indexes(connection: psycopg.Connection, *but: str) -> Iterator[None]:
    """Make the indexes of the large tables after the rows: that is several times as fast. Constraints stay."""
    found = connection.execute(
        "SELECT i.indexname, i.indexdef FROM pg_indexes i WHERE i.tablename = ANY (%s) AND NOT EXISTS ("
        " SELECT FROM pg_constraint c WHERE c.conname = i.indexname)",
        ([name for name in _TABLES if name not in but],),
    ).fetchall()
    for name, _ in found:
        connection.execute(sql.SQL("DROP INDEX {}").format(sql.Identifier(name)))
    yield
    for _, definition in found:
        connection.execute(definition)


def _save_vectors(connection: psycopg.Connection, scope: Scope, size: int, model: str, dim: int) -> None:
    """The canvas holds vectors, so its memories need some."""
    hashes = connection.execute(
        "SELECT embed_sha FROM memories WHERE ns = %s AND write_seq > %s", (scope.ns, size - HOT)
    ).fetchall()
    source = np.random.default_rng(7)
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO embeddings (model, sha256, vector) VALUES (%s, %s, %s)",
            [(model, sha, source.standard_normal(dim).astype("<f4").tobytes()) for (sha,) in hashes],
        )
