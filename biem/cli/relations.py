"""Commands that show relations of memories: related, links, facts, instant."""

from typing import Annotated

import typer

from biem.cli.arguments import Id, Limit, text_of
from biem.cli.invocation import NO_WORKER, of
from biem.cli.output import SHOWN_CHARS, read_stdin, shown_value
from biem.domain.node import id_part
from biem.domain.paging import MOST_ON_A_PAGE
from biem.domain.text import one_line
from biem.errors import InvalidInput

_STDIN = "-"


def facts(context: typer.Context, limit: Limit = 100) -> None:
    """List facts that were distilled from memories used together."""
    invocation = of(context)
    out = invocation.out
    invocation.changes |= NO_WORKER
    with invocation.memory() as memory:
        found = memory.facts(limit)
    rows = [
        (out.id(fact.id), shown_value(fact.confidence), len(fact.source_node_ids), one_line(fact.content, SHOWN_CHARS))
        for fact in found
    ]
    out.result({"facts": found}, lambda: out.table(("id", "sure", "from", "fact"), rows, right=("sure", "from")))
    if not found:
        out.note("no facts yet")


def related(
    context: typer.Context, text: Annotated[str, typer.Argument(help="Any text; - reads it from stdin.")]
) -> None:
    """Show topics of past conversations that a text is associated with, and their memories."""
    invocation = of(context)
    out = invocation.out
    words = read_stdin() if text == _STDIN else text
    if not words.strip():
        raise InvalidInput("the text is empty; say something")
    invocation.changes |= NO_WORKER
    with invocation.memory() as memory:
        found = memory.related(words)
    rows = [(item.topic, shown_value(item.activation), one_line(item.memory, SHOWN_CHARS)) for item in found]
    out.result({"related": found}, lambda: out.table(("topic", "activation", "memory"), rows, right=("activation",)))
    if not found:
        out.note("it reminds of nothing")


def links(context: typer.Context, memory_id: Id) -> None:
    """Show the links of a memory, strongest first."""
    invocation = of(context)
    out = invocation.out
    invocation.changes |= NO_WORKER
    id_part(memory_id)
    with invocation.memory() as memory:
        whole = memory.whole_id(memory_id)
        found = memory.links(whole)
        part = None if out.as_json else memory.graph(around=whole, limit=MOST_ON_A_PAGE)
        names = {node.id: node.label for node in part.nodes if node.type == "concept"} if part else {}
        rows = []
        for link in found if not out.as_json else ():
            away = link.source == whole
            other = link.target if away else link.source
            arrow = "→" if away else "←"
            rows.append(
                (
                    link.type,
                    shown_value(link.weight),
                    link.strength,
                    arrow,
                    out.id(other),
                    f"concept: {names[other]}" if other in names else text_of(memory, other),
                )
            )
    headers = ("type", "weight", "strength", "", "id", "memory or concept")
    out.result({"links": found}, lambda: out.table(headers, rows, right=("weight", "strength")))
    if not found:
        out.note("no links")


def instant(
    context: typer.Context,
    conversation: Annotated[str, typer.Argument(help="Id of the conversation.")],
    limit: Annotated[int, typer.Option(min=1, max=500, help="Maximum number, newest first.")] = 5,
) -> None:
    """Show the notes that biem took of important messages while a conversation went on."""
    invocation = of(context)
    out = invocation.out
    invocation.changes |= NO_WORKER
    with invocation.memory() as memory:
        found = memory.instant(conversation, limit=limit)
    rows = [(out.id(note.memory_id), note.created_at, one_line(note.text, SHOWN_CHARS)) for note in found]
    out.result({"instant": found}, lambda: out.table(("memory", "noted", "note"), rows))
    if not found:
        out.note("nothing was noted in this conversation")
