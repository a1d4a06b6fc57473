"""`biem keys`: who may reach the server."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from biem.cli.invocation import of
from biem.cli.output import plain, shown_time

if TYPE_CHECKING:
    from biem.domain.access.key import ApiKey

app = typer.Typer(help="Keys of the HTTP server: who may reach which scope, and what they may do there.")
Grants = Annotated[
    list[str] | None,
    typer.Option("--grant", help="read, write, erase or admin; may be repeated. Default: read and write."),
]


@app.command("add")
def add(
    context: typer.Context,
    grants: Grants = None,
    any_user: Annotated[
        bool, typer.Option("--any-user", help="For every user of the tenant, and all projects: calls name one.")
    ] = False,
    any_project: Annotated[
        bool, typer.Option("--any-project", help="For every project of the user: calls name one.")
    ] = False,
    days: Annotated[float | None, typer.Option(min=0, help="Days until it expires; left out: never.")] = None,
    name: Annotated[str, typer.Option(help="A name by which people know the key.")] = "",
) -> None:
    """Make a key for the scope of --tenant, --user and --project; its token is shown once."""
    from biem.bootstrap.server import open_keys

    invocation = of(context)
    settings = invocation.settings()
    scope = invocation.scope(settings)
    ends = None if days is None else datetime.now(UTC) + timedelta(days=days)  # noqa: TID251
    with open_keys(settings) as keys:
        made = keys.add(
            scope.tenant,
            None if any_user else scope.user,
            None if any_project or any_user else scope.project,
            grants or ["read", "write"],
            name=name,
            expires_at=ends,
        )
    document = {**plain(made.key), "token": made.token}
    invocation.out.result(document, lambda: invocation.out.line(made.token))
    invocation.out.note(f"key {made.key.id} for {_bound(made.key)}; this token is not shown again")


@app.command("list")
def list_keys(context: typer.Context) -> None:
    """List the keys of the tenant, without their tokens."""
    from biem.bootstrap.server import open_keys

    invocation = of(context)
    settings = invocation.settings()
    with open_keys(settings) as keys:
        found = keys.list(invocation.scope(settings).tenant)
    headers = ("id", "name", "bound to", "grants", "made", "expires", "used", "revoked")
    rows = [(key.id, key.name, _bound(key), " ".join(key.grants), *_times(key)) for key in found]
    invocation.out.result(list(found), lambda: invocation.out.table(headers, rows))
    if not found:
        tenant = invocation.scope(settings).tenant
        invocation.out.note(f"no keys of tenant {tenant}; make one with `biem keys add`, or name another --tenant")


@app.command("revoke")
def revoke(
    context: typer.Context,
    key_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the key, as `biem keys list` shows it.")],
) -> None:
    """End a key, on every server within a second."""
    from biem.bootstrap.server import open_keys

    invocation = of(context)
    settings = invocation.settings()
    with open_keys(settings) as keys:
        done = keys.revoke(invocation.scope(settings).tenant, key_id)
    invocation.out.result(
        {"revoked": done}, lambda: invocation.out.line("revoked" if done else "it was revoked before")
    )


def _times(key: "ApiKey") -> list[str]:
    found = (key.created_at, key.expires_at, key.last_used_at, key.revoked_at)
    return [shown_time(at) if at else "-" for at in found]


def _bound(key: "ApiKey") -> str:
    user = "any user" if key.user is None else key.user
    project = "any project" if key.project is None else key.project
    return "/".join(part for part in (key.tenant, user, project) if part)
