"""Commands that show stored memories and the queue: stats, scopes, dead, retry."""

from collections.abc import Mapping
from typing import Annotated

import typer

from biem.cli.invocation import NO_WORKER, of
from biem.cli.output import shown_time
from biem.domain.text import MOST_LISTED
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


def dead(
    context: typer.Context, limit: Annotated[int, typer.Option(min=1, max=MOST_LISTED, help="How many at most.")] = 100
) -> None:
    """List memories that could not be indexed, with the reason; text search still finds them."""
    invocation = of(context)
    out = invocation.out
    invocation.changes |= NO_WORKER
    with invocation.memory() as memory:
        letters = memory.dead_letters(limit)
    rows = [
        (out.id(letter.memory_id), letter.scope, letter.attempts, shown_time(letter.dead_at), letter.reason)
        for letter in letters
    ]
    out.result({"dead": letters}, lambda: out.table(("id", "scope", "attempts", "since", "reason"), rows))
    if not letters:
        out.note("no dead letters")


def retry(context: typer.Context) -> None:
    """Put the dead letters back into the queue."""
    invocation = of(context)
    with invocation.memory() as memory:
        count = memory.retry()
    invocation.out.result({"retried": count}, lambda: invocation.out.line(f"{count} given back to the worker"))
