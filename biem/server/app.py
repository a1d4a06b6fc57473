"""The ASGI application of `biem serve` and `biem web`: `/v1`, MCP under `/mcp`, hooks, health, and the page.

Importing it opens nothing; what `opened` gives is opened when a server starts the application, and closed at its end.
"""

from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from importlib.metadata import version
from typing import Any

from anyio.to_thread import current_default_thread_limiter, run_sync
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import Route

from biem.errors import BiemError
from biem.server import hooks, page, problems
from biem.server.administration import ABOUT, administration_router
from biem.server.backend import ServerBackend
from biem.server.health_and_metrics import health_router
from biem.server.items import items_router
from biem.server.keys import keys_router
from biem.server.local_access import LocalAccess
from biem.server.mcp.mounted import PATH as MCP_PATH
from biem.server.mcp.mounted import McpEndpoint
from biem.server.memories import memories_router
from biem.server.notes import NoteFolders, notes_router
from biem.server.openapi import described
from biem.server.request_gate import RequestGate
from biem.server.routes import calls_router
from biem.server.transfer import UPLOADS, transfer_router

FREE = ("/health", "/ready", "/openapi.json", *page.PATHS)
"""Paths that need no key."""


def build(
    opened: Callable[[], AbstractContextManager[ServerBackend]],
    hosts: Collection[str] = (),
    *,
    folders: Sequence[str] = (),
    local: Callable[[], LocalAccess] | None = None,
) -> FastAPI:
    """The application; `opened` is entered when a server starts it and left when it ends.

    `hosts` are the names that a Host header may have; without any, requests from this machine name this machine.
    `folders` are the patterns of `NoteFolders`. With `local`, which is asked then, too, no request needs a key of its
    own. Raises `ConfigError` for a wrong pattern.
    """

    mcp, opened_folders = McpEndpoint(), NoteFolders(folders)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.local = None if local is None else local()
        context = opened()
        backend = await run_sync(context.__enter__)
        app.state.backend = backend
        app.state.folders = opened_folders
        current_default_thread_limiter().total_tokens = backend.threads
        try:
            async with mcp.running():
                yield
        finally:
            await run_sync(context.__exit__, None, None, None)

    app = FastAPI(
        title="biem",
        version=version("biem"),
        description="Long-term memory for LLM agents.",
        docs_url=None,  # its pages load scripts of others
        redoc_url=None,
        lifespan=lifespan,
        middleware=[
            Middleware(
                RequestGate,
                free=FREE,
                unnamed=(ABOUT,),
                uploads=UPLOADS,
                deadlines={hooks.PATH: hooks.DEADLINE_S},
                hosts=hosts,
            )
        ],
        exception_handlers={
            BiemError: problems.of_ours,
            HTTPException: problems.of_http,
            RequestValidationError: problems.of_validation,
            Exception: problems.unexpected,
        },
    )
    for made in (
        memories_router,
        items_router,
        notes_router,
        transfer_router,
        administration_router,
        health_router,
        keys_router,
        hooks.hooks_router,
        calls_router,
    ):
        app.include_router(made())
    app.router.routes.append(Route(MCP_PATH, mcp, methods=["POST"]))
    app.router.routes.extend(page.routes())
    found: dict[str, Any] = {}

    def openapi() -> dict[str, Any]:
        if not found:
            found.update(described(FastAPI.openapi(app)))
        return found

    app.openapi = openapi  # type: ignore[method-assign]
    return app
