"""What PostgreSQL and Redis wrote: tuples by table, and write commands."""

from collections import Counter
from typing import Any

import psycopg
import redis

from biem.bootstrap import Servers

_COUNT = """
CREATE SCHEMA ageing;
GRANT USAGE ON SCHEMA ageing TO biem_service;
CREATE FUNCTION ageing.count() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
    $$ BEGIN PERFORM nextval(format('ageing.%I', TG_TABLE_NAME)); RETURN NULL; END $$;
DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT relname FROM pg_stat_user_tables WHERE schemaname <> 'ageing' LOOP
        EXECUTE format('CREATE SEQUENCE ageing.%I', name);
        EXECUTE format('CREATE TRIGGER ageing AFTER INSERT OR UPDATE OR DELETE ON %I
                        FOR EACH ROW EXECUTE FUNCTION ageing.count()', name);
    END LOOP;
END $$;
"""


class Meter:
    """Counts of the rows written so far."""

    def __init__(self, where: Servers) -> None:
        self._postgres = psycopg.connect(where.postgres_dsn, autocommit=True)
        self._redis: Any = redis.Redis.from_url(where.redis_url)
        flags = {name.lower(): command["flags"] for name, command in self._redis.command().items()}
        self._writing = {name for name, given in flags.items() if "write" in given}

    def begin(self) -> None:
        """Count tuples from here on."""
        self._postgres.execute(_COUNT)

    def tuples(self) -> Counter[str]:
        """Written since `begin`, by table."""
        rows = self._postgres.execute(
            "SELECT sequencename, last_value FROM pg_sequences WHERE schemaname = 'ageing' AND last_value IS NOT NULL"
        )
        return Counter({name: int(count) for name, count in rows})

    def keys(self) -> int:
        """Write commands that Redis ever carried out, those of scripts among them."""
        stats: dict[str, dict[str, int]] = self._redis.info("commandstats")
        return sum(
            stat["calls"] for name, stat in stats.items() if name.removeprefix("cmdstat_").lower() in self._writing
        )

    def all_tuples(self) -> int:
        """What PostgreSQL's statistics say was ever written, once all sessions of biem have ended."""
        others = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'biem'"
        while self._postgres.execute(others).fetchone() != (0,):
            self._postgres.execute("SELECT pg_sleep(0.1)")
        self._postgres.execute("SELECT pg_stat_clear_snapshot()")
        row = self._postgres.execute(
            "SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_user_tables"
        ).fetchone()
        return int(row[0]) if row else 0

    def close(self) -> None:
        """Let go of the connections."""
        self._postgres.close()
        self._redis.close()
