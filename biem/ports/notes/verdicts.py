"""What notes say of facts: which facts are to be compared, and the verdicts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from biem.domain.notes.library import (
    NoteVerdict,
    NoteVerdictKind,
    NoteVerdictStatus,
)
from biem.domain.scope import Scope
from biem.ports.embedding import Vector


@dataclass(frozen=True, slots=True)
class DueFact:
    """A fact that is to be compared with the notes: `newest` is the last chunk that its scope may read now."""

    id: str
    text: str
    sha: bytes
    """Of the text that is embedded."""
    speaker: str
    at: datetime
    vector: Vector
    newest: str
    after: str
    """The last chunk that it was compared with in this wording; empty if it never was."""


@dataclass(frozen=True, slots=True)
class FoundVerdict:
    """A sentence of a chunk confirms or contradicts a fact."""

    memory_id: str
    chunk_id: str
    kind: NoteVerdictKind
    confidence: float
    sentence: str


class NoteVerdicts(Protocol):
    """What notes say of facts. Rows vanish with their note, chunk or memory."""

    def due_facts(self, scope: Scope, limit: int) -> list[DueFact]:
        """Valid facts of the scope that were not compared with the newest chunk that it may read."""

    def compared(self, scope: Scope, facts: Sequence[DueFact], found: Sequence[FoundVerdict]) -> None:
        """Record the comparison of facts. Undecided verdicts on those that were compared anew are replaced."""

    def verdicts(
        self,
        scopes: Sequence[Scope],
        *,
        status: NoteVerdictStatus | None = "open",
        kind: NoteVerdictKind | None = None,
        memories: Sequence[str] | None = None,
        verdict: str | None = None,
        limit: int = 100,
    ) -> list[NoteVerdict]:
        """Verdicts on facts of these scopes that are not archived, surest first; None: any."""

    def decide(self, scope: Scope, verdict: str, status: NoteVerdictStatus) -> bool:
        """Record who is believed; False where there is no such verdict."""

    def contradicted(self, scopes: Sequence[Scope]) -> bool:
        """Whether an undecided verdict contradicts a fact of these scopes."""
