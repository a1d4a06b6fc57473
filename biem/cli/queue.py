"""Commands for memories that could not be indexed: dead, retry."""

from typing import Annotated

import typer

from biem.cli.invocation import NO_WORKER, of
from biem.cli.output import shown_time
from biem.domain.text import MOST_LISTED


def dead(
    context: typer.Context,
    limit: Annotated[int, typer.Option(min=1, max=MOST_LISTED, help="Maximum number of rows.")] = 100,
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
    """Try again to index the memories that `biem dead` lists."""
    invocation = of(context)
    with invocation.memory() as memory:
        count = memory.retry()
    invocation.out.result({"retried": count}, lambda: invocation.out.line(f"{count} given back to the worker"))
