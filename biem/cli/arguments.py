"""Arguments that several commands take, and how the text of a memory is read for display."""

from typing import TYPE_CHECKING, Annotated

import typer

from biem.cli.output import SHOWN_CHARS
from biem.domain.text import MOST_LISTED, one_line
from biem.errors import NotFound

if TYPE_CHECKING:
    from biem.memory import Memory

Id = Annotated[str, typer.Argument(metavar="ID")]
Ids = Annotated[list[str] | None, typer.Option(metavar="ID", help="May be given several times.")]
Limit = Annotated[int, typer.Option(min=1, max=MOST_LISTED, help="How many at most.")]


def text_of(memory: "Memory", node_id: str) -> str:
    """What a linked memory says; a concept says nothing."""
    try:
        return one_line(memory.get(node_id).text, SHOWN_CHARS)
    except NotFound:
        return "-"
