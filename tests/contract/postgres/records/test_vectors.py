"""What `Records` promises about the vectors that it keeps, on a real PostgreSQL."""

import numpy as np
import pytest

from biem.adapters.postgres.migrations import migrate
from biem.adapters.postgres.records import PostgresRecords
from biem.domain.node import new_id
from biem.domain.scope import Scope
from biem.domain.text import sha256
from tests.contract.conftest import (
    MODEL,
    build_records,
    unit,
    write,
)
from tests.contract.postgres.records.rows import activate, remember


class TestVectors:
    @pytest.mark.req("G57", partly="persistent")
    def test_vectors_round_trip_bit_for_bit_per_model(self, records: PostgresRecords, scope: Scope) -> None:
        # Given memories, and vectors of them with awkward numbers
        rng = np.random.default_rng(7)
        raw = rng.standard_normal((3, 384)).astype(np.float32)
        raw[0, :3] = (1e-38, -0.0, np.nextafter(np.float32(1), np.float32(2)))
        texts = [new_id() for _ in raw]
        records.remember(scope, [write(text) for text in texts])
        vectors = {sha256(text): row for text, row in zip(texts, raw, strict=True)}

        # When they are saved and loaded
        records.save_vectors(MODEL, vectors)
        loaded = records.load_vectors(MODEL, [*vectors, sha256("never seen")])

        # Then every bit is the same, and another model has none of them
        assert {key: row.tobytes() for key, row in loaded.items()} == {
            key: row.tobytes() for key, row in vectors.items()
        }
        assert all(row.dtype == np.float32 for row in loaded.values())
        assert records.load_vectors("another-model", list(vectors)) == {}

    def test_an_existing_vector_stays(self, records: PostgresRecords, scope: Scope) -> None:
        # Given a memory with a cached vector
        text = new_id()
        remember(records, scope, text)
        key = sha256(text)
        records.save_vectors(MODEL, {key: unit(1, 0)})

        # When another is saved for the same text
        records.save_vectors(MODEL, {key: unit(0, 1)})

        # Then the first is kept
        assert records.load_vectors(MODEL, [key])[key].tolist() == [1.0, 0.0]

    def test_no_keys_give_no_vectors(self, records: PostgresRecords) -> None:
        # Given nothing to ask or to keep / When asked and saved / Then nothing happens
        assert records.load_vectors(MODEL, []) == {}
        records.save_vectors(MODEL, {})

    @pytest.mark.long
    def test_active_memories_are_paged_completely_and_exactly_once(
        self, empty_database: str, scope: Scope, other: Scope
    ) -> None:
        # Given more active memories than a page holds, in two scopes, some with vectors, and a pending one
        migrate(empty_database)
        records = build_records(empty_database)
        try:
            ids = {
                result.id
                for owner in (scope, other)
                for result in records.remember(owner, [write(f"memory {n}") for n in range(550)])
            }
            records.save_vectors(MODEL, {sha256("memory 7"): unit(3, 4)})
            activate(records)
            remember(records, scope, "still pending")

            # When all are read
            pages = list(records.active(MODEL))
        finally:
            records.close()

        # Then each is there once, with its scope, words and vector
        rows = [row for page in pages for row in page]
        assert len(pages) > 1
        assert sorted(node.id for node, _, _ in rows) == sorted(ids)
        assert {node.scope for node, _, _ in rows} == {scope, other}
        assert all(lexemes == node.text for node, lexemes, _ in rows)
        with_vector = [(node.text, vector.tolist()) for node, _, vector in rows if vector is not None]
        assert with_vector == [("memory 7", pytest.approx([0.6, 0.8]))] * 2
