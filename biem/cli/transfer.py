"""Commands that take memories out of a scope, back into one, and to another: export, import of an export, move."""

import sys
from io import BufferedReader
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from biem.cli.arguments import naming_options
from biem.cli.filters import TransferFilters, require_one_of
from biem.cli.invocation import NO_WORKER, Invocation, of
from biem.cli.option_groups import with_options
from biem.cli.output import Interrupted, Output, plain
from biem.domain.scope import Scope
from biem.domain.text import counted
from biem.domain.transfer import FORMATS, ON_CONFLICT, ExportReport, MoveReport, TransferReport, is_export
from biem.errors import InvalidInput
from biem.importers.encodings import codec_of

_OPTIONS = {"on_conflict=skip": "--on-conflict skip"}
_STDOUT = "-"
"""Of `import`: stdin."""
_FIRST_LINE = 4096
"""Bytes in which the format of a file is named."""


@with_options
def export(
    context: typer.Context,
    format: Annotated[str, typer.Option("--format", help=f"One of {', '.join(FORMATS)}.")] = "jsonl",  # noqa: A002
    out: Annotated[str, typer.Option("--out", "-o", metavar="PATH", help="File or folder; - is stdout.")] = _STDOUT,
    force: Annotated[bool, typer.Option("--force", help="Replace the file or folder at PATH.")] = False,
    *,
    filters: TransferFilters,
) -> None:
    """Write a scope to a file that `biem import` takes back, or to a Markdown folder to read."""
    invocation = of(context)
    require_one_of("--format", format, FORMATS)
    if out == _STDOUT and (format == "markdown" or invocation.out.as_json):
        raise InvalidInput(
            "say where to write to with --out PATH: stdout takes JSON lines, and has the report of --json"
        )
    asked = filters.conditions()
    invocation.changes |= NO_WORKER
    target: Any = sys.stdout.buffer if out == _STDOUT else Path(out)
    try:
        with invocation.memory() as memory, invocation.out.progress("written") as ticker:
            report = memory.export(
                target, format, overwrite=force, on_progress=lambda done: ticker.update(done, done), **asked
            )
    except BrokenPipeError:
        raise InvalidInput("stdout was closed before everything was written") from None
    except KeyboardInterrupt:
        raise Interrupted("nothing was written" if out != _STDOUT else "the output ends in the middle") from None
    if out == _STDOUT:
        invocation.out.note(_exported(report))
    else:
        invocation.out.result(report, lambda: invocation.out.line(_exported(report)))


def begins_as_export(name: str) -> bool:
    """Whether a file, or stdin for -, is one that `biem export` wrote."""
    if name == _STDOUT:
        return _is_export(cast(BufferedReader, sys.stdin.buffer).peek(_FIRST_LINE))
    path = Path(name).expanduser()
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return _is_export(file.read(_FIRST_LINE))


def _is_export(head: bytes) -> bool:
    """Whether the beginning of a file, in any encoding that an import reads, is that of an export."""
    return is_export(head.decode(codec_of(head[:4]), errors="ignore").encode().split(b"\n")[0])


def take_back(invocation: Invocation, source: str, *, on_conflict: str, dry_run: bool) -> None:
    """The command `import` for a file that `biem export` wrote."""
    require_one_of("--on-conflict", on_conflict, ON_CONFLICT)
    out = invocation.out
    if dry_run:
        invocation.changes |= NO_WORKER
    done = 0

    def progress(lines: int) -> None:
        nonlocal done
        done = lines
        ticker.update(lines, lines)

    try:
        with invocation.memory() as memory, out.progress("lines") as ticker:
            given = sys.stdin.buffer if source == _STDOUT else source
            with naming_options(_OPTIONS):
                report = memory.import_(given, on_conflict=on_conflict, dry_run=dry_run, on_progress=progress)
    except KeyboardInterrupt:
        raise Interrupted(
            f"at least {counted(done, 'line is', 'lines are')} stored; the same command again goes on from there"
        ) from None
    out.result(report, lambda: out.line(_imported(report)))


@with_options
def move(
    context: typer.Context,
    ids: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="A memory to move; may be given several times.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Every memory of the scope.")] = False,
    to_user: Annotated[str | None, typer.Option("--to-user", help="User of the target; default: the same.")] = None,
    to_project: Annotated[
        str | None,
        typer.Option("--to-project", help="Project of the target; empty: the user's own. Default: the same."),
    ] = None,
    *,
    filters: TransferFilters,
) -> None:
    """Move memories to another scope of the tenant: by --ids, by conditions, or --all."""
    invocation = of(context)
    asked = filters.conditions()
    if to_user is None and to_project is None:
        raise InvalidInput("say where to: --to-user, --to-project or both")
    if sum((bool(ids), every, bool(asked))) != 1:
        raise InvalidInput("say what to move: --ids, conditions, or --all")
    invocation.changes |= NO_WORKER
    done = 0

    def progress(moved: int, total: int) -> None:
        nonlocal done
        done, ticker.total = moved, total
        ticker.update(moved, moved)

    with invocation.memory() as memory, invocation.out.progress("moved") as ticker:
        bound = memory.bound_to
        target = Scope(
            bound.tenant,
            bound.user if to_user is None else to_user,
            bound.project if to_project is None else to_project,
        )
        whole = [memory.whole_id(each) for each in ids] if ids else None
        try:
            report = memory.move(target, ids=whole, every=every, on_progress=progress, **asked)
        except KeyboardInterrupt:
            raise Interrupted(
                f"{counted(done, 'memory has', 'memories have')} moved; the same command again goes on from there"
            ) from None
    invocation.out.result(report, lambda: _show_move(invocation.out, report))


def _exported(report: ExportReport) -> str:
    where = f" to {report.path}" if report.path else ""
    return f"{counted(report.memories, 'memory')} exported{where}"


def _imported(report: TransferReport) -> str:
    every = counted(report.memories, "memory")
    parts = [f"{report.created} of {every} {'would be ' if report.dry_run else ''}imported"]
    if report.already_there:
        parts.append(f"{counted(report.already_there, 'was', 'were')} there already")
    if report.skipped:
        parts.append(f"{report.skipped} left out because others have their ids or refs")
    if report.equal_facts:
        parts.append(f"{len(report.equal_facts)} repeat a fact that is there")
    return ", ".join(parts)


def _show_move(out: Output, report: MoveReport) -> None:
    out.line(f"{counted(report.memories, 'memory')} moved to {report.target}")
    if report.already_there:
        out.line(f"{counted(report.already_there, 'was', 'were')} there already")
    if report.equal_facts:
        out.line(f"{len(report.equal_facts)} repeat a fact that is there; the next background run merges them")
    out.pairs({f"{name} cut": count for name, count in plain(report.cut).items() if count})
