"""A memory of any size within minutes: rows by SQL with vectors and index, as if all had long been encoded."""

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg

import biem
from benchmarks import _report
from benchmarks._embedders import SyntheticEmbedder
from benchmarks._scale_rows import fill
from biem.adapters.milvus.index import MilvusIndex
from biem.adapters.postgres.migrations import migrate
from biem.bootstrap import Servers, servers
from biem.bootstrap.stores import milvus_index
from biem.config import Settings, load_settings
from biem.domain.scope import Scope
from biem.ports import Embedder, Entry

_UNSET = {"postgres_dsn": None, "postgres_host": None, "redis_url": None, "milvus_uri": None, "milvus_host": None}
_BATCH = 1_000
_ANSWER_S = 60.0
"""A busy machine may take a while to index a thousand rows, which is not measured."""
_LIVE = 0.8
"""Of the rows that `_scale_rows` makes; the others are archived, so they are in no index and not counted here."""
_PAGE = """
SELECT id::text, text, lexemes, embed_sha, kind, speaker, conversation, at FROM memories
WHERE ns = %s AND status = 'active' AND write_seq > %s ORDER BY write_seq LIMIT %s
"""


@dataclass(frozen=True, slots=True)
class Settled:
    """A memory with the parts beneath it: the adapter of its index, a bare connection, and where its servers are."""

    memory: biem.Memory
    index: MilvusIndex
    postgres: psycopg.Connection[tuple[Any, ...]]
    where: Servers


@contextmanager
def settled(
    home: Path, scope: Scope, size: int, embedder: Embedder, settings: Settings | None = None
) -> Iterator[Settled]:
    """`size` live memories of one scope, on separate servers in `home`. `settings`: others than the usual ones.

    A home that was filled before is taken as it is. Texts, words and dates are made; vectors are those of the synthetic
    embedder of as many dimensions, so with any other `embedder` questions cost the same, but lead anywhere.
    """
    with ExitStack() as stack:
        settings = (settings or load_settings()).model_copy(update={"home": home, **_UNSET})
        where = stack.enter_context(servers(settings))
        migrate(where.postgres_dsn)
        patient = settings.model_copy(update={"recall": replace(settings.recall, search_timeout_s=_ANSWER_S)})
        index = stack.enter_context(closing(milvus_index(patient, where, embedder.info)))
        index.open()
        connection = stack.enter_context(psycopg.connect(where.postgres_dsn, autocommit=True))
        if connection.execute("SELECT FROM memories LIMIT 1").fetchone() is None:
            now, info = datetime.now(UTC), embedder.info
            fill(where.postgres_dsn, scope, round(size / _LIVE), info.id, now, info.dim)
            _index(connection, index, scope, size, embedder)
            connection.execute("VACUUM (ANALYZE)")
        elif index.count() < size:
            raise SystemExit(f"{home} was left half filled; remove it")
        memory = stack.enter_context(biem.connect(settings, scope=scope, embedder=embedder))
        yield Settled(memory, index, connection, where)


def _index(
    connection: psycopg.Connection[tuple[Any, ...]], index: MilvusIndex, scope: Scope, size: int, embedder: Embedder
) -> None:
    made, model = SyntheticEmbedder(embedder.info.dim), embedder.info.id
    connection.execute("DELETE FROM embeddings WHERE model = %s", (model,))
    with _report.progress() as bar:
        task = bar.add_task("index", total=size)
        for start in range(0, size, _BATCH):
            # every fifth row is archived, so the place of a live one tells its number
            rows = connection.execute(_PAGE, (scope.ns, round(start / _LIVE), _BATCH)).fetchall()
            vectors = made.embed([row[1] for row in rows], "passage")
            with connection.cursor() as cursor, cursor.copy("COPY embeddings (model, sha256, vector) FROM STDIN") as to:
                for row, vector in zip(rows, vectors, strict=True):
                    to.write_row((model, row[3], vector.astype("<f4").tobytes()))
            index.insert(
                [
                    Entry(key, scope, words, vector, kind, speaker, conversation, (), at)
                    for (key, _, words, _, kind, speaker, conversation, at), vector in zip(rows, vectors, strict=True)
                ],
                again=False,
            )
            bar.advance(task, len(rows))
