"""Notes that are to be indexed."""

from collections.abc import Mapping, Sequence

import numpy as np

from biem.adapters.postgres.database import ALL_SCOPES
from biem.adapters.postgres.node_rows import FIRST_ID, Store
from biem.adapters.postgres.notes.rows import lease_row, short_reason
from biem.domain.scope import Scope
from biem.ports import Vector
from biem.ports.notes.records import NoteLease, PendingChunk, PendingTag


class PostgresNoteIndexing(Store):
    """Leases notes, and records what is indexed."""

    def claim(self, limit: int, lease_s: float, *, retried: bool) -> list[NoteLease]:
        name = "note_claim_retried" if retried else "note_claim_fresh"
        rows = self._database.fetch(ALL_SCOPES, name, {"limit": limit, "lease_s": lease_s})
        return [NoteLease(row.note_id, row.claims, row.attempts) for row in rows]

    def pending(self, leases: Sequence[NoteLease]) -> tuple[list[PendingChunk], list[PendingTag]]:
        row = {"notes": [lease.note_id for lease in leases], "model": self._model}
        chunks = self._database.fetch(ALL_SCOPES, "note_pending_chunks", row) if leases else []
        tags = self._database.fetch(ALL_SCOPES, "note_pending_tags", row)
        return (
            [PendingChunk(**{**each._asdict(), "headings": tuple(each.headings)}) for each in chunks],
            [PendingTag(**each._asdict()) for each in tags],
        )

    def renew(self, leases: Sequence[NoteLease], lease_s: float) -> None:
        self._database.execute(ALL_SCOPES, "note_renew", {**lease_row(leases), "lease_s": lease_s})

    def save_vectors(self, vectors: Mapping[bytes, Vector]) -> None:
        packed = [vector.astype("<f4").tobytes() for vector in vectors.values()]
        row = {"model": self._model, "keys": list(vectors), "vectors": packed}
        self._database.execute(ALL_SCOPES, "note_save_vectors", row)

    def load_vectors(self, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        rows = self._database.fetch(ALL_SCOPES, "load_vectors", (self._model, list(keys)), binary=True)
        return {row.sha256: np.frombuffer(row.vector, dtype="<f4") for row in rows if len(row.vector) % 4 == 0}

    def complete(self, chunks: Sequence[str], tags: Sequence[int]) -> list[str]:
        def attempt() -> list[str]:
            with self._database.connection() as connection, connection.transaction():
                connection.execute(self._sql["see_scopes"], (ALL_SCOPES,))
                marks = {"model": self._model, "ids": list(chunks)}
                done = connection.execute(self._sql["note_chunks_indexed"], marks).fetchall()
                if tags:
                    connection.execute(self._sql["note_tags_indexed"], {"model": self._model, "ids": list(tags)})
            there = {row.id for row in done}
            return [key for key in chunks if key not in there]

        return self._database.retrying(attempt)

    def finish(self, leases: Sequence[NoteLease]) -> None:
        self._database.execute(ALL_SCOPES, "note_finish", {**lease_row(leases), "model": self._model})

    def release(self, leases: Sequence[NoteLease], delay_s: float, reason: str, *, refund: bool) -> None:
        row = {**lease_row(leases), "delay_s": delay_s, "reason": short_reason(reason), "refund": int(refund)}
        self._database.execute(ALL_SCOPES, "note_release", row)

    def fail(self, leases: Sequence[NoteLease], reason: str) -> None:
        self._database.execute(ALL_SCOPES, "note_fail", {**lease_row(leases), "reason": short_reason(reason)})

    def backlog(self, scopes: Sequence[Scope] | None = None) -> int:
        names = None if scopes is None else [scope.ns for scope in scopes]
        seen = ALL_SCOPES if names is None else ",".join(names)
        return int(self._database.fetch(seen, "note_backlog", {"scopes": names})[0].notes)

    def withdraw(self, limit: int) -> int:
        return self._database.execute(ALL_SCOPES, "note_withdraw", {"model": self._model, "limit": limit})

    def forget_index(self) -> int:
        return self._database.execute(ALL_SCOPES, "note_forget_index", {})

    def unmoved(self, after: str, limit: int) -> list[PendingChunk]:
        row = {"model": self._model, "after": after or FIRST_ID, "limit": limit}
        rows = self._database.fetch(ALL_SCOPES, "note_unmoved_chunks", row)
        return [PendingChunk(**{**each._asdict(), "headings": tuple(each.headings)}) for each in rows]

    def unmoved_tags(self, limit: int) -> list[PendingTag]:
        rows = self._database.fetch(ALL_SCOPES, "note_unmoved_tags", {"model": self._model, "limit": limit})
        return [PendingTag(**each._asdict()) for each in rows]

    def indexed(self, after: str, limit: int) -> list[str]:
        row = {"model": self._model, "after": after or FIRST_ID, "limit": limit}
        return [each.id for each in self._database.fetch(ALL_SCOPES, "note_indexed_page", row)]

    def existing(self, ids: Sequence[str]) -> set[str]:
        rows = self._database.fetch(ALL_SCOPES, "note_existing", {"ids": list(ids)}) if ids else []
        return {row.id for row in rows}

    def index_again(self, ids: Sequence[str]) -> int:
        return self._database.execute(ALL_SCOPES, "note_index_again", {"ids": list(ids)}) if ids else 0

    def overdue(self, seconds: float) -> int:
        return int(self._database.fetch(ALL_SCOPES, "note_overdue", {"seconds": seconds})[0].notes)

    def failed(self, limit: int) -> list[str]:
        return [row.path for row in self._database.fetch(ALL_SCOPES, "note_failed", {"limit": limit})]
