"""Arguments of several commands, and reading a memory's text for display."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from biem.cli.output import SHOWN_CHARS, decode, read_stdin
from biem.domain.text import MOST_LISTED, one_line
from biem.errors import BiemError, InvalidInput, NotFound

if TYPE_CHECKING:
    from biem.memory import Memory

Id = Annotated[str, typer.Argument(metavar="ID", help="Id of the memory, or the end of it, as lists show it.")]
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


def chat_messages(file: str) -> list[dict[str, Any]]:
    """The chat messages of a file, or of stdin for `-`: a JSON list of objects, or one object a line.

    `InvalidInput` says what cannot be read.
    """
    try:
        text = read_stdin() if file == "-" else decode(Path(file).read_bytes(), file)
        listed = text.lstrip().startswith("[")
        found = json.loads(text) if listed else [json.loads(line) for line in text.splitlines() if line.strip()]
    except OSError as error:
        raise InvalidInput(f"cannot read {file}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{file} has no chat messages in JSON, a list or one a line: {error}") from error
    if not all(isinstance(one, dict) for one in found):
        raise InvalidInput(f"{file}: each message is an object with role and content")
    return found


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
