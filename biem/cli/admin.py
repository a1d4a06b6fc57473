"""Operator commands: sleep, reindex, migrate, diagnose, perf, backup, restore, reembed."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from biem import errors
from biem.cli.invocation import of
from biem.cli.output import Interrupted, Output, plain
from biem.cli.removing import unarchive
from biem.domain.node import id_part, parse_id
from biem.domain.text import counted
from biem.errors import BiemError, ConfigError, InvalidInput
from biem.telemetry import Span

if TYPE_CHECKING:
    from biem.domain.diagnosis import Diagnosis, StageTime
    from biem.engine.sleep.jobs import JobReport, SleepReport

_BUSY = "it runs already"
PROBLEMS = 10
"""Exit code of `diagnose` while problems remain."""


def diagnose(
    context: typer.Context,
    fix: Annotated[bool, typer.Option("--fix", help="Repair what can be repaired safely.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Check every memory, not a sample.")] = False,
    after: Annotated[str, typer.Option("--after", help="With --full: continue after this memory id.")] = "",
) -> None:
    """Check every store for faults and show how to repair each; exit code 10 while any remains."""
    from biem.bootstrap import admin
    from biem.bootstrap.check_settings import unknown_settings
    from biem.bootstrap.env_file import chosen

    invocation = of(context)
    out = invocation.out
    at = after
    if after:
        parse_id(after)
    try:
        with out.progress("diagnose") as ticker:

            def looked(last: str, count: int) -> None:
                nonlocal at
                at = last
                ticker.update(count, count)

            found: Diagnosis = admin.diagnose(
                invocation.settings(), fix=fix, full=full, after=after, on_progress=looked
            )
    except KeyboardInterrupt:
        if not full or not at:
            raise
        raise Interrupted(f"interrupted; go on with: biem diagnose --full --after {at}") from None
    found = replace(found, findings=(*found.findings, *unknown_settings(chosen(invocation.env_file))))
    document = {
        "healthy": found.healthy,
        "whole": found.whole,
        "looked_at": found.looked_at,
        "findings": found.findings,
    }
    out.result(document, lambda: show_diagnosis(out, found))
    if not found.healthy:
        raise typer.Exit(PROBLEMS)


def show_diagnosis(out: Output, found: "Diagnosis") -> None:
    """Print the findings, and what was looked at."""
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
    seen = ", ".join(counted(count, _one_of(name), name) for name, count in found.looked_at.items())
    out.note(f"looked at {seen or 'nothing'}{'' if found.whole else '; a sample, --full looks at every memory'}")


def _one_of(names: str) -> str:
    """The singular of `memories`, `canvases` or `jobs`."""
    for plural, one in (("ies", "y"), ("ses", "s"), ("s", "")):
        if names.endswith(plural):
            return names.removesuffix(plural) + one
    return names


def perf(
    context: typer.Context,
    rounds: Annotated[
        int, typer.Option("--rounds", min=1, max=10_000, help="How often each operation is called.")
    ] = 50,
    recorded: Annotated[
        float,
        typer.Option("--recorded", metavar="HOURS", min=0.0, help="Instead: what was recorded in the last hours."),
    ] = 0.0,
) -> None:
    """Time each stage of remember and recall in a temporary scope, which is erased afterwards.

    With --recorded, show what all programs with BIEM_METRICS_ROWS=true recorded.
    """
    from biem.bootstrap import admin

    invocation = of(context)
    out = invocation.out
    settings = invocation.settings()
    table: list[StageTime]
    if recorded:
        table = admin.perf_recorded(settings, recorded)
    else:
        with out.progress("perf", rounds) as ticker:
            table = admin.perf(settings, rounds, lambda done: ticker.update(done, done))
    rows = [
        (time.stage, time.count, *(f"{ms:.2f}" for ms in (time.p50_ms, time.p90_ms, time.p99_ms, time.worst_ms)))
        for time in table
    ]
    headers = ("stage", "count", "P50 ms", "P90 ms", "P99 ms", "worst ms")
    out.result({"stages": table}, lambda: out.table(headers, rows, right=headers[1:]))


def backup(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="The archive to write, in one step.")],
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> None:
    """Write everything in PostgreSQL to one file, as one consistent snapshot; programs may keep running."""
    from biem.bootstrap import admin

    out = of(context).out
    if file.exists() and not force:
        raise InvalidInput(f"{file} is there already; choose another name, or replace it with --force")
    with out.progress("backup") as ticker:
        done = admin.backup(of(context).settings(), file, lambda rows: ticker.update(rows, rows))
    out.result(
        done,
        lambda: out.line(
            f"{counted(done['rows'], 'row')}, {counted(done['memories'], 'memory')}, {done['bytes']} bytes in {file}"
        ),
    )
    out.note("the file holds every memory in clear text: keep it as you keep the database")


def restore(
    context: typer.Context,
    target: Annotated[str, typer.Argument(help="A file that `biem backup` wrote.")],
    replace: Annotated[bool, typer.Option("--replace", help="Destroy what the database holds now.")] = False,
) -> None:
    """Restore a backup into an empty database and rebuild the vector index."""
    from biem.bootstrap import admin

    if _is_id(target) and not Path(target).exists():
        of(context).out.note("`biem restore ID` is now `biem unarchive ID`; this spelling will go")
        unarchive(context, target)
        return
    invocation = of(context)
    out = invocation.out
    with out.progress("restore") as ticker:
        done = admin.restore_backup(
            invocation.settings(), Path(target), replace=replace, on_progress=lambda rows: ticker.update(rows, rows)
        )
    out.result(
        done,
        lambda: out.line(f"{counted(done['memories'], 'memory')} restored, {done['indexed']} of them indexed"),
    )


def reembed(
    context: typer.Context,
    provider: Annotated[
        str, typer.Option("--provider", help="e5, use, bge, openai or ollama; default: that of the settings.")
    ] = "",
    model: Annotated[str, typer.Option("--model", help="Model name or path, for bge, openai and ollama.")] = "",
    url: Annotated[str, typer.Option("--url", help="Base URL, for openai and ollama.")] = "",
    drop_old: Annotated[
        bool, typer.Option("--drop-old", help="Destroy other models' collections and vectors.")
    ] = False,
) -> None:
    """Move all memories to another embedder. Running programs continue and switch when all are moved.

    After an interruption, the same command resumes.
    """
    from pydantic import ValidationError

    from biem.bootstrap import admin
    from biem.config import faults_of

    invocation = of(context)
    out = invocation.out
    settings = invocation.settings()
    wished = {name: value for name, value in (("provider", provider), ("model", model), ("url", url)) if value}
    try:
        chosen = type(settings.embedder)(**(settings.embedder.model_dump() | wished))  # validated like the environment
    except ValidationError as error:
        raise ConfigError(faults_of(error, lambda place: f"--{place[0]}: ")) from None
    settings = settings.model_copy(update={"embedder": chosen})
    with out.progress("reembed") as ticker:
        done = admin.reembed(settings, drop_old=drop_old, on_progress=lambda count: ticker.update(count, count))
    out.result(done, lambda: out.line(", ".join(f"{count} {name.replace('_', ' ')}" for name, count in done.items())))


def _is_id(text: str) -> bool:
    try:
        id_part(text)
    except InvalidInput:
        return False
    return True


def sleep(
    context: typer.Context,
    timeout_s: Annotated[float, typer.Option("--timeout-s", min=0, help="Seconds to wait for indexing.")] = 600.0,
) -> None:
    """Run all background jobs of the scope now and report them. They also run automatically."""
    out = of(context).out
    with of(context).memory() as memory, out.progress("asleep") as ticker:
        done: list[Span] = []

        def heard(span: Span) -> None:
            if span.name == "biem.sleep.job":
                done.append(span)
                ticker.update(len(done), len(done))

        memory.flush(timeout_s)  # jobs skip memories that are not indexed yet
        memory.telemetry.attach(heard)
        report = memory.sleep()
        memory.flush(timeout_s)
    out.result(plain(report) | {"changed": report.changed}, lambda: _show_report(out, report))
    failed = [job for job in report.failed if job.reason != _BUSY]
    for job in failed:
        out.note(f"{job.name} did not run to its end: {job.reason}")
    if failed:
        raise typer.Exit(exit_code_of(failed[0]))


def exit_code_of(job: "JobReport") -> int:
    """Exit code of the error that stopped a job."""
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


def reindex(context: typer.Context) -> None:
    """Rebuild analyses, vectors and their index from the texts in PostgreSQL, for all scopes."""
    out = of(context).out
    with of(context).memory() as memory, out.progress("reindex") as ticker:
        count = memory.reindex(on_progress=lambda done: ticker.update(done, done))
    out.result({"reindexed": count}, lambda: out.line(f"{counted(count, 'memory')} indexed again"))


def migrate(context: typer.Context) -> None:
    """Migrate the database schema to this version."""
    from biem.bootstrap import migrate as migrate_schema

    invocation = of(context)
    names: list[str] = migrate_schema(invocation.settings())
    out = invocation.out
    out.result({"applied": names}, lambda: out.line("\n".join(names) or "nothing to do: the schema is current"))
