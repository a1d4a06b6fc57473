"""Commands for contradictions: conflicts, resolve, undo."""

from typing import Annotated

import typer

from biem.cli.arguments import Limit
from biem.cli.invocation import NO_WORKER, of
from biem.cli.output import SHOWN_CHARS, Output, shown_time, shown_value
from biem.domain.conflict import RESOLUTIONS, STATUSES, Conflict
from biem.domain.node import id_part
from biem.domain.text import one_line
from biem.errors import InvalidInput

ConflictId = Annotated[
    str, typer.Argument(metavar="ID", help="Id of the conflict, or the end of it, as lists show it.")
]
_ANY = "all"
_IGNORE = "ignore"


def conflicts(
    context: typer.Context,
    status: Annotated[str, typer.Option(help=f"One of {', '.join(STATUSES)}, {_ANY}.")] = "pending",
    limit: Limit = 100,
) -> None:
    """List pairs of memories that contradict, update or repeat each other, newest first."""
    invocation = of(context)
    out = invocation.out
    if status not in (*STATUSES, _ANY):
        raise InvalidInput(f"--status {status!r} is unknown; choose one of {', '.join(STATUSES)}, {_ANY}")
    invocation.changes |= NO_WORKER
    with invocation.memory() as memory:
        found = memory.conflicts(status=None if status == _ANY else status, limit=limit)
        waiting = memory.stats()["pending"]
    headers = ("id", "kind", "sure", "state", "older", "newer", "why")
    out.result(
        {"conflicts": found}, lambda: out.table(headers, [_conflict_row(out, each) for each in found], right=("sure",))
    )
    if not found:
        out.note("no conflicts")
    if waiting:
        out.note(f"indexing: {waiting:,} left; these were not compared with others yet")


def resolve(
    context: typer.Context,
    conflict_id: ConflictId,
    resolution: Annotated[
        str, typer.Argument(help=f"Which memory holds: {', '.join(RESOLUTIONS)}; {_IGNORE}: leave both.")
    ],
) -> None:
    """Resolve a conflict; undo reverts it."""
    invocation = of(context)
    id_part(conflict_id)
    if resolution not in (*RESOLUTIONS, _IGNORE):
        raise InvalidInput(f"resolution {resolution!r} is unknown; choose one of {', '.join(RESOLUTIONS)}, {_IGNORE}")
    invocation.changes |= NO_WORKER
    with invocation.memory() as memory:
        conflict = memory.resolve(memory.whole_id(conflict_id, of="conflict"), resolution)
    invocation.out.result(conflict, lambda: _show_conflict(invocation.out, conflict))


def undo(context: typer.Context, conflict_id: ConflictId) -> None:
    """Revert the resolution of a conflict: both memories are as before."""
    invocation = of(context)
    id_part(conflict_id)
    invocation.changes |= NO_WORKER
    with invocation.memory() as memory:
        conflict = memory.undo(memory.whole_id(conflict_id, of="conflict"))
    invocation.out.result(conflict, lambda: _show_conflict(invocation.out, conflict))


def _state(conflict: Conflict) -> str:
    decided = f" by {conflict.decided_by}" if conflict.decided_by else ""
    return f"{conflict.resolution or conflict.status}{decided}"


def _conflict_row(out: Output, conflict: Conflict) -> tuple[object, ...]:
    return (
        out.id(conflict.id),
        conflict.kind,
        shown_value(conflict.confidence),
        _state(conflict),
        one_line(conflict.older_text, SHOWN_CHARS),
        one_line(conflict.newer_text, SHOWN_CHARS),
        conflict.explanation,
    )


def _show_conflict(out: Output, conflict: Conflict) -> None:
    out.pairs(
        {
            "state": _state(conflict),
            "why": conflict.explanation,
            "older": f"{out.id(conflict.older_id)}  {one_line(conflict.older_text, SHOWN_CHARS)}",
            "newer": f"{out.id(conflict.newer_id)}  {one_line(conflict.newer_text, SHOWN_CHARS)}",
            **({"merged": out.id(conflict.merged_id)} if conflict.merged_id else {}),
            **({"decided": shown_time(conflict.resolved_at)} if conflict.resolved_at else {}),
        }
    )
