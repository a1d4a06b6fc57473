"""`biem import`: imports files of other systems; idempotent, and resumable after a crash."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from biem.cli.arguments import naming_options
from biem.cli.invocation import NO_WORKER, of
from biem.cli.output import Interrupted, Output, Ticker
from biem.cli.transfer import begins_as_export, take_back
from biem.domain.text import counted
from biem.errors import InvalidInput
from biem.importers.formats import FORMATS, require_format

if TYPE_CHECKING:
    from biem.engine.remember.importing import ImportReport
    from biem.memory import Memory

_OPTIONS = {"skip_bad=True": "--skip-bad", "format=NAME": "--format NAME"}
_FORMATS = f"{', '.join(FORMATS)}; default: by content."


@dataclass(slots=True)
class _Watched:
    """What an import did so far, for the progress and for an interruption."""

    ticker: Ticker
    report: "ImportReport | None" = None

    def see(self, report: "ImportReport") -> None:
        self.report = report
        self.ticker.total = report.size
        self.ticker.update(report.bytes_read, report.stored + report.already_there)


def import_files(
    context: typer.Context,
    files: Annotated[
        list[str], typer.Argument(metavar="FILE…", help="Files, .gz, .zip or folders; - is stdin, for jsonl.")
    ],
    name: Annotated[str | None, typer.Option("--format", metavar="NAME", help=_FORMATS)] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count, and store nothing.")] = False,
    scope_per_conversation: Annotated[
        bool, typer.Option("--scope-per-conversation", help="Each conversation becomes its own project.")
    ] = False,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Skip bad lines and exit with 2.")] = False,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until everything is indexed.")] = True,
    timeout_s: Annotated[
        float, typer.Option("--timeout-s", min=0, metavar="S", help="Seconds to wait for indexing.")
    ] = 3600.0,
    on_conflict: Annotated[
        str,
        typer.Option(
            "--on-conflict", help="Where a memory of an export differs from the one that is there: error, or skip it."
        ),
    ] = "error",
) -> None:
    """Import chats, notes and memories of other systems, or an export of biem. Run it again at any time: nothing is
    written twice.
    """
    invocation = of(context)
    if len(files) == 1 and begins_as_export(files[0]):
        take_back(invocation, files[0], on_conflict=on_conflict, dry_run=dry_run)
        return
    out = invocation.out
    require_format(name)
    for file in files:
        if file != "-" and not Path(file).exists():
            raise InvalidInput(f"cannot read {file}: No such file or directory")
    wait = wait and not dry_run
    if not wait:
        invocation.changes |= NO_WORKER
    with invocation.memory() as memory:
        report = _stored(memory, out, files, name, dry_run, scope_per_conversation, skip_bad)
        try:
            with out.progress("indexed") as ticker:
                indexed = wait and _indexed(memory, report, ticker, timeout_s, apart=scope_per_conversation)
        except KeyboardInterrupt:
            raise _interrupted(report) from None
        if wait and not indexed:
            out.note("not everything is indexed yet; it is stored and found by its words, and indexing goes on")
    out.result(_summary(report, indexed), lambda: out.line(_sentence(report, indexed=indexed, wait=wait)))
    if report.bad:
        raise typer.Exit(InvalidInput.exit_code)


# In a column beside the option, seven descriptions are forty lines of two words.
import_files.__doc__ = "\n\n".join(
    (cleandoc(import_files.__doc__ or "").replace("\n", " "), *(f"{name}: {what}." for name, what in FORMATS.items()))
)


def _stored(
    memory: "Memory", out: Output, files: list[str], name: str | None, dry_run: bool, apart: bool, skip_bad: bool
) -> "ImportReport":
    with out.progress("counted" if dry_run else "stored") as ticker:
        watched = _Watched(ticker)
        try:
            with naming_options(_OPTIONS):
                return memory.import_file(
                    files,
                    format=name,
                    dry_run=dry_run,
                    per_conversation=apart,
                    skip_bad=skip_bad,
                    on_progress=watched.see,
                )
        except KeyboardInterrupt:
            raise _interrupted(watched.report) from None
        finally:
            if watched.report:
                _list_bad(out, watched.report)


def _indexed(memory: "Memory", report: "ImportReport", ticker: Ticker, timeout_s: float, *, apart: bool) -> bool:
    """Wait until everything of this run is indexed; false if `timeout_s` was not enough."""
    deadline = time.monotonic() + timeout_s

    def progress(pending: int) -> None:
        ticker.total = max(ticker.total or 0, pending)
        ticker.update(ticker.total - pending, int(ticker.total) - pending)

    names = sorted(report.conversations) if apart else [""]
    memories = [memory.scope(project=name or None) for name in names]
    return all(one.flush(max(0.0, deadline - time.monotonic()), progress) for one in memories)


def _interrupted(report: "ImportReport | None") -> Interrupted:
    count = 0 if report is None or report.dry_run else report.stored + report.already_there
    return Interrupted(
        f"at least {counted(count, 'message is', 'messages are')} stored; the same command again goes on from there"
    )


def _list_bad(out: Output, report: "ImportReport") -> None:
    for line in report.first_bad:
        out.note(str(line))
    if report.bad > len(report.first_bad):
        out.note(f"and {report.bad - len(report.first_bad)} more bad lines")


def _summary(report: "ImportReport", indexed: bool) -> Mapping[str, object]:
    return {
        "dry_run": report.dry_run,
        "files": report.files,
        "formats": report.formats,
        "messages": report.stored + report.already_there,
        "created": report.stored,
        "already_there": report.already_there,
        "skipped": report.skipped,
        "conversations": len(report.conversations),
        "bad": report.bad,
        "first_bad": report.first_bad,
        "indexed": indexed,
    }


def _sentence(report: "ImportReport", *, indexed: bool, wait: bool) -> str:
    parts = [f"{report.stored} {'would be imported' if report.dry_run else 'imported'}"]
    if there := report.already_there:
        parts.append(f"{counted(there, 'was', 'were')} there already")
    if report.bad:
        parts.append(f"{counted(report.bad, 'bad line')} left out")
    if not report.dry_run:
        parts.append("all indexed" if indexed else "indexing goes on" if wait else "not waiting for the index")
    skipped = (f"{count} × {reason}" for reason, count in sorted(report.skipped.items()))
    return ", ".join(parts) + (f"\nleft out: {', '.join(skipped)}" if report.skipped else "")
