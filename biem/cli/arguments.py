"""Arguments of several commands, and reading a memory's text for display."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from biem.cli.output import SHOWN_CHARS, read_stdin
from biem.domain.text import MOST_LISTED, one_line
from biem.errors import BiemError, NotFound

if TYPE_CHECKING:
    from biem.memory import Memory

Id = Annotated[str, typer.Argument(metavar="ID")]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="A tag; may be given several times.")]
Limit = Annotated[int, typer.Option(min=1, max=MOST_LISTED, help="Maximum number of rows.")]


def text_of(memory: "Memory", node_id: str) -> str:
    """Text of a linked memory; empty for a concept."""
    try:
        return one_line(memory.get(node_id).text, SHOWN_CHARS)
    except NotFound:
        return "-"


def given_text(text: str) -> str:
    """An argument, or what stands in stdin for `-`."""
    return read_stdin() if text == "-" else text


@contextmanager
def naming_options(options: Mapping[str, str]) -> Iterator[None]:
    """Errors name arguments as Python and HTTP have them; here they name the options of the command line instead."""
    try:
        yield
    except BiemError as error:
        said = str(error)
        for argument, option in options.items():
            said = said.replace(argument, option)
        error.args = (said, *error.args[1:])
        raise
