"""A scrub leaves no deleted row in the files of PostgreSQL, also while other programs run."""

import threading

import psycopg

from biem.adapters.scrubbing import scrub_postgres
from biem.bootstrap import Servers
from tests.support.databases import fresh_database
from tests.support.fakes import eventually

_WAITS = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%backend_xmin%' AND pid <> pg_backend_pid()"


def test_it_waits_for_a_transaction_that_may_still_see_what_was_deleted(stack: Servers) -> None:
    with fresh_database(stack.postgres_dsn) as name:
        dsn = psycopg.conninfo.make_conninfo(stack.postgres_dsn, dbname=name)
        with psycopg.connect(dsn, autocommit=True) as writer, psycopg.connect(dsn) as reader:
            # Given a row that was deleted while a transaction of another program may still read it
            writer.execute("CREATE TABLE talk AS SELECT 'the secret zebra' AS said")
            reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            reader.execute("SELECT 1").fetchone()
            writer.execute("DELETE FROM talk")

            # When the database is scrubbed / Then that waits until the transaction ends
            left: list[str] = []
            scrub = threading.Thread(target=lambda: left.extend(scrub_postgres(dsn, log=False)))
            scrub.start()
            eventually(lambda: writer.execute(_WAITS).fetchone() == (1,))
            assert reader.execute("SELECT said FROM talk").fetchone() == ("the secret zebra",)
            reader.commit()
            scrub.join()

            # And no file of the table holds the row
            assert not [each for each in left if "transaction" in each]
            writer.execute("CHECKPOINT")
            found = writer.execute(
                "SELECT position('zebra'::bytea in pg_read_binary_file(pg_relation_filepath('talk')))"
            )
            assert found.fetchone() == (0,)
