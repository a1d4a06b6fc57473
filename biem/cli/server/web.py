"""`biem web`: a read-only web page of a memory."""

import socket
from contextlib import nullcontext
from typing import Annotated

import typer

from biem.cli.session import NO_WORKER, of
from biem.errors import ConfigError, MissingExtra

HOST = "127.0.0.1"
PORT = 8765


def web(
    context: typer.Context,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = PORT,
    host: Annotated[str, typer.Option(help="Address to listen on; addresses of other machines need a token.")] = HOST,
) -> None:
    """Show tiers, graph, facts and conflicts in a browser until Ctrl-C; changes nothing.

    With BIEM_WEB_TOKEN, access needs the token; without, only this machine has access.
    """
    try:
        import uvicorn

        from biem.server.local import app as site
    except ModuleNotFoundError as error:
        if error.name not in ("starlette", "uvicorn"):
            raise
        raise MissingExtra("the web page needs starlette and uvicorn; run: pip install 'biem[web]'") from error
    from biem.bootstrap.health import health
    from biem.server.local.guard import is_loopback

    session = of(context)
    session.changes |= NO_WORKER
    settings = session.settings()
    token = settings.web_token.get_secret_value()
    if not token and not is_loopback(host):
        raise ConfigError(f"others could read every memory at {host}; set BIEM_WEB_TOKEN, or listen on {HOST}")
    with listening(host, port) as listener, session.memory() as memory:
        shown = site.Shown(memory, lambda: health(settings), token)
        config = uvicorn.Config(
            site.build(lambda: nullcontext(shown)),
            ws="none",
            lifespan="on",
            access_log=session.out.verbose,
            log_level="info" if session.out.verbose else "warning",
            server_header=False,
            proxy_headers=False,
        )
        session.out.note(f"http://{f'[{host}]' if ':' in host else host}:{port} (Ctrl-C ends it)")
        uvicorn.Server(config).run([listener])


def listening(host: str, port: int) -> socket.socket:
    """A listening socket; opened before anything else, since this fails most often."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise ConfigError(f"cannot listen on port {port} of {host} ({error.strerror}); give another --port") from error
