"""`biem notes`: folders of Markdown files that are searched together with memories."""

import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from biem.cli.invocation import NO_WORKER, of
from biem.cli.output import SHOWN_CHARS, Interrupted, Output, on_one_line, shown_time
from biem.domain.text import MOST_LISTED, counted, one_line
from biem.errors import InvalidInput, StoreUnavailable

if TYPE_CHECKING:
    from biem.domain.note import NoteFinding
    from biem.domain.notes.library import LibraryStats, NoteHits, NotePassage, ScanReport, SyncReport

FINDINGS = 10
"""Exit code of `lint` with findings."""
HELD = 10
"""Exit code of `sync` where a person has to say whether files were deleted."""

_WHOLE_CITATION = 100_000
"""Characters of a text of which a tenth are enough for any citation."""

app = typer.Typer(help="Folders of Markdown files, searched together with memories. Files are only read.")
Library = Annotated[str | None, typer.Argument(metavar="LIBRARY", help="Name of a library; default: all of the scope.")]


@app.command("add")
def add(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder of Markdown files.")],
    name: Annotated[str, typer.Option("--name", help="Name of the library; default: that of the folder.")] = "",
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            "--exclude", metavar="GLOB", help="Files to leave out, as in .gitignore; may be given several times."
        ),
    ] = None,
    any_host: Annotated[
        bool, typer.Option("--any-host", help="Every machine has this folder, as a shared mount.")
    ] = False,
) -> None:
    """Register a folder; `biem notes sync` reads it."""
    invocation = of(context)
    invocation.changes |= NO_WORKER
    with invocation.memory() as memory:
        library = memory.notes.add(folder, name=name, exclude=exclude or (), any_host=any_host)
    invocation.out.result(library, lambda: invocation.out.line(f"library {library.name}: {library.root}"))


@app.command("sync")
def sync(
    context: typer.Context,
    library: Library = None,
    full: Annotated[bool, typer.Option("--full", help="Read every file, also those that look unchanged.")] = False,
    accept_deletions: Annotated[
        bool, typer.Option("--accept-deletions", help="Delete notes also where most files are missing.")
    ] = False,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until everything is indexed.")] = True,
) -> None:
    """Read what changed in the files, and index it; exits with 6 if a library cannot be read or notes are not indexed,
    else with 10 if deletions wait for `--accept-deletions`. All other libraries are read and indexed.
    """
    invocation = of(context)
    invocation.changes |= NO_WORKER
    out = invocation.out
    try:
        with invocation.memory() as memory, out.progress("read") as ticker:

            def progress(step: str, done: int, every: int) -> None:
                ticker.enter(step, every)
                ticker.update(done, done)

            report = memory.notes.sync(
                library, full=full, accept_deletions=accept_deletions, wait=wait, on_progress=progress
            )
    except KeyboardInterrupt:
        raise Interrupted("what was read and indexed so far is stored; the same command goes on from there") from None

    def show() -> None:
        for each in report.libraries:
            out.line(_scanned(each))
        if report.pending:
            out.note(f"{counted(report.pending, 'note is', 'notes are')} found by words only until indexed")
        if not report.libraries:
            out.note("no libraries; register a folder with `biem notes add FOLDER`")

    out.result(report, show)
    if code := unfinished(report, named=library is not None, wait=wait):
        raise typer.Exit(code)


@app.command("watch")
def watch(context: typer.Context) -> None:
    """Keep the index up to date with the files until Ctrl-C."""
    invocation = of(context)
    invocation.changes |= NO_WORKER
    out, stopped = invocation.out, threading.Event()
    with invocation.memory() as memory, ended_by(stopped):
        for library in memory.notes.libraries():
            out.note(f"watching {library.name}: {on_one_line(library.root)}")
        memory.notes.watch(stopped, lambda report: _tell_scan(out, report))
    out.note("stopped; what was read is stored")


@contextmanager
def ended_by(stopped: threading.Event) -> Iterator[None]:
    """Set `stopped` at Ctrl-C and where the process is asked to end; a second Ctrl-C interrupts at once."""

    def end(number: int, frame: object) -> None:  # noqa: ARG001  what a handler is given
        stopped.set()
        signal.signal(signal.SIGINT, usual[0])

    usual = [signal.signal(each, end) for each in (signal.SIGINT, signal.SIGTERM)]
    try:
        yield
    finally:
        for each, handler in zip((signal.SIGINT, signal.SIGTERM), usual, strict=True):
            signal.signal(each, handler)


@app.command("search")
def search(
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="A question or words.")],
    top_k: Annotated[int, typer.Option("--top-k", "-k", min=1, max=100, help="Maximum number of hits.")] = 5,
    library: Annotated[str | None, typer.Option("--library", help="Only in the library of this name.")] = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", help="Only with this tag; if given several times, with all of them.")
    ] = None,
    expand: Annotated[
        str | None,
        typer.Option(
            "--expand", metavar="RELATION", help="Also show what stands around each hit: siblings, parent or children."
        ),
    ] = None,
) -> None:
    """Search the notes alone."""
    invocation = of(context)
    invocation.changes |= NO_WORKER
    invocation.asks = True
    out = invocation.out
    with invocation.memory() as memory:
        hits = memory.notes.search(query, top_k=top_k, library=library, tags=tag or ())
        more = {
            hit.chunk.id: memory.notes.expand(hit, expand, query=query)  # type: ignore[arg-type]
            for hit in hits
            if expand is not None
        }
    document = {
        "hits": [{"rank": rank, "hit": hit, "more": more.get(hit.chunk.id, [])} for rank, hit in enumerate(hits, 1)],
        "confidence": hits.confidence,
        "degraded": list(hits.degraded),
    }
    out.result(document, lambda: _show_hits(out, hits, more))
    if not hits:
        out.note("nothing found")
    elif hits.confidence < invocation.settings().policies.context.notes_min_confidence:
        out.note("these notes hardly answer that: `biem context` would show none of them")
    if hits.degraded:
        out.note(f"without {', '.join(hits.degraded)}, which cannot be reached")


@app.command("show")
def show(
    context: typer.Context,
    place: Annotated[str, typer.Argument(metavar="PATH[:LINE]", help="A path, or its end; as citations name it.")],
) -> None:
    """Show a note, or the part of it that has a line."""
    invocation = of(context)
    invocation.changes |= NO_WORKER
    path, line = parted(place)
    with invocation.memory() as memory:
        page = memory.notes.get(path)
    chunks = [chunk for chunk in page.chunks if line is None or chunk.lines[0] <= line <= chunk.lines[1]]
    if line is not None and not chunks:
        before = [chunk for chunk in page.chunks if chunk.lines[0] <= line]
        chunks = before[-1:] or list(page.chunks[:1])
    out = invocation.out

    def print_page() -> None:
        out.line(on_one_line(f"{page.note.root}/{page.note.path}"), "bold")
        if page.note.reason:
            out.note(page.note.reason)
        for chunk in chunks:
            out.line(f"{chunk.lines[0]}–{chunk.lines[1]}  {' › '.join(chunk.headings)}", "dim")
            out.line(chunk.body)

    out.result({"note": page.note, "chunks": chunks}, print_page)


@app.command("lint")
def lint(
    context: typer.Context,
    target: Annotated[
        str | None,
        typer.Argument(metavar="PATH|LIBRARY", help="A file, a folder or a library; default: all libraries."),
    ] = None,
) -> None:
    """Report what makes notes hard to find; exits with 10 if it finds anything."""
    invocation = of(context)
    invocation.changes |= NO_WORKER
    with invocation.memory() as memory:
        findings = memory.notes.lint(target)
    invocation.out.result({"findings": findings}, lambda: _show_findings(invocation.out, findings))
    if findings:
        raise typer.Exit(FINDINGS)
    invocation.out.note("nothing to report")


@app.command("tags")
def tags(
    context: typer.Context,
    prefix: Annotated[str, typer.Argument(metavar="PREFIX", help="Only tags that begin so.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=MOST_LISTED, help="Maximum number of rows.")] = 100,
) -> None:
    """List tags with the number of chunks that have them."""
    invocation = of(context)
    invocation.changes |= NO_WORKER
    with invocation.memory() as memory:
        found = memory.notes.tags(prefix, limit)
    rows = [(tag.shown, tag.uses, "" if tag.root == tag.id else f"is {tag.root_shown}") for tag in found]
    invocation.out.result({"tags": found}, lambda: invocation.out.table(("tag", "chunks", ""), rows, right=("chunks",)))


@app.command("rename-tag")
def rename_tag(
    context: typer.Context,
    old: Annotated[str, typer.Argument(metavar="OLD", help="The tag as files have it.")],
    new: Annotated[str | None, typer.Argument(metavar="NEW", help="The tag that it means.")] = None,
    undo: Annotated[bool, typer.Option("--undo", help="OLD stands for itself again.")] = False,
) -> None:
    """Count a tag as another one, also where a file has it later; the files stay as they are."""
    invocation = of(context)
    invocation.changes |= NO_WORKER
    if undo == (new is not None):
        raise InvalidInput("give OLD and NEW, or OLD and --undo")
    with invocation.memory() as memory:
        memory.notes.rename_tag(old, new, undo=undo)
    done = {"tag": old, "is": old if undo else new}
    invocation.out.result(done, lambda: invocation.out.line(f"{old} counts as {done['is']}"))


@app.command("conflicts")
def conflicts(
    context: typer.Context,
    every: Annotated[bool, typer.Option("--all", help="Also those that were decided.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=MOST_LISTED, help="Maximum number of rows.")] = 100,
) -> None:
    """List facts in memory that a note contradicts or confirms."""
    invocation = of(context)
    invocation.changes |= NO_WORKER
    with invocation.memory() as memory:
        found = memory.notes.verdicts(status=None if every else "open", limit=limit)
    out = invocation.out

    def print_verdicts() -> None:
        for each in found:
            decided = "" if each.status == "open" else f" ({each.status})"
            out.line(f"{each.id}  {each.confidence:.2f}  {each.place} {each.kind}{decided}", "bold")
            out.line(f"      memory: {one_line(each.fact, SHOWN_CHARS)}")
            out.line(f"      note:   {one_line(each.sentence, SHOWN_CHARS)}")

    out.result({"verdicts": found}, print_verdicts)
    if not found:
        out.note("no note contradicts or confirms a fact; facts are compared by the background job note_verdicts")


@app.command("decide")
def decide(
    context: typer.Context,
    verdict: Annotated[str, typer.Argument(metavar="ID", help="As `biem notes conflicts` shows it.")],
    believed: Annotated[str, typer.Argument(metavar="note|memory", help="Which of the two is right.")],
) -> None:
    """Believe the note, which archives the memory, or the memory."""
    invocation = of(context)
    invocation.changes |= NO_WORKER
    with invocation.memory() as memory:
        known = memory.notes.decide(verdict, believed)
    said = (
        f"memory {known.memory_id} is archived"
        if believed == "note"
        else f"{known.place} is not held against it any more"
    )
    invocation.out.result({"verdict": known, "believed": believed}, lambda: invocation.out.line(said))


@app.command("stats")
def stats(context: typer.Context) -> None:
    """Show the libraries of the scope with counts, and files that are not searched."""
    invocation = of(context)
    invocation.changes |= NO_WORKER
    with invocation.memory() as memory:
        found = memory.notes.stats()
    invocation.out.result({"libraries": found}, lambda: _show_stats(invocation.out, found))
    if not found:
        invocation.out.note("no libraries; register a folder with `biem notes add FOLDER`")


@app.command("remove")
def remove(
    context: typer.Context,
    library: Annotated[
        str, typer.Argument(metavar="LIBRARY", help="Name of a library, as `biem notes stats` shows it.")
    ],
) -> None:
    """Forget a library; its files stay."""
    invocation = of(context)
    invocation.changes |= NO_WORKER
    with invocation.memory() as memory:
        chunks = memory.notes.remove(library)
    done = {"library": library, "chunks": chunks}
    invocation.out.result(
        done, lambda: invocation.out.line(f"library {library} is forgotten ({counted(chunks, 'chunk')})")
    )


@app.command("erase")
def erase(
    context: typer.Context,
    path: Annotated[str, typer.Argument(metavar="PATH", help="The whole path within its library.")],
) -> None:
    """Destroy the records of one note, and exclude its path; the file stays."""
    invocation = of(context)
    invocation.changes |= NO_WORKER
    with invocation.memory() as memory:
        receipt = memory.notes.erase(path)
    rows = [(count.store, count.before, count.after) for count in receipt.stores]
    invocation.out.result(receipt, lambda: invocation.out.table(("store", "before", "after"), rows))
    for file in receipt.kept_files:
        invocation.out.note(f"the file stays, delete it yourself: {on_one_line(file)}")


def parted(place: str) -> tuple[str, int | None]:
    """Path and line of `PATH[:LINE]`."""
    path, colon, line = place.rpartition(":")
    return (path, int(line)) if colon and line.isdigit() else (place, None)


def unfinished(report: "SyncReport", *, named: bool, wait: bool) -> int:
    """The exit code of a sync; 0 if it did all that it was asked for.

    A library on another machine is read there; only for a caller who names it that is a failure.
    """
    outcomes = {each.outcome for each in report.libraries}
    if outcomes & {"unreadable", "busy", *(("elsewhere",) if named else ())} or (wait and report.pending):
        return StoreUnavailable.exit_code
    return HELD if "held" in outcomes else 0


def _tell_scan(out: Output, report: "ScanReport") -> None:
    """One line for a scan that changed something, or could not."""
    if report.altered or report.reason:
        out.report(report, lambda: out.line(_scanned(report)))


def _scanned(report: "ScanReport") -> str:
    if report.reason and not report.files:
        return f"{report.library}: {report.reason}"
    counts = {name: getattr(report, name) for name in ("new", "changed", "moved", "deleted")}
    files = counted(report.files, "file") + (f" ({report.skipped} skipped)" if report.skipped else "")
    parts = [files, *(f"{count} {name}" for name, count in counts.items() if count)]
    if report.chunks_added or report.chunks_removed:
        parts.append(f"{counted(report.chunks_added, 'chunk')} added, {report.chunks_removed} removed")
    said = f"{report.library}: {', '.join(parts)}"
    return f"{said}\n{report.reason}" if report.reason else said


def _show_hits(out: Output, hits: "NoteHits", more: "dict[str, list[NotePassage]]") -> None:
    """Hits with their whole paths: a person opens them, and no prompt pays for their length."""
    from biem.domain.notes.library import cited  # other commands start without it

    for hit in hits:
        place = cited(hit.note.path, hit.chunk.lines[0], hit.chunk.headings, _WHOLE_CITATION)
        out.line(f"{hit.score:.2f}  {on_one_line(place)}", "bold")
        out.line(f"      {one_line(hit.excerpt, SHOWN_CHARS)}")
        for chunk in more.get(hit.chunk.id, []):
            out.line(f"      {chunk.lines[0]}: {one_line(chunk.body, SHOWN_CHARS)}", "dim")


def _show_findings(out: Output, findings: "Iterable[NoteFinding]") -> None:
    for found in findings:
        out.line(on_one_line(f"{found.path}:{found.line}: {found.rule}: {found.advice}"))


def _show_stats(out: Output, found: "Iterable[LibraryStats]") -> None:
    for each in found:
        library = each.library
        out.line(on_one_line(f"{library.name}  {library.root}"), "bold")
        facts = {
            "state": library.state,
            "last change found": _time(library.scanned_at),
            "files": sum(each.files.values()),
            **{f"files {state}": count for state, count in each.files.items() if count},
            "chunks": each.chunks,
            "chunks pending": each.pending_chunks,
            "tags of the scope": each.tags,
        }
        out.pairs(facts)
        for path, reason in each.troubled:
            out.line(on_one_line(f"  {path}: {reason}"), "dim")
        if each.advice:
            out.line(f"  {on_one_line(each.advice)}")


def _time(moment: datetime | None) -> str:
    return "never" if moment is None else shown_time(moment)
