"""`biem session`: conversations word for word, and what of them a model gets."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from biem.cli.invocation import NO_WORKER, of
from biem.cli.output import SHOWN_CHARS, shown_time
from biem.domain.text import MOST_LISTED, counted, one_line
from biem.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from biem.cli.output import Output
    from biem.domain.sessions.session import ChatSession, SessionMessage
    from biem.layers.sessions import Sessions

app = typer.Typer(help="Conversations word for word, and the window that a model gets of each.")
_COMMANDS = "stats, perf, diagnose, reindex, search QUERY, core, recent, sync or maintenance."
Chosen = Annotated[str, typer.Argument(metavar="SESSION", help="Id of a session, or name of an open one.")]


@app.command("list")
def list_sessions(
    context: typer.Context,
    status: Annotated[str | None, typer.Option(help="Only such: open, closed or archived.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=MOST_LISTED, help="Maximum number, newest first.")] = 20,
) -> None:
    """List the sessions of the scope."""
    invocation = of(context)
    invocation.changes |= NO_WORKER
    with invocation.memory() as memory:
        found = memory.sessions.list(status=status, limit=limit)
        rows = [(one.id, *_columns(one, memory.sessions.usage(one)).values()) for one in found]
    headers = ("id", "name", "status", "opened", "messages", "tokens", "used")
    invocation.out.result(found, lambda: invocation.out.table(headers, rows, right=("messages", "tokens", "used")))
    if not found:
        invocation.out.note("no sessions; `biem session new NAME` opens one")


@app.command("status")
def status(context: typer.Context, chosen: Chosen) -> None:
    """Show one session: its messages, tokens, and how full its window is."""
    invocation = of(context)
    invocation.changes |= NO_WORKER
    with invocation.memory() as memory:
        found = resolved(memory.sessions, chosen)
        usage = memory.sessions.usage(found)
    document = {"session": found, "usage": usage}
    invocation.out.result(document, lambda: invocation.out.pairs({"id": found.id, **_columns(found, usage)}))


@app.command("show")
def show(
    context: typer.Context,
    chosen: Chosen,
    after: Annotated[int, typer.Option(min=0, help="Only messages after this number.")] = 0,
    limit: Annotated[int | None, typer.Option(min=1, help="Maximum number; default: all.")] = None,
) -> None:
    """Print the messages of a session, trimmed or not."""
    invocation = of(context)
    invocation.changes |= NO_WORKER
    with invocation.memory() as memory:
        messages = memory.sessions.messages(resolved(memory.sessions, chosen).id, after=after, limit=limit)
    invocation.out.result(messages, lambda: _show(invocation.out, messages))


@app.command("window")
def window(
    context: typer.Context,
    chosen: Chosen,
    budget: Annotated[int | None, typer.Option(min=1, help="Tokens; default: BIEM_SESSION__MAX_TOKENS.")] = None,
) -> None:
    """Print what a model gets of a session."""
    invocation = of(context)
    invocation.changes |= NO_WORKER
    with invocation.memory() as memory:
        found = memory.sessions.window(resolved(memory.sessions, chosen).id, budget)

    def shown() -> None:
        _show(invocation.out, found.messages)
        if found.note:
            invocation.out.note(found.note)

    invocation.out.result(found, shown)


@app.command("close")
def close(context: typer.Context, chosen: Chosen) -> None:
    """End a session; it can be read and resumed."""
    invocation = of(context)
    invocation.changes |= NO_WORKER
    with invocation.memory() as memory:
        found = resolved(memory.sessions, chosen)
        done = memory.sessions.close(found.id)
    word = "closed" if done else "was closed already"
    invocation.out.result({"id": found.id, "closed": done}, lambda: invocation.out.line(f"session {found.id} {word}"))


@app.command("resume")
def resume(
    context: typer.Context,
    chosen: Chosen,
    exclusive: Annotated[bool, typer.Option("--exclusive", help="Close all other sessions of the scope.")] = False,
) -> None:
    """Open a closed session again; an open one of its name is closed."""
    invocation = of(context)
    invocation.changes |= NO_WORKER
    with invocation.memory() as memory:
        found = memory.sessions.resume(resolved(memory.sessions, chosen).id, exclusive=exclusive)
    invocation.out.result(
        found, lambda: invocation.out.line(f"session {found.id} is open with {counted(found.messages, 'message')}")
    )


@app.command("new")
def new(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Name of the session.")] = "",
) -> None:
    """Close the open session of a name, if there is one, and open another."""
    invocation = of(context)
    invocation.changes |= NO_WORKER
    with invocation.memory() as memory:
        former = [one for one in memory.sessions.list(status="open", limit=MOST_LISTED) if one.name == name]
        for one in former:
            memory.sessions.close(one.id)
        opened = memory.sessions.open(name)
    invocation.out.result(opened, lambda: invocation.out.line(f"session {opened.id} is open"))


@app.command("trim")
def trim(context: typer.Context, chosen: Chosen) -> None:
    """Summarise the oldest rounds of a session now, if it holds more than the target."""
    invocation = of(context)
    invocation.changes |= NO_WORKER
    with invocation.memory() as memory:
        found = resolved(memory.sessions, chosen)
        slices = memory.sessions.trim(found.id)
    invocation.out.result(
        {"id": found.id, "slices": slices}, lambda: invocation.out.line(f"{slices} slices summarised")
    )


def commanded(
    context: typer.Context,
    words: Annotated[list[str], typer.Argument(metavar="COMMAND", help=_COMMANDS)],
    language: Annotated[str, typer.Option("--language", help="Of the answer: en or zh.")] = "en",
    chosen: Annotated[str, typer.Option("--session", help="Id of a session, or name of an open one.")] = "",
) -> None:
    """Answer as the `/memory` commands of a chat loop do: stats, perf, diagnose, search and so on."""
    invocation = of(context)
    words = " ".join(words).removeprefix("/memory").split()  # as a chat loop is given it, and as its help shows it
    invocation.asks = words[:1] == ["search"]
    with invocation.memory() as memory:
        current = resolved(memory.sessions, chosen).id if chosen else ""
        answer = memory.command(f"/memory {' '.join(words)}", session=current, language=language)
    assert answer is not None
    invocation.out.result({"answer": answer.text}, lambda: invocation.out.line(answer.text))


def resolved(sessions: "Sessions", chosen: str) -> "ChatSession":
    """The session of an id, or the open one of a name. Raises `NotFound`."""
    try:
        return sessions.get(chosen)
    except InvalidInput:
        for one in sessions.list(status="open", limit=MOST_LISTED):
            if one.name == chosen:
                return one
        raise NotFound(f"no open session {chosen!r}; `biem session list` shows the sessions") from None


def _columns(session: "ChatSession", usage: float) -> dict[str, Any]:
    return {
        "name": session.name,
        "status": session.status,
        "opened": shown_time(session.opened_at),
        "messages": session.messages,
        "tokens": session.tokens,
        "used": f"{usage:.0%}",
    }


def _show(out: "Output", messages: "Sequence[SessionMessage]") -> None:
    for message in messages:
        out.line(f"{message.seq:>5}  {message.role:<9}  {one_line(message.content, SHOWN_CHARS)}")
