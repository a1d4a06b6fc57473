"""`biem serve`: the HTTP server of a memory."""

from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from biem.cli.invocation import of
from biem.cli.output import log_to_stderr
from biem.cli.server.web import listening, run_until_signal
from biem.errors import ConfigError, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable

    import uvicorn
    from fastapi import FastAPI

HOST = "127.0.0.1"
PORT = 8766
_GRACE_S = 20


def serve(
    context: typer.Context,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0: any free one.")] = PORT,
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 in a container.")] = HOST,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Processes that answer.")] = 1,
    trusted_host: Annotated[
        list[str] | None,
        typer.Option(help="Name under which a proxy passes requests on; may be repeated. Others are refused."),
    ] = None,
    notes_root: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FOLDER",
            help="Folder in which keys may register folders of notes; {tenant}, {user} and {project} stand for the "
            "scope of the key. May be repeated. Default: none.",
        ),
    ] = None,
) -> None:
    """Serve the HTTP API until Ctrl-C. Every caller needs a key: biem keys add."""
    try:
        from uvicorn.supervisors import Multiprocess

        from biem.server.app import build
        from biem.server.notes import NoteFolders
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("fastapi", "starlette", "uvicorn", "mcp", "mcp_types"):
            raise
        raise MissingExtra("the server needs fastapi, uvicorn and mcp; run: pip install 'biem[server]'") from error

    from biem.bootstrap.server import open_backend, usable

    invocation = of(context)
    settings, hosts = invocation.settings(), tuple(trusted_host or ())
    folders = NoteFolders(notes_root or ()).patterns
    if workers > 1 and settings.metrics_port:
        raise ConfigError(
            "BIEM_METRICS_PORT is the port of one process: use --workers 1 and more containers, or unset it"
        )
    with listening(host, port) as listener:
        address = f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]} (Ctrl-C ends it)"
        if workers > 1:
            with usable(settings):  # an error is reported here, once
                invocation.out.note(address)
                changes = invocation.changes | ({"home": invocation.home} if invocation.home else {})
                verbose = invocation.out.verbose
                made = partial(application, invocation.env_file, changes, hosts, folders, verbose=verbose)
                config = _config(made, verbose=verbose, workers=workers)
                Multiprocess(config, sockets=[listener]).run()
            return
        with open_backend(settings, embedder=invocation.embedder) as backend:
            invocation.out.note(address)
            app = build(lambda: nullcontext(backend), hosts, folders=folders)
            run_until_signal(_config(lambda: app, verbose=invocation.out.verbose, workers=1), listener)


def _config(make: "Callable[[], FastAPI]", *, verbose: bool, workers: int) -> "uvicorn.Config":
    import uvicorn

    from biem.server.connections import BoundedConnection

    return uvicorn.Config(
        make,
        factory=True,
        http=BoundedConnection,
        workers=workers,
        ws="none",
        lifespan="on",
        access_log=verbose,
        log_level="info" if verbose else "warning",
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=_GRACE_S,
    )


def application(
    env_file: Path | None,
    changes: dict[str, Any],
    hosts: tuple[str, ...] = (),
    folders: tuple[str, ...] = (),
    *,
    verbose: bool = False,
) -> "FastAPI":
    """The application of one process, on the configured memory."""
    from biem.bootstrap.env_file import chosen
    from biem.bootstrap.server import open_backend
    from biem.config import load_settings
    from biem.server.app import build

    log_to_stderr(verbose=verbose)
    settings = load_settings(chosen(env_file)).model_copy(update=changes)
    return build(lambda: open_backend(settings), hosts, folders=folders)
