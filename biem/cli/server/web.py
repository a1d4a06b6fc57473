"""`biem web`: the page of a memory, for the person at this machine."""

import errno
import signal
import socket
from contextlib import nullcontext
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from biem.cli.invocation import of
from biem.errors import ConfigError, MissingExtra

if TYPE_CHECKING:
    import uvicorn

HOST = "127.0.0.1"
PORT = 8765


def web(
    context: typer.Context,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = PORT,
    host: Annotated[str, typer.Option(help="Address to listen on; addresses of other machines need a token.")] = HOST,
) -> None:
    """Show and edit the memory of the scope in a browser, without a key, until Ctrl-C.

    With BIEM_WEB_TOKEN, access needs the token; without, only this machine has access.
    """
    try:
        import uvicorn

        from biem.server.app import build
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("fastapi", "starlette", "uvicorn", "mcp", "mcp_types"):
            raise
        raise MissingExtra("the web page needs fastapi, uvicorn and mcp; run: pip install 'biem[web]'") from error
    from biem.bootstrap.server import open_backend
    from biem.server.connections import BoundedConnection
    from biem.server.local.app import access_of
    from biem.server.local_access import is_loopback

    invocation = of(context)
    settings = invocation.settings()
    scope = invocation.scope(settings)
    access = access_of(settings, scope)
    if not access.token and not is_loopback(host):
        raise ConfigError(f"others could read every memory at {host}; set BIEM_WEB_TOKEN, or listen on {HOST}")
    with listening(host, port) as listener, open_backend(settings, embedder=invocation.embedder) as backend:
        config = uvicorn.Config(
            build(lambda: nullcontext(backend), local=lambda: access),
            http=BoundedConnection,
            ws="none",
            lifespan="on",
            access_log=invocation.out.verbose,
            log_level="info" if invocation.out.verbose else "warning",
            server_header=False,
            proxy_headers=False,
        )
        invocation.out.note(f"http://{f'[{host}]' if ':' in host else host}:{port} (Ctrl-C ends it)")
        run_until_signal(config, listener)


def run_until_signal(config: "uvicorn.Config", listener: socket.socket) -> None:
    """Serve until Ctrl-C or SIGTERM, which then have their usual effect.

    uvicorn listens to signals once its event loop turns. One that comes before would end the process between the making
    of the loop and its start, and print a warning of a coroutine that was never awaited.
    """
    import uvicorn

    server = uvicorn.Server(config)
    heard: list[int] = []

    def end(number: int, frame: FrameType | None) -> None:
        heard.append(number)
        server.handle_exit(number, frame)

    usual = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        server.run([listener])
    finally:
        for number, handler in usual.items():
            signal.signal(number, handler)
    for caught in heard:
        signal.raise_signal(caught)


def listening(host: str, port: int) -> socket.socket:
    """A listening socket; opened before anything else, since this fails most often."""
    try:
        listener = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        other = "--port" if error.errno in (errno.EADDRINUSE, errno.EACCES) else "--host, an address of this machine"
        why = (error.strerror or str(error)).split(" (while ")[0]
        raise ConfigError(f"cannot listen on port {port} of {host} ({why}); give another {other}") from error
    # Its connections inherit it. The event loop sets it on sockets that it makes itself only, and without it the end of
    # an answer waits for the other side's delayed acknowledgement, 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener
