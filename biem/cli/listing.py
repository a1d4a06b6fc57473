"""Commands that list memories without a question: list, timeline, count."""

from typing import Annotated, Any

import typer

from biem.cli.filters import ListFilters, require_one_of
from biem.cli.invocation import NO_WORKER, of
from biem.cli.option_groups import with_options
from biem.cli.output import SHOWN_CHARS, Output, shown_time
from biem.domain.energy import indicator
from biem.domain.listing import ORDERS
from biem.domain.node import Node
from biem.domain.paging import MOST_ON_A_PAGE, Page
from biem.domain.text import one_line

Size = Annotated[int, typer.Option("--limit", min=1, max=MOST_ON_A_PAGE, help="Memories on a page.")]
After = Annotated[str, typer.Option(help="Continue after a page: what it named as --after, or with --json as next.")]


@with_options
def listed(
    context: typer.Context,
    order: Annotated[str, typer.Option(help=f"One of {', '.join(ORDERS)}.")] = "newest",
    limit: Size = 50,
    after: After = "",
    *,
    filters: ListFilters,
) -> None:
    """List memories, newest first or in another order, page by page."""
    invocation = of(context)
    require_one_of("--order", order, ORDERS)
    wanted = filters.conditions()
    invocation.changes |= NO_WORKER
    with invocation.memory() as memory:
        page = memory.list(order=order, limit=limit, after=after, **wanted)
    _show(invocation.out, page)


@with_options
def timeline(context: typer.Context, limit: Size = 50, after: After = "", *, filters: ListFilters) -> None:
    """List what was said in a period, in the order it was said."""
    invocation = of(context)
    wanted = filters.conditions()
    invocation.changes |= NO_WORKER
    with invocation.memory() as memory:
        page = memory.timeline(limit=limit, after=after, **wanted)
    _show(invocation.out, page)


@with_options
def count(context: typer.Context, *, filters: ListFilters) -> None:
    """Count memories that meet conditions."""
    invocation = of(context)
    wanted = filters.conditions()
    invocation.changes |= NO_WORKER
    with invocation.memory() as memory:
        found = memory.count(**wanted)
    invocation.out.result({"count": found}, lambda: invocation.out.line(str(found)))


def _show(out: Output, page: Page[Node]) -> None:
    rows: list[tuple[Any, ...]] = [
        (
            out.id(node.id),
            shown_time(node.at),
            indicator(node.energy),
            node.layer if node.status != "archived" else node.status,
            node.speaker or "-",
            one_line(node.text, SHOWN_CHARS),
        )
        for node in page.items
    ]
    headers = ("id", "at", "", "layer", "speaker", "memory")
    out.result({"memories": page.items, "next": page.next}, lambda: out.table(headers, rows))
    if not page.items:
        out.note("no memories")
    elif page.next:
        out.note(f"more follow: --after {page.next}")
