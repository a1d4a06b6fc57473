"""`biem project`: which folder opens which project."""

from pathlib import Path
from typing import Annotated

import typer

from biem.cli.invocation import NO_WORKER, of

app = typer.Typer(help="Projects: the folders whose memories are kept apart from all others.")
Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="A folder of the project.")]
Key = Annotated[str, typer.Argument(metavar="KEY", help="Key of a project, as `biem project list` shows it.")]


@app.command("show")
def show(context: typer.Context, folder: Folder = Path()) -> None:
    """Print the key of a folder's project, for --project."""
    invocation = of(context)
    invocation.changes |= NO_WORKER
    with invocation.memory() as memory:
        key = memory.projects.open(folder)
    invocation.out.result({"key": key}, lambda: invocation.out.line(key))


@app.command("link")
def link(context: typer.Context, folder: Folder, key: Key) -> None:
    """Let a folder read and write the memories of a project that another folder has."""
    invocation = of(context)
    invocation.changes |= NO_WORKER
    with invocation.memory() as memory:
        project = memory.projects.link(folder, key)
    invocation.out.result(project, lambda: invocation.out.line(f"{folder} opens {project.key}"))


@app.command("list")
def listed(context: typer.Context) -> None:
    """List the projects of the user with their folders."""
    invocation = of(context)
    invocation.changes |= NO_WORKER
    with invocation.memory() as memory:
        found = memory.projects.list()
    rows = [(project.key, project.name, host, root) for project in found for host, root in project.roots or [("", "")]]
    invocation.out.result({"projects": found}, lambda: invocation.out.table(("key", "name", "host", "folder"), rows))
    if not found:
        invocation.out.note("no projects; `biem project link FOLDER KEY` makes one")


@app.command("rename")
def rename(
    context: typer.Context,
    key: Key,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The new name.")],
) -> None:
    """Change the name that is shown; the key stays."""
    invocation = of(context)
    invocation.changes |= NO_WORKER
    with invocation.memory() as memory:
        memory.projects.rename(key, name)
    invocation.out.result({"key": key, "name": name}, lambda: invocation.out.line(f"{key} is shown as {name}"))
