"""What workers ask the outbox after every batch reads the rows it needs, however many wait (X32)."""

import json
from collections.abc import Iterator

import pytest

from biem.adapters.database import Database
from tests.contract.conftest import Admin, most_read

WAITING = 5_000
FEW = 500
"""Far more than a batch of ten, far less than all that wait."""


@pytest.fixture
def crowded(admin: Admin) -> Iterator[Admin]:
    """An outbox with many fresh jobs, which no other connection ever sees."""
    with admin.transaction(force_rollback=True):
        admin.execute(
            "INSERT INTO outbox (task, memory_id, ns, due_at)"
            f" SELECT 'encode', gen_random_uuid(), 'x', '2026-01-01' FROM generate_series(1, {WAITING})"
        )
        admin.execute("ANALYZE outbox")
        for setting in ("plan_cache_mode = force_generic_plan", "enable_seqscan = off", "jit = off"):
            admin.execute(f"SET LOCAL {setting}".encode())
        yield admin


@pytest.mark.req("X32", partly="claiming jobs")
@pytest.mark.parametrize(
    ("name", "types", "values"),
    [("claim_fresh", "(int, float)", "(10, 60)"), ("claim_retried", "(float)", "(60)")],
)
def test_claiming_reads_no_more_of_the_outbox_than_it_takes(
    name: str, types: str, values: str, crowded: Admin, pool: Database
) -> None:
    # Given the statement as workers prepare it, planned without knowing how many jobs it takes
    places = {"limit": "$1", "lease_s": "$2"} if name == "claim_fresh" else {"lease_s": "$1"}
    crowded.execute(f"PREPARE {name} {types} AS {pool.sql[name] % places}".encode())

    # When a batch is taken / Then no step reads what others wait for
    row = crowded.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE {name} {values}".encode()).fetchone()
    crowded.execute(f"DEALLOCATE {name}".encode())
    assert row is not None
    plan = row[0] if isinstance(row[0], list) else json.loads(row[0])
    assert most_read(plan[0]["Plan"]) < FEW
