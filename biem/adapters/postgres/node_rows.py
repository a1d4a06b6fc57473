"""Rows of PostgreSQL as values of the core: what every adapter of Records shares."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np
from psycopg.types.json import Jsonb

from biem.adapters.postgres.database import Database, Row
from biem.domain.energy import energy_at, energy_key
from biem.domain.fields import Analysis, Fields
from biem.domain.node import Draft, Node
from biem.domain.policies import Policies
from biem.domain.scope import Scope
from biem.domain.text import sha256
from biem.domain.trust import LEVELS, rank
from biem.ports import Clock, Touched, Vector, Vectors

EXPIRED = "expired"
"""Why a memory was archived at its expiry."""
FIRST_ID = "00000000-0000-0000-0000-000000000000"
"""Before all ids."""


class Store:
    """A database, a clock, and whose collection this process fills: `model` is the embedder's id."""

    def __init__(
        self,
        database: Database,
        *,
        clock: Clock,
        decay_per_hour: float,
        model: str = "",
        policies: Policies | None = None,
    ) -> None:
        self._database = database
        self._sql = database.sql
        self._clock = clock
        self._decay = decay_per_hour
        self._model = model
        self._policies = policies or Policies()

    def node(self, row: Row, scope: Scope, now: datetime) -> Node:
        """A memory of `scope` from the columns of the block `node`; its energy is that at `now`.

        From its expiry on it counts as archived, also before the job came to it.
        """
        expired = row.status != "archived" and row.expires_at is not None and row.expires_at <= now
        return Node(
            id=row.id,
            scope=scope,
            text=row.text,
            kind=row.kind,
            status="archived" if expired else row.status,
            layer=row.layer,
            tags=tuple(row.tags),
            reason=row.reason,
            importance=row.importance,
            source=row.source,
            speaker=row.speaker,
            conversation=row.conversation,
            at=row.at,
            created_at=row.created_at,
            ref=row.ref,
            metadata=row.metadata,
            language=row.language,
            fields=fields_of(row.fields),
            entities=tuple(row.entities),
            sentiment=row.sentiment,
            write_seq=row.write_seq,
            energy=energy_at(row.energy_anchor, row.anchor_at, now, self._decay),
            access_count=row.access_count,
            useful_count=row.useful_count,
            accessed_at=row.accessed_at,
            evidence_ptr=row.evidence_sha.hex(),
            tier="L3" if expired else row.tier,
            energy_key=energy_key(row.energy_anchor, row.anchor_at, self._decay),
            energy_since=row.anchor_at,
            valid_from=row.valid_from,
            valid_to=row.valid_to,
            superseded_by=row.superseded_by,
            archived_at=row.expires_at if expired else row.archived_at,
            archive_reason=EXPIRED if expired else row.archive_reason,
            initial_energy=row.initial_energy,
            revision=row.revision,
            revised_at=row.revised_at,
            expires_at=row.expires_at,
            on_expiry=row.on_expiry,
            origin=row.origin,
            trust=LEVELS[row.trust],
        )

    def touched(self, row: Row) -> Touched:
        """A memory after an access or feedback."""
        return Touched(
            id=row.id,
            ns=row.ns,
            energy_key=energy_key(row.energy_anchor, row.anchor_at, self._decay),
            accessed_at=row.touched_at,
            tier=row.tier,
            tier_before=row.tier_before,
        )


def values_of(draft: Draft) -> dict[str, Any]:
    """The columns of a memory that a write sets and a revision may change."""
    return {
        "text": draft.text,
        "evidence_sha": sha256(draft.text),
        "embed_sha": sha256(draft.indexed_text),
        "kind": draft.kind,
        "layer": draft.layer,
        "tags": list(draft.tags),
        "reason": draft.reason,
        "importance": draft.importance,
        "speaker": draft.speaker,
        "metadata": Jsonb(dict(draft.metadata)),
        "trust": rank(draft.trust),
        "expires_at": draft.expires_at,
        "on_expiry": draft.on_expiry,
    }


def scope_of(row: Row) -> Scope:
    """The scope that a row names."""
    return Scope(row.tenant, row.usr, row.project)


def fields_of(stored: Mapping[str, Sequence[str]] | None) -> Fields:
    """The fields of a memory, as an analysis wrote them; none before the first."""
    return Fields(**{name: tuple(values) for name, values in stored.items()}) if stored else Fields()


def vector_of(packed: bytes | None) -> Vector | None:
    """A vector as the table `embeddings` keeps it; None for none."""
    return None if packed is None else np.frombuffer(packed, dtype="<f4")


def parts_of(packed: bytes | None, whole: bytes | None) -> Vectors | None:
    """The vectors of the statements of a text, one a row, each with as many numbers as that of the whole; else None."""
    if packed is None or not whole or len(packed) % (len(whole) // 2):
        return None
    return np.frombuffer(packed, dtype="<f2").astype(np.float32).reshape(-1, len(whole) // 4)


def analysis_json(memory_id: str, analysis: Analysis) -> dict[str, Any]:
    """What an analysis writes into the row of a memory."""
    pairs = ((name, list(getattr(analysis.fields, name))) for name in ("numbers", "names", "definitions", "symbols"))
    return {
        "id": memory_id,
        "language": analysis.language,
        "fields": {name: values for name, values in pairs if values},
        "entities": list(analysis.entities),
        "sentiment": analysis.sentiment,
    }
