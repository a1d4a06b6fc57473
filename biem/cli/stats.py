"""Commands that count: stats, scopes."""

from collections.abc import Mapping

import typer

from biem.cli.invocation import NO_WORKER, of
from biem.cli.output import shown_time
from biem.errors import EmbedderMismatch


def stats(context: typer.Context) -> None:
    """Show counts and stores of the scope."""
    invocation = of(context)
    invocation.changes |= NO_WORKER
    values: Mapping[str, int | str]
    try:
        with invocation.memory() as memory:
            values = memory.stats()
    except EmbedderMismatch as error:  # counts do not need the embedder
        from biem.bootstrap.admin import counted

        settings = invocation.settings()
        values = {**counted(settings, invocation.scope(settings)), "embedder": "does not fit", "trouble": str(error)}
        invocation.out.note(str(error))
    invocation.out.result(values, lambda: invocation.out.pairs(values))


def scopes(context: typer.Context) -> None:
    """List scopes with their counts: all, or those of `--tenant` and `--user`."""
    from biem.bootstrap import admin as counting

    invocation = of(context)
    out = invocation.out
    found = counting.scopes(invocation.settings(), invocation.tenant, invocation.user)
    rows = [
        (
            summary.scope.tenant,
            summary.scope.user,
            summary.scope.project or "-",
            summary.memories,
            summary.pending,
            shown_time(summary.written_at) if summary.written_at else "-",
        )
        for summary in found
    ]
    names = ("tenant", "user", "project", "memories", "pending", "written")
    out.result({"scopes": found}, lambda: out.table(names, rows, right=("memories", "pending")))
    if not found:
        out.note("no scopes")
