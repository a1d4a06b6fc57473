"""`biem connect`: enters the memory into the configuration of a program that speaks MCP."""

import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from biem.cli.server.host_files import Host, HostEntry, entered, file_of, removed, shown, written
from biem.cli.session import Session, of
from biem.errors import InvalidInput, NotFound


def connect(
    context: typer.Context,
    host: Annotated[Host, typer.Argument(help="The program.")],
    show: Annotated[bool, typer.Option("--print", help="Show what would be entered, and where. The default.")] = False,
    write: Annotated[
        bool, typer.Option("--write", help="Enter it; a copy of the former file stays next to it.")
    ] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Take it out again.")] = False,
    url: Annotated[
        str, typer.Option(help="Address of a running `biem serve`; without it the program starts biem.")
    ] = "",
    name: Annotated[str, typer.Option(help="Name of the server there.")] = "biem",
    path: Annotated[Path | None, typer.Option(help="The configuration file, if it is not at its usual place.")] = None,
) -> None:
    """Connect claude-code, claude-desktop, cursor, vscode, codex or opencode with this memory.

    The scope is the one of --tenant, --user and --project, or with --url that of the key, which the program takes from
    the variable BIEM_KEY. Everything else in the file stays as it is.
    """
    if sum((show, write, remove)) > 1:
        raise InvalidInput("choose one of --print, --write and --remove")
    session = of(context)
    file = file_of(host) if path is None else path
    entry = HostEntry(name, _command(session), url.rstrip("/"))
    if remove:
        if not removed(host, file, entry):
            raise NotFound(f"{file} has no server {name!r}")
        session.out.result({"removed": str(file)}, lambda: session.out.line(f"removed from {file}"))
    elif write:
        kept = written(file, entered(host, file, entry))
        session.out.result(
            {"written": str(file), "backup": None if kept is None else str(kept)},
            lambda: session.out.line(f"written to {file}" + (f"; the former file is {kept}" if kept else "")),
        )
    else:
        text = shown(host, entry)
        session.out.result({"file": str(file), "entry": text}, lambda: session.out.line(text.rstrip()))
        session.out.note(f"for {file}")
    if url and not remove:
        session.out.note("set BIEM_KEY to a key of that server (biem keys add) where the program runs")


def _command(session: Session) -> tuple[str, ...]:
    """The command that the program starts: this biem, with the chosen scope."""
    options = {
        "--env-file": session.env_file.absolute() if session.env_file else None,
        "--home": session.home.absolute() if session.home else None,
        "--tenant": session.tenant,
        "--user": session.user,
        "--project": session.project,
    }
    given = [part for name, value in options.items() if value is not None for part in (name, str(value))]
    installed = Path(sys.executable).with_name("biem")
    program = str(installed) if installed.exists() else shutil.which("biem") or "biem"
    return (program, *given, "mcp")
