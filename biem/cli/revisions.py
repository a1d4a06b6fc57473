"""Commands that correct memories: revise, history, revert."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from biem.cli.arguments import Id, given_text
from biem.cli.filters import metadata_values
from biem.cli.invocation import NO_WORKER, of
from biem.cli.output import SHOWN_CHARS, shown_time
from biem.domain.node import KINDS, LAYERS, Node, id_part
from biem.domain.text import one_line
from biem.errors import InvalidInput
from biem.importers.times import parse_time

if TYPE_CHECKING:
    from biem.cli.output import Output

_NEVER = "never"


def revise(
    context: typer.Context,
    memory_id: Id,
    text: Annotated[str | None, typer.Option(help="The new text; - reads it from stdin.")] = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", help="The new tags, all of them; may be given several times.")
    ] = None,
    no_tags: Annotated[bool, typer.Option("--no-tags", help="Remove all tags.")] = False,
    importance: Annotated[float | None, typer.Option(help="Importance, 1 to 5.")] = None,
    reason: Annotated[str | None, typer.Option(help="Why it is worth remembering.")] = None,
    metadata: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="The new metadata, all of it; may be repeated. {}: none."),
    ] = None,
    kind: Annotated[str | None, typer.Option(help=f"One of {', '.join(KINDS)}.")] = None,
    speaker: Annotated[str | None, typer.Option(help="Who said it.")] = None,
    at: Annotated[str | None, typer.Option(metavar="TIME", help="When, in ISO 8601; without an offset: UTC.")] = None,
    layer: Annotated[str | None, typer.Option(help=f"One of {', '.join(LAYERS)}.")] = None,
    expires_at: Annotated[
        str | None, typer.Option(metavar="TIME", help="When it is hidden, in ISO 8601; never: it does not expire.")
    ] = None,
    expect: Annotated[
        int | None, typer.Option(min=1, help="Fail with exit code 4 if it is at another revision.")
    ] = None,
) -> None:
    """Change a memory under its id; what is left out stays, and history shows the former values."""
    invocation = of(context)
    if tag and no_tags:
        raise InvalidInput("give either --tag or --no-tags")
    values: dict[str, Any] = {
        "text": None if text is None else given_text(text),
        "tags": () if no_tags else tag,
        "importance": importance,
        "reason": reason,
        "metadata": metadata_values(metadata),
        "kind": kind,
        "speaker": speaker,
        "at": None if at is None else parse_time(at, "--at"),
        "layer": layer,
    }
    given = {name: value for name, value in values.items() if value is not None}
    if expires_at is not None:
        given["expires_at"] = None if expires_at == _NEVER else parse_time(expires_at, "--expires-at")
    if not given:
        raise InvalidInput("say what to change: --text, --tag, --importance, …")
    id_part(memory_id)
    invocation.changes |= NO_WORKER
    with invocation.memory() as memory:
        _show(invocation.out, memory.revise(memory.whole_id(memory_id), **given, expect=expect))


def history(context: typer.Context, memory_id: Id) -> None:
    """List the revisions of a memory, oldest first; the last one is the present."""
    invocation = of(context)
    out = invocation.out
    id_part(memory_id)
    invocation.changes |= NO_WORKER
    with invocation.memory() as memory:
        found = memory.revisions(memory.whole_id(memory_id))
    rows = [(one.revision, shown_time(one.made_at), one.by or "-", one_line(one.text, SHOWN_CHARS)) for one in found]
    out.result({"revisions": found}, lambda: out.table(("revision", "made", "by", "text"), rows, right=("revision",)))


def revert(
    context: typer.Context,
    memory_id: Id,
    revision: Annotated[int, typer.Argument(min=1, metavar="REVISION", help="Its number, as `biem history` shows it.")],
) -> None:
    """Give a memory the values of a former revision, as a new one."""
    invocation = of(context)
    id_part(memory_id)
    invocation.changes |= NO_WORKER
    with invocation.memory() as memory:
        _show(invocation.out, memory.revert(memory.whole_id(memory_id), revision))


def _show(out: "Output", node: Node) -> None:
    out.result(node, lambda: out.line(f"revision {node.revision}: {one_line(node.text, SHOWN_CHARS)}"))
