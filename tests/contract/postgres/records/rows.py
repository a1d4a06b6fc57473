"""Rows and reads that several tests of `Records` share."""

from collections.abc import Iterator
from typing import Any

from biem.adapters.postgres.records import PostgresRecords
from biem.domain.fields import Analysis
from biem.domain.node import new_id
from biem.domain.scope import Scope
from biem.domain.text import sha256
from biem.ports import Candidates, Filter, Job
from tests.contract.conftest import (
    ANY,
    LEARNED,
    Admin,
    claim_all,
    encoded,
    write,
)
from tests.support.fakes import START

HOSTILE = (
    "'); DROP TABLE memories; --",
    "it's",
    'say "no"',
    "back\\slash",
    "\\'",
    "a&b|!c:*<->",
    "%s %(ns)s",
    "{a,b}",
    "$1",
    "*",
    "爱",
)


def candidates(
    records: PostgresRecords,
    *scopes: Scope,
    ids: tuple[str, ...] = (),
    lexemes: tuple[str, ...] = (),
    where: Filter = ANY,
    pending_limit: int = 50,
    evidence: bool = False,
) -> Candidates:
    return records.candidates(scopes, ids, lexemes, where, pending_limit=pending_limit, evidence=evidence)


def remember(records: PostgresRecords, scope: Scope, text: str, **details: Any) -> str:
    return records.remember(scope, [write(text, **details)])[0].id


def activate(records: PostgresRecords, learned: Analysis = LEARNED) -> list[Job]:
    """Complete every job that is due."""
    jobs = claim_all(records)
    records.complete(encoded(jobs, learned))
    return jobs


def sequence(admin: Admin, scope: Scope) -> list[int]:
    rows = admin.execute("SELECT write_seq FROM memories WHERE ns = %s ORDER BY write_seq", (scope.ns,)).fetchall()
    [last] = admin.execute("SELECT write_seq FROM scopes WHERE ns = %s", (scope.ns,)).fetchall() or [(0,)]
    assert not rows or last == rows[-1]
    return [row[0] for row in rows]


def link(admin: Admin, scope: Scope, source: str, target: str, kind: str) -> None:
    admin.execute(
        "INSERT INTO crystal_links (ns, source_id, target_id, link_type) VALUES (%s, %s, %s, %s)",
        (scope.ns, source, target, kind),
    )


def fact(admin: Admin, scope: Scope, sources: list[str], content: str = "distilled") -> str:
    """A fact with the memory that it is."""
    fact_id = new_id()
    admin.execute(
        "INSERT INTO memories (id, ns, text, evidence_sha, embed_sha, kind, layer, importance, at, created_at, lexemes,"
        " write_seq, initial_energy, energy_anchor, anchor_at, valid_from)"
        " SELECT %(id)s, %(ns)s, %(text)s, %(sha)s, %(sha)s, 'knowledge', 'long_term', 3, %(at)s, %(at)s, %(text)s,"
        " -count(*) - 1, 0.6, 0.6, %(at)s, %(at)s FROM memories WHERE ns = %(ns)s",
        {"id": fact_id, "ns": scope.ns, "text": content, "sha": sha256(content), "at": START},
    )
    admin.execute(
        "INSERT INTO crystal_facts (id, ns, content, source_node_ids) VALUES (%s, %s, %s, %s)",
        (fact_id, scope.ns, content, sources),
    )
    return fact_id


def dump(admin: Admin) -> str:
    """All that the tables with people's words hold."""

    def rows() -> Iterator[object]:
        yield from admin.execute("SELECT m::text FROM memories m")
        yield from admin.execute("SELECT e.text FROM evidence e")
        yield from admin.execute("SELECT o::text FROM outbox o")
        yield from admin.execute("SELECT f::text FROM crystal_facts f")

    return "\n".join(map(str, rows()))
