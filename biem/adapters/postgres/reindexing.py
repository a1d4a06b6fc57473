"""Moves to another embedder, and new analyses of all texts, in PostgreSQL."""

from collections.abc import Mapping, Sequence

import psycopg
from psycopg.types.json import Jsonb

from biem.adapters.postgres.database import ALL_SCOPES, named_row
from biem.adapters.postgres.node_rows import FIRST_ID, Store, analysis_json, scope_of, vector_of
from biem.adapters.postgres.sql import queries
from biem.domain.node import Node
from biem.domain.scope import Scope
from biem.ports import EmbedderInfo, Vector
from biem.ports.reindexing import Described, EmbedderChoice, Unmoved


class PostgresEmbedders(Store):
    """The port `EmbedderRegistry`."""

    def current(self) -> EmbedderChoice | None:
        rows = self._database.fetch("", "current_embedder", ())
        return EmbedderChoice(**rows[0]._asdict()) if rows else None

    def begin(self, choice: EmbedderChoice) -> str:
        parameters = {
            "model": choice.model,
            "dim": choice.dim,
            "collection": choice.collection,
            "settings": Jsonb(dict(choice.settings)),
        }
        return str(self._database.fetch(ALL_SCOPES, "begin_reembedding", parameters)[0].cursor)

    def advance(self, info: EmbedderInfo, cursor: str) -> None:
        self._database.execute(ALL_SCOPES, "advance_reembedding", {"model": info.id, "cursor": cursor})

    def switch(self, info: EmbedderInfo) -> None:
        def attempt() -> None:
            with self._database.connection() as connection, connection.transaction():
                connection.execute(self._sql["see_scopes"], (ALL_SCOPES,))
                connection.execute(self._sql["retire_embedder"], (info.id,))
                connection.execute(self._sql["choose_embedder"], (info.id,))

        self._database.retrying(attempt)

    def forget_others(self, model: str) -> None:
        self._database.execute(ALL_SCOPES, "forget_embedders", (model,))

    def unmoved(self, model: str, after: str, limit: int) -> list[Unmoved]:
        parameters = {"model": model, "after": after or FIRST_ID, "limit": limit}
        now = self._clock.now()
        return [
            Unmoved(self.node(row, scope_of(row), now), row.lexemes, vector_of(row.vector))
            for row in self._database.fetch(ALL_SCOPES, "unmoved_page", parameters)
        ]

    def stored_models(self) -> list[str]:
        return [row.model for row in self._database.fetch(ALL_SCOPES, "stored_models", ())]

    def stored_dimension(self, model: str) -> int | None:
        rows = self._database.fetch(ALL_SCOPES, "stored_dimension", (model,))
        return int(rows[0].dimension) if rows else None

    def drop_vectors(self, model: str, limit: int) -> int:
        return self._database.execute(ALL_SCOPES, "drop_vectors", {"model": model, "limit": limit})

    def unmoved_items(self, model: str, after: str, limit: int) -> list[tuple[str, str]]:
        parameters = {"model": model, "after": after or FIRST_ID, "limit": limit}
        return [(row.id, row.text) for row in self._database.fetch(ALL_SCOPES, "unmoved_items", parameters)]

    def move_items(self, model: str, vectors: Mapping[str, Vector]) -> None:
        packed = [vector.astype("<f4").tobytes() for vector in vectors.values()]
        self._database.execute(ALL_SCOPES, "move_items", {"model": model, "ids": list(vectors), "vectors": packed})

    def count_calls(self, calls: int, texts: int) -> int:
        row = {"model": self._model, "calls": calls, "texts": texts}
        return int(self._database.fetch("", "count_embedder_calls", row)[0].calls)

    def used_calls(self) -> tuple[int, float]:
        rows = self._database.fetch("", "embedder_calls", {"model": self._model})
        return (int(rows[0].calls), float(rows[0].a_day)) if rows else (0, 0.0)

    def call_back(self, scope: Scope, model: str, limit: int) -> int:
        return self._database.execute(scope.ns, "call_back", {"ns": scope.ns, "model": model, "limit": limit})


class PostgresAnalyses(Store):
    """The port `Analyses`."""

    def page(self, after: str, limit: int) -> list[Node]:
        rows = self._database.fetch(ALL_SCOPES, "described_page", {"after": after or FIRST_ID, "limit": limit})
        now = self._clock.now()
        return [self.node(row, scope_of(row), now) for row in rows]

    def describe(self, described: Sequence[Described]) -> int:
        learned = [analysis_json(one.memory_id, one.analysis) | {"lexemes": one.lexemes} for one in described]
        return self._database.execute(ALL_SCOPES, "describe", {"described": Jsonb(learned)})


def choice_of_record(dsn: str) -> EmbedderChoice | None:
    """The embedder that all memories were moved to; None without one, or while the database cannot be read."""
    try:
        with psycopg.connect(dsn, autocommit=True, connect_timeout=5, row_factory=named_row) as connection:
            connection.execute("SET ROLE biem_service")
            row = connection.execute(queries()["current_embedder"]).fetchone()
    except psycopg.Error:  # the next use of the server reports the error with its cause
        return None
    return EmbedderChoice(**row._asdict()) if row else None
