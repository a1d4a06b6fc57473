"""`biem health`: a health check for probes and people."""

import typer

from biem.cli.invocation import of
from biem.errors import SchemaOutdated, StoreUnavailable


def health(context: typer.Context) -> None:
    """Check whether every server answers; starts none. Exit code 0 while memories can be stored and recalled.

    6 when PostgreSQL does not answer, 5 when its schema is of another version. Without Redis or Milvus recall still
    works: 0, and `degraded` names them.
    """
    from biem.bootstrap import health as servers

    invocation = of(context)
    out = invocation.out
    found = servers.health(invocation.settings())
    document = {
        "ready": found.ready,
        "degraded": found.degraded,
        "servers": {name: why or "ok" for name, why in found.servers.items()},
        "schema": found.schema or ("ok" if found.ready else "unknown"),
    }
    rows = [(name, "down" if why else "ok", why) for name, why in found.servers.items()]
    rows += [("schema", "down", found.schema)] if found.schema else []
    out.result(document, lambda: out.table(("part", "state", "why"), rows))
    without = f", without {' and '.join(found.degraded)}" if found.degraded else ""
    out.note(f"ready{without}" if found.ready else "not ready")
    if not found.ready:
        raise typer.Exit((SchemaOutdated if found.schema else StoreUnavailable).exit_code)
