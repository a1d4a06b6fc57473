"""Connections: cut, idle, absent, closed; the statistics, on a real PostgreSQL."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from biem.adapters.postgres.records import PostgresRecords
from biem.domain.node import new_id
from biem.domain.scope import Scope
from biem.errors import ConfigError, StoreUnavailable
from tests.contract.conftest import (
    ANY,
    Admin,
    build_records,
    claim_all,
    encoded,
)
from tests.contract.postgres.records.rows import candidates, remember, sequence
from tests.support.fakes import START


class TestOperation:
    @pytest.mark.long
    def test_acknowledged_memories_survive_connections_that_are_cut_all_the_time(
        self, another: Callable[..., PostgresRecords], scope: Scope, admin: Admin
    ) -> None:
        # Given writers, and a user who cuts their connections again and again
        writer = another(pool_size=3, retry_s=20.0)
        over = threading.Event()
        written = threading.Semaphore(0)
        cuts = 0

        def cut() -> None:
            nonlocal cuts
            while not over.is_set():
                if not all(written.acquire(timeout=1.0) for _ in range(5)):  # cut what gets on, however slow it is
                    continue
                row = admin.execute(
                    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND application_name = 'biem'"
                    " AND query <> '' AND pid <> pg_backend_pid()"
                ).fetchone()
                cuts += row[0] if row else 0

        cutter = threading.Thread(target=cut)

        # When they write meanwhile
        def work(number: int) -> list[str]:
            ids = []
            for turn in range(60):
                ids.append(remember(writer, scope, f"{number}-{turn}", ref=f"{number}-{turn}"))
                written.release()
            return ids

        cutter.start()
        try:
            with ThreadPoolExecutor(3) as threads:
                ids = [memory_id for found in threads.map(work, range(3)) for memory_id in found]
        finally:
            over.set()
            cutter.join()

        # Then each is there exactly once, although connections were lost
        assert cuts > 0
        assert len(set(ids)) == 180
        assert sequence(admin, scope) == list(range(1, 181))
        assert len(candidates(writer, scope, ids=tuple(ids)).nodes) == 180

    @pytest.mark.parametrize("what", ["get", "claim", "complete", "erase", "stats", "text_search", "touch"])
    def test_a_connection_lost_while_idle_costs_no_call(
        self, another: Callable[..., PostgresRecords], jobs: PostgresRecords, scope: Scope, admin: Admin, what: str
    ) -> None:
        # Given an adapter with an open connection and a claimed job
        mine = another(pool_size=2)
        memory_id = remember(mine, scope, "idle")
        results = encoded(claim_all(mine)) if what != "claim" else []

        def touched() -> bool:
            mine.touch(scope, [memory_id], START)
            return True

        calls: dict[str, Callable[[], object]] = {
            "get": lambda: mine.get(scope, memory_id),
            "claim": lambda: claim_all(mine),
            "complete": lambda: not mine.complete(results).erased,
            "erase": lambda: mine.erase(scope, memory_id, 60.0).ids,
            "stats": lambda: mine.stats(scope),
            "text_search": lambda: mine.text_search([scope], ["idle"], 1, ANY),
            "touch": touched,
        }

        # When the server closes all connections and the call comes next
        admin.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND application_name = 'biem'"
        )

        # Then it answers as if nothing had happened
        assert calls[what]()

    def test_a_server_that_is_not_there_is_named_with_its_setting(self, stack: object) -> None:
        # Given an address where no one listens / When it is opened / Then the message says what to check
        with pytest.raises(StoreUnavailable, match="BIEM_POSTGRES_DSN") as caught:
            build_records("postgresql://u:hunter2@127.0.0.1:1/none", retry_s=0.0)
        assert "hunter2" not in str(caught.value)

    @pytest.mark.req("B59", partly="a broken DSN does not show its password")
    def test_a_malformed_dsn_is_a_setting_to_correct_and_keeps_its_password_to_itself(self) -> None:
        # Given a DSN with a slip of the pen / When it is opened
        with pytest.raises(ConfigError, match="BIEM_POSTGRES_DSN") as caught:
            build_records("postgresql//u:hunter2@127.0.0.1/none", retry_s=0.0)

        # Then the setting is named, its value is not
        assert "hunter2" not in str(caught.value)

    def test_a_closed_adapter_closes_again_and_answers_no_more(self, database: str, scope: Scope) -> None:
        # Given a closed adapter
        records = build_records(database)
        records.ping()
        records.close()

        # When it is closed again and asked / Then it says that it cannot
        records.close()
        with pytest.raises(StoreUnavailable):
            records.ping()
        with pytest.raises(StoreUnavailable):
            records.get(scope, new_id())

    def test_statistics_count_by_status_for_one_scope_and_for_all(
        self, jobs: PostgresRecords, scope: Scope, other: Scope, admin: Admin
    ) -> None:
        # Given memories of every status in one scope and one in another
        done, dead, archived = (remember(jobs, scope, text) for text in ("done", "dead", "archived"))
        claimed = {job.memory_id: job for job in claim_all(jobs)}
        jobs.complete(encoded([claimed[done], claimed[archived]]))
        jobs.bury([claimed[dead]], "dead")
        admin.execute("UPDATE memories SET status = 'archived' WHERE id = %s", (archived,))
        remember(jobs, other, "theirs")

        # When they are counted
        mine, everything = jobs.stats(scope), jobs.stats(None)

        # Then the scope's are the scope's, and all are all
        assert {name: mine[name] for name in ("memories", "active", "pending", "archived", "dead_letters")} == {
            "memories": 3,
            "active": 1,
            "pending": 1,
            "archived": 1,
            "dead_letters": 1,
        }
        assert everything["memories"] >= 4
        assert everything["scopes"] >= 2
