"""`biem local`: the embedded servers, for other programs."""

from typing import TYPE_CHECKING

import typer

from biem.cli.output import plain
from biem.cli.session import bootstrap, of
from biem.errors import StoreUnavailable

if TYPE_CHECKING:
    from biem.bootstrap import Servers

app = typer.Typer(help="The embedded servers: PostgreSQL, Valkey and Milvus Lite.")


@app.command("up")
def up(context: typer.Context) -> None:
    """Start the servers and leave them running; prints the settings that reach them, as an env file has them."""
    out = of(context).out
    servers: Servers = bootstrap().local_up(of(context).settings())
    urls = {
        "BIEM_POSTGRES_DSN": servers.postgres_dsn,
        "BIEM_REDIS_URL": servers.redis_url,
        "BIEM_MILVUS_URI": servers.milvus_uri,
    }
    out.result(urls, lambda: out.line("\n".join(f"{name}={url}" for name, url in urls.items())))
    out.note("running until: biem local down")


@app.command("status")
def status(context: typer.Context) -> None:
    """Show which servers run; starts nothing."""
    out = of(context).out
    found = bootstrap().local_status(of(context).settings())
    rows = [(server.name, server.pid or "-", "ready" if server.ready else "down") for server in found.servers]
    out.result(plain(found), lambda: out.table(("server", "pid", "state"), rows))
    if found.reason:
        out.note(found.reason)


@app.command("down")
def down(context: typer.Context) -> None:
    """Stop the servers, also for programs that use them now."""
    out = of(context).out
    if not bootstrap().local_down(of(context).settings()):
        raise StoreUnavailable("the embedded servers did not stop in time; run the same command again")
    out.result({"stopped": True}, lambda: out.line("stopped"))
