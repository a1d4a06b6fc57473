"""Rows of conflicts as values, and the places that one batch looks at."""

from collections.abc import Sequence
from typing import Any

from biem.adapters.database import Row
from biem.domain.conflict import Conflict
from biem.ports.conflicts import Plan

_PLAN = 18  # column of conflict_records


def around_all(seqs: Sequence[int], around: int) -> list[int]:
    """The numbers up to `around` away from any of these; less far where these lie far apart and that were too many."""
    most = 2 * (2 * around + len(seqs))
    while True:
        near = {number for seq in seqs for number in range(max(1, seq - around), seq + around + 1)}
        if len(near) <= most:
            return sorted(near)
        around //= 2


def conflict_of(row: Row) -> Conflict:
    """A row of the view conflict_records."""
    older, newer, merged = str(row[3]), str(row[4]), row[13] and str(row[13])
    return Conflict(
        id=str(row[0]),
        kind=row[2],
        older_id=older,
        newer_id=newer,
        older_text=row[5],
        newer_text=row[6],
        confidence=row[7],
        rule=row[8],
        attribute=row[9],
        status=row[10],
        resolution=row[11],
        decided_by=row[12],
        merged_id=merged,
        created_at=row[14],
        resolved_at=row[15],
        moot=row[16],
        suspected=row[17],
        subject=row[19],
    )


def plan_of(row: Row) -> Plan | None:
    """What is under way for the conflict of such a row."""
    kept: dict[str, Any] | None = row[_PLAN]
    return Plan(**kept) if kept else None
