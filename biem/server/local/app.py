"""The ASGI application: `uvicorn biem.server.local.app:app --port 8765`, or `biem web`.

Importing it opens nothing; it opens the configured memory when a server starts it, and closes it at the end.
"""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from importlib.resources import files

from anyio.to_thread import run_sync
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from biem import bootstrap
from biem.bootstrap.check_settings import warn_of_misspelt
from biem.bootstrap.env_file import chosen
from biem.bootstrap.health import health
from biem.config import load_settings
from biem.domain.diagnosis import Health
from biem.domain.scope import Scope
from biem.errors import BiemError
from biem.memory import Memory
from biem.server.local import answers, api
from biem.server.local.guard import Guard

_PAGE = {
    "/": ("index.html", "text/html"),
    "/style.css": ("style.css", "text/css"),
    **{f"/{name}": (name, "text/javascript") for name in ("api.js", "app.js", "graph.js")},
}
_READS = (api.memories, api.graph, api.facts, api.conflicts, api.stats)


@dataclass(frozen=True, slots=True)
class Shown:
    """The memory and token of a running server."""

    memory: Memory
    health: Callable[[], Health]
    token: str
    """Required of every request; empty: requests from this machine only."""


def build(opened: Callable[[], AbstractContextManager[Shown]]) -> Starlette:
    """The application; `opened` is entered when a server starts it and left when it ends."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        context = opened()
        shown = await run_sync(context.__enter__)
        app.state.memory, app.state.health, app.state.token = shown.memory, shown.health, shown.token
        try:
            yield
        finally:
            await run_sync(context.__exit__, None, None, None)

    return Starlette(
        routes=[
            *(Route(address, _file(*file)) for address, file in _PAGE.items()),
            *(Route(f"/api/{read.__name__}", read) for read in _READS),
            Route("/health", api.health),
        ],
        middleware=[Middleware(Guard, free=_PAGE.keys())],
        exception_handlers={
            BiemError: answers.of_ours,
            HTTPException: answers.of_http,
            Exception: answers.unexpected,
        },
        lifespan=lifespan,
    )


def _file(name: str, media_type: str) -> Callable[[Request], Response]:
    content = files(__package__).joinpath("page", name).read_bytes()

    def send(_: Request) -> Response:
        return Response(content, media_type=media_type)

    return send


@contextmanager
def configured() -> Iterator[Shown]:
    """The memory configured by the environment and its env file; this process runs no jobs."""
    env_file = chosen()
    settings = load_settings(env_file).model_copy(update={"queue": "none", "close_timeout_s": 0.0})
    warn_of_misspelt(env_file)
    scope = Scope(settings.tenant, settings.user, settings.project)
    with bootstrap.connect_late(settings, scope) as memory:
        yield Shown(memory, lambda: health(settings), settings.web_token.get_secret_value())


app = build(configured)
