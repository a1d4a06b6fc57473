"""Commands for who runs the system: diagnose, perf, backup, restore from a backup, reembed."""

from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated

import typer

from biem.cli import life
from biem.cli.output import Interrupted, Output
from biem.cli.session import of
from biem.domain.node import id_part, parse_id
from biem.errors import InvalidInput

if TYPE_CHECKING:
    from biem.domain.diagnosis import Diagnosis, StageTime

PROBLEMS = 10
"""Exit code of `diagnose` while something is left to be done."""


def diagnose(
    context: typer.Context,
    fix: Annotated[bool, typer.Option("--fix", help="Mend what can be mended safely.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Look at every memory, not at a sample.")] = False,
    after: Annotated[str, typer.Option("--after", help="With --full: go on after this memory id.")] = "",
) -> None:
    """Look for faults in every store and say how to mend each; exit code 10 while any is left."""
    session = of(context)
    out = session.out
    at = after
    if after:
        parse_id(after)
    try:
        with out.progress("diagnose") as ticker:

            def looked(last: str, count: int) -> None:
                nonlocal at
                at = last
                ticker.update(count, count)

            found: Diagnosis = _operations().diagnose(
                session.settings(), fix=fix, full=full, after=after, on_progress=looked
            )
    except KeyboardInterrupt:
        if not full or not at:
            raise
        raise Interrupted(f"interrupted; go on with: biem diagnose --full --after {at}") from None
    document = {
        "healthy": found.healthy,
        "whole": found.whole,
        "looked_at": found.looked_at,
        "findings": found.findings,
    }
    out.result(document, lambda: _show(out, found))
    if not found.healthy:
        raise typer.Exit(PROBLEMS)


def _show(out: Output, found: "Diagnosis") -> None:
    for finding in found.findings:
        state = "mended" if finding.mended else finding.severity
        out.line(f"{state}: {finding.id}: {finding.what}")
        if finding.mended:
            out.line(f"  done: {finding.mended}")
        else:
            out.line(f"  mend: {finding.mend}")
        if finding.samples:
            out.line(f"  such as: {', '.join(finding.samples)}")
    if not found.findings:
        out.line("no fault found")
    seen = ", ".join(f"{count} {name}" for name, count in found.looked_at.items())
    out.note(f"looked at {seen or 'nothing'}{'' if found.whole else '; a sample, --full looks at every memory'}")


def perf(
    context: typer.Context,
    rounds: Annotated[int, typer.Option("--rounds", min=1, max=10_000, help="How often each is tried.")] = 50,
    recorded: Annotated[
        float, typer.Option("--recorded", min=0.0, help="Instead: of all programs, in the last so many hours.")
    ] = 0.0,
) -> None:
    """Time remember and recall stage by stage, in a scope of its own that is erased afterwards.

    With --recorded, what all programs with BIEM_METRICS_ROWS=true recorded.
    """
    session = of(context)
    out = session.out
    settings = session.settings()
    table: list[StageTime]
    if recorded:
        table = _operations().perf_recorded(settings, recorded)
    else:
        with out.progress("perf", rounds) as ticker:
            table = _operations().perf(settings, rounds, lambda done: ticker.update(done, done))
    rows = [
        (time.stage, time.count, *(f"{ms:.2f}" for ms in (time.p50_ms, time.p90_ms, time.p99_ms, time.worst_ms)))
        for time in table
    ]
    headers = ("stage", "count", "P50 ms", "P90 ms", "P99 ms", "worst ms")
    out.result({"stages": table}, lambda: out.table(headers, rows, right=headers[1:]))


def backup(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="The archive to write, in one step.")],
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it is there.")] = False,
) -> None:
    """Write everything that PostgreSQL keeps into one file, as of one instant, beside running programs."""
    out = of(context).out
    if file.exists() and not force:
        raise InvalidInput(f"{file} is there already; choose another name, or replace it with --force")
    with out.progress("backup") as ticker:
        done = _operations().backup(of(context).settings(), file, lambda rows: ticker.update(rows, rows))
    out.result(
        done, lambda: out.line(f"{done['rows']} rows, {done['memories']} memories, {done['bytes']} bytes in {file}")
    )
    out.note("the file holds every memory in clear text: keep it as you keep the database")


def restore(
    context: typer.Context,
    target: Annotated[str, typer.Argument(help="A memory's id, or a file that `biem backup` wrote.")],
    replace: Annotated[bool, typer.Option("--replace", help="Destroy what the database holds now.")] = False,
) -> None:
    """Bring an archived memory back, or a whole backup into an empty database, with the vector index built anew."""
    if _is_id(target) and not Path(target).exists():
        life.restore(context, target)
        return
    session = of(context)
    out = session.out
    with out.progress("restore") as ticker:
        done = _operations().restore_backup(
            session.settings(), Path(target), replace=replace, on_progress=lambda rows: ticker.update(rows, rows)
        )
    out.result(done, lambda: out.line(f"{done['memories']} memories are back, {done['indexed']} of them indexed"))


def reembed(
    context: typer.Context,
    provider: Annotated[str, typer.Option("--provider", help="e5, use, bge, openai or ollama; unset: settings.")] = "",
    model: Annotated[str, typer.Option("--model", help="Model name or path, for bge, openai and ollama.")] = "",
    url: Annotated[str, typer.Option("--url", help="Base URL, for openai and ollama.")] = "",
    drop_old: Annotated[
        bool, typer.Option("--drop-old", help="Destroy other models' collections and vectors.")
    ] = False,
) -> None:
    """Move all memories to another embedder, beside running programs, which go over to it when all are moved.

    Interrupted, the same command goes on where it was.
    """
    session = of(context)
    out = session.out
    settings = session.settings()
    wished = {name: value for name, value in (("provider", provider), ("model", model), ("url", url)) if value}
    chosen = type(settings.embedder)(**(settings.embedder.model_dump() | wished))  # validated as the environment's is
    settings = settings.model_copy(update={"embedder": chosen})
    with out.progress("reembed") as ticker:
        done = _operations().reembed(settings, drop_old=drop_old, on_progress=lambda count: ticker.update(count, count))
    out.result(done, lambda: out.line(", ".join(f"{count} {name.replace('_', ' ')}" for name, count in done.items())))


def _operations() -> ModuleType:
    """Loaded at first use, as everything that knows a server."""
    return import_module("biem.bootstrap.admin")


def _is_id(text: str) -> bool:
    try:
        id_part(text)
    except InvalidInput:
        return False
    return True
