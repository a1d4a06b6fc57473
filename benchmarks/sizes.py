"""How many bytes a memory takes in each store: the numbers that docs/sizing.md calculates with.

Synthetic memories are written and indexed through the public API, links and all; then each store is asked itself, or
its files are measured. PostgreSQL is vacuumed before, as it would be after a while.

Every memory is formed (`--admission always`): texts of drawn words would tell the gate hardly anything, and what it
refuses takes less, a decision instead of links.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psycopg
import redis

import biem
from benchmarks import _report
from benchmarks._embedders import SyntheticEmbedder
from benchmarks._synthetic import Texts
from biem.bootstrap import servers
from biem.config import Settings
from biem.domain.policies.aim import AimPolicy
from biem.errors import BiemError

_FLUSH_S = 1_800.0
_COLUMNS = ("store", "what", "bytes", "bytes_per_memory")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line: 0, else biem's exit codes."""
    parser = argparse.ArgumentParser("python -m benchmarks.sizes", description=__doc__)
    parser.add_argument("--size", type=int, default=20_000, metavar="N", help="memories")
    parser.add_argument("--scopes", type=int, default=4, metavar="N", help="scopes they are spread over")
    parser.add_argument("--dim", type=int, default=384, metavar="N", help="dimensions of a vector")
    parser.add_argument("--admission", choices=("always", "gate"), default="always", help="who decides what is formed")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the rows there, too")
    options = parser.parse_args(arguments)
    try:
        with tempfile.TemporaryDirectory(prefix="biem-sizes-") as folder:
            rows = _measure(Path(folder) / "home", options)
    except BiemError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    _report.print_table(f"Bytes of {options.size:,} memories in {options.scopes} scopes", _COLUMNS, rows)
    if options.json:
        line = _report.command("benchmarks.sizes", sys.argv[1:] if arguments is None else arguments)
        _report.write_json(options.json, line, rows)
    return 0


def _measure(home: Path, options: argparse.Namespace) -> list[dict[str, Any]]:
    settings = Settings(home=home, aim=AimPolicy(admission=options.admission))
    with servers(settings) as where, biem.connect(settings, embedder=SyntheticEmbedder(options.dim)) as memory:
        texts = Texts()
        for number in range(options.scopes):
            mine = memory.scope(user=f"user-{number}")
            mine.remember_many(texts.items(options.size // options.scopes))
        deadline = time.monotonic() + _FLUSH_S
        for number in range(options.scopes):
            if not memory.scope(user=f"user-{number}").flush(deadline - time.monotonic()):
                raise biem.StoreUnavailable(f"not indexed within {_FLUSH_S:.0f} s")
        rows = [*_postgres(where.postgres_dsn), *_redis(where.redis_url)]
    # Milvus is measured when it has closed its file.
    rows.append({"store": "milvus", "what": "files", "bytes": _files(home / "milvus")})
    written = options.size // options.scopes * options.scopes
    return [row | {"bytes_per_memory": round(row["bytes"] / written, 1)} for row in rows]


def _postgres(dsn: str) -> list[dict[str, Any]]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("VACUUM (FULL, ANALYZE)")
        found = connection.execute(
            "SELECT relname, pg_table_size(oid), pg_indexes_size(oid) FROM pg_class"
            " WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND reltuples > 0"
            " ORDER BY pg_total_relation_size(oid) DESC"
        ).fetchall()
        chars = connection.execute("SELECT sum(octet_length(text)) FROM memories").fetchone()
    rows = [{"store": "input", "what": "UTF-8 text", "bytes": int(chars[0]) if chars else 0}]
    for name, table, indexes in found:
        rows.append({"store": "postgres", "what": f"{name}", "bytes": int(table)})
        rows.append({"store": "postgres", "what": f"{name}, indexes", "bytes": int(indexes)})
    rows.append({"store": "postgres", "what": "all", "bytes": sum(int(row[1]) + int(row[2]) for row in found)})
    return rows


def _redis(url: str) -> list[dict[str, Any]]:
    with redis.Redis.from_url(url) as client:
        keys = list(client.scan_iter())
        used = sum(int(client.memory_usage(key, samples=0) or 0) for key in keys)
    return [{"store": "redis", "what": f"{len(keys)} keys", "bytes": used}]


def _files(folder: Path) -> int:
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


if __name__ == "__main__":
    sys.exit(main())
