"""`biem local`: the embedded servers, for other programs."""

import shlex
from typing import Annotated

import typer

from biem.cli.invocation import of
from biem.cli.output import plain
from biem.errors import StoreUnavailable

app = typer.Typer(help="The embedded servers: PostgreSQL, Valkey and Milvus Lite.")


@app.command("up")
def up(
    context: typer.Context,
    indexer: Annotated[
        bool,
        typer.Option("--indexer/--no-indexer", help="Also run a process that indexes the memories of other programs."),
    ] = True,
) -> None:
    """Start the servers and leave them running; prints settings to connect to them: eval "$(biem local up)"."""
    from biem.bootstrap import indexer as indexers
    from biem.bootstrap import local_up

    out = of(context).out
    settings = of(context).settings()
    servers = local_up(settings)
    if indexer:
        indexers.start(settings)
    urls = {
        "BIEM_POSTGRES_DSN": servers.postgres_dsn,
        "BIEM_REDIS_URL": servers.redis_url,
        "BIEM_MILVUS_URI": servers.milvus_uri,
    }
    out.result(urls, lambda: out.line("\n".join(f"export {name}={shlex.quote(url)}" for name, url in urls.items())))
    out.note("running until: biem local down")


@app.command("status")
def status(context: typer.Context) -> None:
    """Show which servers run; starts nothing."""
    from biem.bootstrap import local_indexer, local_status

    out = of(context).out
    found = local_status(of(context).settings())
    rows = [(server.name, server.pid or "-", "ready" if server.ready else "down") for server in found.servers]
    indexer: int | None = local_indexer(of(context).settings())
    if indexer is not None:
        rows.append(("indexer", indexer, "runs"))
    document = {**plain(found), "indexer": indexer}
    out.result(document, lambda: out.table(("server", "pid", "state"), rows))
    if found.reason:
        out.note(found.reason)


@app.command("down")
def down(context: typer.Context) -> None:
    """Stop the servers and their indexer, even if programs use them."""
    from biem.bootstrap import local_down

    out = of(context).out
    if not local_down(of(context).settings()):
        raise StoreUnavailable("the embedded servers did not stop in time; run the same command again")
    out.result({"stopped": True}, lambda: out.line("stopped"))
