"""`biem mirror`: memories as Markdown files."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from biem.cli.invocation import NO_WORKER, of
from biem.cli.output import Interrupted
from biem.domain.text import counted
from biem.domain.transfer import ON_CONFLICT
from biem.errors import StoreUnavailable

if TYPE_CHECKING:
    from biem.cli.output import Output
    from biem.domain.mirror.root import MirrorReport, MirrorStatus

TROUBLED = 10
"""Exit code of `status` and `sync` where a person has to look at files."""
_NEEDS_A_PERSON = {"broken", "held", "refused"}

app = typer.Typer(help="Memories as Markdown files that people read, edit and commit. Off until a folder is added.")
Mirror = Annotated[Path, typer.Argument(metavar="FOLDER", help="A folder that `biem mirror status` lists.")]
MaybeFolder = Annotated[
    Path | None, typer.Argument(metavar="FOLDER", help="Default: all folders of the scope on this machine.")
]


@app.command("add")
def add(
    context: typer.Context,
    folder: Annotated[
        Path | None, typer.Argument(metavar="FOLDER", help="Folder for the files; default: ~/.aimate/memory.")
    ] = None,
) -> None:
    """Mirror the scope in a folder, which is created."""
    invocation = of(context)
    invocation.changes |= NO_WORKER
    with invocation.memory() as memory:
        root = memory.mirror.add(folder)
    invocation.out.result(root, lambda: invocation.out.line(f"{root.path} mirrors {root.scope}"))
    if not root.adopted and root.kind == "project":
        invocation.out.note("files that are there already become memories only after `biem mirror adopt`")


@app.command("remove")
def remove(context: typer.Context, folder: Mirror) -> None:
    """Mirror no longer in a folder; its files stay."""
    invocation = of(context)
    invocation.changes |= NO_WORKER
    with invocation.memory() as memory:
        memory.mirror.remove(folder)
    invocation.out.result({"removed": str(folder)}, lambda: invocation.out.line(f"{folder} is no mirror any more"))


@app.command("status")
def status(context: typer.Context) -> None:
    """Show the folders of the scope and files that need a person; exits with 10 if there are any."""
    invocation = of(context)
    invocation.changes |= NO_WORKER
    with invocation.memory() as memory:
        found = memory.mirror.status()
    invocation.out.result({"roots": found}, lambda: _show(invocation.out, found))
    if not found:
        invocation.out.note("no folders; `biem mirror add FOLDER` makes one")
    if any(each.troubled for each in found):
        raise typer.Exit(TROUBLED)


@app.command("sync")
def sync(
    context: typer.Context,
    folder: MaybeFolder = None,
    full: Annotated[bool, typer.Option("--full", help="Read every file, also those that look unchanged.")] = False,
    accept_deletions: Annotated[
        bool, typer.Option("--accept-deletions", help="Archive memories also where most files are missing.")
    ] = False,
) -> None:
    """Make files and memories say the same; exits with 10 if a file needs a person, with 6 if a folder cannot be read
    or another process is syncing it.
    """
    invocation = of(context)
    invocation.changes |= NO_WORKER
    out = invocation.out
    try:
        with invocation.memory() as memory, out.progress("read") as ticker:

            def progress(done: int, every: int) -> None:
                ticker.total = every
                ticker.update(done, done)

            reports = memory.mirror.sync(folder, full=full, accept_deletions=accept_deletions, on_progress=progress)
            found = memory.mirror.status()
    except KeyboardInterrupt:
        raise Interrupted("what was synced so far is stored; the same command goes on from there") from None
    _tell(out, reports, found)


@app.command("watch")
def watch(context: typer.Context) -> None:
    """Take in changed files, and write changed memories, until Ctrl-C."""
    from biem.cli.notes import ended_by

    invocation = of(context)
    invocation.changes |= NO_WORKER
    out, stopped, told = invocation.out, threading.Event(), dict[str, str]()

    def tell(report: "MirrorReport") -> None:
        """One line for each sync that changed anything or has something new to say."""
        said = f"{report.reason}, {report.troubled} troubled" if report.reason or report.troubled else ""
        if report.altered or told.get(report.root, "") != said:
            out.note(_line(report))
        told[report.root] = said

    with invocation.memory() as memory, ended_by(stopped):
        for root in memory.mirror.roots():
            out.note(f"watching {root.path}")
        memory.mirror.watch(stopped, tell)
    out.note("stopped; what was synced is stored")


@app.command("adopt")
def adopt(context: typer.Context, folder: MaybeFolder = None) -> None:
    """Take in files of a project's folder that biem did not write, from now on."""
    invocation = of(context)
    invocation.changes |= NO_WORKER
    with invocation.memory() as memory:
        report = memory.mirror.adopt(folder)
    _tell(invocation.out, [report], [])


@app.command("export")
def export(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder to write, which must not exist yet.")],
    force: Annotated[bool, typer.Option("--force", help="Replace the folder if it exists.")] = False,
) -> None:
    """Write all memories of the scope into a new folder, one file each."""
    invocation = of(context)
    invocation.changes |= NO_WORKER
    with invocation.memory() as memory, invocation.out.progress("export") as ticker:
        report = memory.mirror.export(folder, overwrite=force, on_progress=lambda done: ticker.update(done, done))
    invocation.out.result(
        report,
        lambda: invocation.out.line(f"{counted(report.memories, 'memory')} written to {report.path}"),
    )


@app.command("import")
def import_folder(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="What `biem mirror export` wrote.")],
    on_conflict: Annotated[
        str,
        typer.Option(
            "--on-conflict", help=f"Where a memory differs from the one that is there: {' or '.join(ON_CONFLICT)}."
        ),
    ] = "error",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check everything, store nothing.")] = False,
) -> None:
    """Add the memories of a folder that `biem mirror export` wrote."""
    invocation = of(context)
    invocation.changes |= NO_WORKER
    with invocation.memory() as memory, invocation.out.progress("import") as ticker:
        report = memory.mirror.import_folder(
            folder, on_conflict=on_conflict, dry_run=dry_run, on_progress=lambda done: ticker.update(done, done)
        )
    said = f"{counted(report.created, 'memory')} added, {report.already_there} already there, {report.skipped} left out"
    invocation.out.result(report, lambda: invocation.out.line(said))


def unfinished(reports: Sequence["MirrorReport"], found: Sequence["MirrorStatus"]) -> int:
    """The exit code of a sync, from what it did and what `status` says after it; 0 if nothing is left to be done.

    A file that could not be read by an earlier sync is not read again before it changes, and still needs a person.
    """
    synced = {each.root for each in reports}
    left = [state for each in found if each.root.path in synced for _, state, _ in each.troubled]
    if any(each.busy or (each.reason and not each.held) for each in reports):
        return StoreUnavailable.exit_code
    return TROUBLED if any(each.troubled or each.held for each in reports) or _NEEDS_A_PERSON & {*left} else 0


def _tell(out: "Output", reports: Sequence["MirrorReport"], found: Sequence["MirrorStatus"]) -> None:
    out.result({"roots": reports}, lambda: out.line("\n".join(map(_line, reports))) if reports else None)
    if not reports:
        out.note("no folders on this machine; `biem mirror add FOLDER` makes one")
    code = unfinished(reports, found)
    if code == TROUBLED:
        out.note("`biem mirror status` names the files that need you")
    if code:
        raise typer.Exit(code)


def _line(report: "MirrorReport") -> str:
    names = (
        "written", "taken", "revised", "archived", "restored", "moved", "removed", "sessions", "strangers", "troubled",
    )  # fmt: skip
    parts = [counted(report.files, "file"), *(f"{count} {name}" for name in names if (count := report.counts[name]))]
    said = f"{report.root}: {', '.join(parts)}"
    return f"{said}\n{report.reason}" if report.reason else said


def _show(out: "Output", found: "list[MirrorStatus]") -> None:
    for each in found:
        out.line(f"{each.root.path}  {each.root.scope}", "bold")
        facts = {f"files {state}": count for state, count in sorted(each.files.items())}
        out.pairs({"state": each.root.state, "host": each.root.host, **facts, "memories to be written": each.waiting})
        for path, state, reason in each.troubled:
            out.line(f"  {path}: {state}: {reason}", "dim")
