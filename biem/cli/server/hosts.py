"""`biem connect`: enters the memory into the configuration of a program that speaks MCP."""

import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from biem.cli.invocation import Invocation, of
from biem.cli.server.host_files import Host, HostEntry, entered, file_of, removed, shown, written
from biem.errors import InvalidInput, NotFound


def connect(
    context: typer.Context,
    host: Annotated[Host, typer.Argument(help="The program to connect.")],
    show: Annotated[bool, typer.Option("--print", help="Show what would be entered, and where. The default.")] = False,
    write: Annotated[
        bool, typer.Option("--write", help="Enter it; a copy of the former file stays next to it.")
    ] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Take it out again.")] = False,
    url: Annotated[
        str, typer.Option(help="Address of a running `biem serve`; without it the program starts biem.")
    ] = "",
    name: Annotated[str, typer.Option(help="Name of the entry there.")] = "biem",
    path: Annotated[Path | None, typer.Option(help="The configuration file, if it is not at its usual place.")] = None,
) -> None:
    """Connect claude-code, claude-desktop, cursor, vscode, codex or opencode with this memory.

    The scope is the one of --tenant, --user and --project, or with --url that of the key, which the program takes from
    the variable BIEM_KEY. Everything else in the file stays as it is.
    """
    if sum((show, write, remove)) > 1:
        raise InvalidInput("choose one of --print, --write and --remove")
    invocation = of(context)
    named = [part for part in ("tenant", "user", "project") if getattr(invocation, part) is not None]
    if url and named and host is not Host.CLAUDE_DESKTOP and not remove:  # the entry has no place for a scope
        raise InvalidInput(
            f"with --url the scope is that of the key: leave --{named[0]} out, and make the key with it (biem keys add)"
        )
    file = file_of(host) if path is None else path
    entry = HostEntry(name, _command(invocation), url.rstrip("/"))
    if remove:
        if not removed(host, file, entry):
            raise NotFound(f"{file} has no server {name!r}")
        invocation.out.result({"removed": str(file)}, lambda: invocation.out.line(f"removed from {file}"))
    elif write:
        kept = written(file, entered(host, file, entry))
        invocation.out.result(
            {"written": str(file), "backup": None if kept is None else str(kept)},
            lambda: invocation.out.line(f"written to {file}" + (f"; the former file is {kept}" if kept else "")),
        )
    else:
        text = shown(host, entry)
        invocation.out.result({"file": str(file), "entry": text}, lambda: invocation.out.line(text.rstrip()))
        invocation.out.note(f"for {file}")
    if url and not remove:
        invocation.out.note("set BIEM_KEY to a key of that server (biem keys add) where the program runs")


def _command(invocation: Invocation) -> tuple[str, ...]:
    """The command that the program starts: this biem, with the chosen scope."""
    options = {
        "--env-file": invocation.env_file.absolute() if invocation.env_file else None,
        "--home": invocation.home.absolute() if invocation.home else None,
        "--tenant": invocation.tenant,
        "--user": invocation.user,
        "--project": invocation.project,
    }
    given = [part for name, value in options.items() if value is not None for part in (name, str(value))]
    installed = Path(sys.executable).with_name("biem")
    program = str(installed) if installed.exists() else shutil.which("biem") or "biem"
    return (program, *given, "mcp")
