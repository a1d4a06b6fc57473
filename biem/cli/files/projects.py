"""`biem project`: which folder opens which project."""

from pathlib import Path
from typing import Annotated

import typer

from biem.cli.session import NO_WORKER, of

app = typer.Typer(help="Projects: the folders whose memories are kept apart from all others.")
Folder = Annotated[Path, typer.Argument(metavar="FOLDER")]


@app.command("show")
def show(context: typer.Context, folder: Folder = Path()) -> None:
    """Print the key of a folder's project, for --project."""
    session = of(context)
    session.changes |= NO_WORKER
    with session.memory() as memory:
        key = memory.projects.open(folder)
    session.out.result({"key": key}, lambda: session.out.line(key))


@app.command("link")
def link(context: typer.Context, folder: Folder, key: Annotated[str, typer.Argument(metavar="KEY")]) -> None:
    """Let a folder read and write the memories of a project that another folder has."""
    session = of(context)
    session.changes |= NO_WORKER
    with session.memory() as memory:
        project = memory.projects.link(folder, key)
    session.out.result(project, lambda: session.out.line(f"{folder} opens {project.key}"))


@app.command("list")
def listed(context: typer.Context) -> None:
    """List the projects of the user with their folders."""
    session = of(context)
    session.changes |= NO_WORKER
    with session.memory() as memory:
        found = memory.projects.list()
    rows = [(project.key, project.name, host, root) for project in found for host, root in project.roots or [("", "")]]
    session.out.result({"projects": found}, lambda: session.out.table(("key", "name", "host", "folder"), rows))


@app.command("rename")
def rename(
    context: typer.Context,
    key: Annotated[str, typer.Argument(metavar="KEY")],
    name: Annotated[str, typer.Argument(metavar="NAME")],
) -> None:
    """Change the name that is shown; the key stays."""
    session = of(context)
    session.changes |= NO_WORKER
    with session.memory() as memory:
        memory.projects.rename(key, name)
    session.out.result({"key": key, "name": name}, lambda: session.out.line(f"{key} is shown as {name}"))
