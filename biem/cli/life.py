"""Commands about how memories live: feedback, sleep, conflicts and their decisions, facts, archive, related, links."""

from typing import TYPE_CHECKING, Annotated

import typer

from biem import errors
from biem.cli.output import Output, plain, read_stdin, shown_time, shown_value
from biem.cli.session import NO_WORKER, of
from biem.domain.conflict import RESOLUTIONS, STATUSES, Conflict
from biem.domain.node import id_part
from biem.domain.text import MOST_LISTED, one_line
from biem.errors import BiemError, InvalidInput, NotFound
from biem.telemetry import Span

if TYPE_CHECKING:
    from biem.engine.sleep.jobs import JobReport, SleepReport
    from biem.memory import Memory

_SHOWN_CHARS = 200
_STDIN = "-"
_ANY = "all"
_IGNORE = "ignore"
_BUSY = "it runs already"

Id = Annotated[str, typer.Argument(metavar="ID")]
Ids = Annotated[list[str] | None, typer.Option(metavar="ID", help="May be given several times.")]
Limit = Annotated[int, typer.Option(min=1, max=MOST_LISTED, help="How many at most.")]


def feedback(
    context: typer.Context,
    useful: Ids = None,
    useless: Ids = None,
    new: Annotated[list[str] | None, typer.Option(metavar="ID", help="Written in this turn, to be linked.")] = None,
    turn: Annotated[str | None, typer.Option(help="Your name for the turn: said again, it counts once.")] = None,
) -> None:
    """Tell which recalled memories were of use, and which were not."""
    session = of(context)
    out = session.out
    if not (useful or useless or new):
        raise InvalidInput("say which memories: --useful ID, --useless ID")
    for part in (*(useful or ()), *(useless or ()), *(new or ())):
        id_part(part)
    session.changes |= NO_WORKER
    with session.memory() as memory:
        told, not_told, written = (list(map(memory.whole_id, parts or ())) for parts in (useful, useless, new))
        lesson = memory.feedback(told, not_told, new=written, turn=turn)
    out.result(lesson, lambda: out.pairs(plain(lesson)))


def sleep(
    context: typer.Context,
    timeout_s: Annotated[float, typer.Option("--timeout-s", min=0, help="How long to wait for indexing.")] = 600.0,
) -> None:
    """Do all background work of the scope now, and report it. It also happens by itself."""
    out = of(context).out
    with of(context).memory() as memory, out.progress("asleep") as ticker:
        done: list[Span] = []

        def heard(span: Span) -> None:
            if span.name == "biem.sleep.job":
                done.append(span)
                ticker.update(len(done), len(done))

        memory.flush(timeout_s)  # what is not indexed yet would sleep through the night
        memory.telemetry.attach(heard)
        report = memory.sleep()
        memory.flush(timeout_s)
    out.result(plain(report) | {"changed": report.changed}, lambda: _show_report(out, report))
    failed = [job for job in report.failed if job.reason != _BUSY]
    for job in failed:
        out.note(f"{job.name} did not run to its end: {job.reason}")
    if failed:
        raise typer.Exit(exit_code_of(failed[0]))


def conflicts(
    context: typer.Context,
    status: Annotated[str, typer.Option(help=f"One of {', '.join(STATUSES)}, {_ANY}.")] = "pending",
    limit: Limit = 100,
) -> None:
    """List memories that contradict, update or repeat each other, newest first."""
    session = of(context)
    out = session.out
    if status not in (*STATUSES, _ANY):
        raise InvalidInput(f"--status {status!r} is unknown; choose one of {', '.join(STATUSES)}, {_ANY}")
    session.changes |= NO_WORKER
    with session.memory() as memory:
        found = memory.conflicts(status=None if status == _ANY else status, limit=limit)
    headers = ("id", "kind", "sure", "state", "older", "newer")
    out.result(
        {"conflicts": found}, lambda: out.table(headers, [_conflict_row(out, each) for each in found], right=("sure",))
    )
    if not found:
        out.note("no conflicts")


def resolve(
    context: typer.Context,
    conflict_id: Id,
    resolution: Annotated[str, typer.Argument(help=f"One of {', '.join(RESOLUTIONS)}, {_IGNORE}.")],
) -> None:
    """Decide a conflict; undo takes it back."""
    session = of(context)
    id_part(conflict_id)
    if resolution not in (*RESOLUTIONS, _IGNORE):
        raise InvalidInput(f"resolution {resolution!r} is unknown; choose one of {', '.join(RESOLUTIONS)}, {_IGNORE}")
    session.changes |= NO_WORKER
    with session.memory() as memory:
        conflict = memory.resolve(memory.whole_id(conflict_id, of="conflict"), resolution)
    session.out.result(conflict, lambda: _show_conflict(session.out, conflict))


def undo(context: typer.Context, conflict_id: Id) -> None:
    """Take the decision about a conflict back: both memories are as they were."""
    session = of(context)
    id_part(conflict_id)
    session.changes |= NO_WORKER
    with session.memory() as memory:
        conflict = memory.undo(memory.whole_id(conflict_id, of="conflict"))
    session.out.result(conflict, lambda: _show_conflict(session.out, conflict))


def facts(context: typer.Context, limit: Limit = 100) -> None:
    """List what was distilled from memories that are used together."""
    session = of(context)
    out = session.out
    session.changes |= NO_WORKER
    with session.memory() as memory:
        found = memory.facts(limit)
    rows = [
        (out.id(fact.id), shown_value(fact.confidence), len(fact.source_node_ids), one_line(fact.content, _SHOWN_CHARS))
        for fact in found
    ]
    out.result({"facts": found}, lambda: out.table(("id", "sure", "from", "fact"), rows, right=("sure", "from")))
    if not found:
        out.note("no facts yet")


def archive(
    context: typer.Context,
    memory_id: Id,
    reason: Annotated[str, typer.Option(help="Why, for whoever asks later.")] = "",
) -> None:
    """Forget a memory without destroying it; restore brings it back."""
    session = of(context)
    out = session.out
    session.changes |= NO_WORKER
    id_part(memory_id)
    with session.memory() as memory:
        done = memory.archive(memory.whole_id(memory_id), reason)
    out.result({"archived": done}, lambda: out.line("archived" if done else "it was archived already"))


def restore(context: typer.Context, memory_id: Id) -> None:
    """Bring an archived memory back."""
    session = of(context)
    out = session.out
    id_part(memory_id)
    session.changes |= NO_WORKER
    with session.memory() as memory:
        done = memory.restore(memory.whole_id(memory_id))
    out.result({"restored": done}, lambda: out.line("restored" if done else "it was not archived"))


def related(
    context: typer.Context, text: Annotated[str, typer.Argument(help="Any text; - reads it from stdin.")]
) -> None:
    """Show what a text reminds of: topics of past conversation, and what was said of them."""
    session = of(context)
    out = session.out
    words = read_stdin() if text == _STDIN else text
    if not words.strip():
        raise InvalidInput("the text is empty; say something")
    session.changes |= NO_WORKER
    with session.memory() as memory:
        found = memory.related(words)
    rows = [(item.topic, shown_value(item.activation), one_line(item.memory, _SHOWN_CHARS)) for item in found]
    out.result({"related": found}, lambda: out.table(("topic", "activation", "memory"), rows, right=("activation",)))
    if not found:
        out.note("it reminds of nothing")


def links(context: typer.Context, memory_id: Id) -> None:
    """Show what a memory is linked with, closest first."""
    session = of(context)
    out = session.out
    session.changes |= NO_WORKER
    id_part(memory_id)
    with session.memory() as memory:
        whole = memory.whole_id(memory_id)
        found = memory.links(whole)
        rows = []
        for link in found if not out.as_json else ():
            away = link.source == whole
            other = link.target if away else link.source
            arrow = "→" if away else "←"
            rows.append(
                (link.type, shown_value(link.weight), link.strength, arrow, out.id(other), _text(memory, other))
            )
    headers = ("type", "weight", "strength", "", "id", "memory")
    out.result({"links": found}, lambda: out.table(headers, rows, right=("weight", "strength")))
    if not found:
        out.note("no links")


def exit_code_of(job: "JobReport") -> int:
    """That of the error which stopped a job."""
    kind = getattr(errors, job.reason.partition(":")[0], BiemError)
    return int(kind.exit_code)


def _show_report(out: Output, report: "SleepReport") -> None:
    rows = [
        (
            job.name,
            f"{job.seconds:.2f} s",
            job.reason or ", ".join(f"{count} {what.replace('_', ' ')}" for what, count in job.changes.items()) or "-",
        )
        for job in report.jobs
    ]
    out.table(("job", "took", "what it did"), rows, right=("took",))


def _state(conflict: Conflict) -> str:
    decided = f" by {conflict.decided_by}" if conflict.decided_by else ""
    return f"{conflict.resolution or conflict.status}{decided}"


def _conflict_row(out: Output, conflict: Conflict) -> tuple[object, ...]:
    return (
        out.id(conflict.id),
        conflict.kind,
        shown_value(conflict.confidence),
        _state(conflict),
        one_line(conflict.older_text, _SHOWN_CHARS),
        one_line(conflict.newer_text, _SHOWN_CHARS),
    )


def _show_conflict(out: Output, conflict: Conflict) -> None:
    out.pairs(
        {
            "state": _state(conflict),
            "why": conflict.explanation,
            "older": f"{out.id(conflict.older_id)}  {one_line(conflict.older_text, _SHOWN_CHARS)}",
            "newer": f"{out.id(conflict.newer_id)}  {one_line(conflict.newer_text, _SHOWN_CHARS)}",
            **({"merged": out.id(conflict.merged_id)} if conflict.merged_id else {}),
            **({"decided": shown_time(conflict.resolved_at)} if conflict.resolved_at else {}),
        }
    )


def _text(memory: "Memory", node_id: str) -> str:
    """What a linked memory says; a concept says nothing."""
    try:
        return one_line(memory.get(node_id).text, _SHOWN_CHARS)
    except NotFound:
        return "-"


def instant(
    context: typer.Context,
    conversation: Annotated[str, typer.Argument(help="The conversation to look back at.")],
    limit: Annotated[int, typer.Option(min=1, max=500, help="At most so many, newest first.")] = 5,
) -> None:
    """Show what was noted in a conversation while it went on."""
    session = of(context)
    out = session.out
    session.changes |= NO_WORKER
    with session.memory() as memory:
        found = memory.instant(conversation, limit=limit)
    rows = [(out.id(note.memory_id), note.created_at, one_line(note.text, _SHOWN_CHARS)) for note in found]
    out.result({"instant": found}, lambda: out.table(("memory", "noted", "note"), rows))
    if not found:
        out.note("nothing was noted in this conversation")
