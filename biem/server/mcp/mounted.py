"""The MCP server under `/mcp` of `biem serve`, where the gate has let the caller in."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import Receive, Scope, Send

from biem.memory import Memory
from biem.server.caller import Caller
from biem.server.mcp.tools import build

PATH = "/mcp"


class McpEndpoint:
    """An ASGI application for POST. Each request stands alone, so that any process of any machine can answer it.

    A GET would open a stream on which nothing ever comes.
    """

    def __init__(self) -> None:
        self._caller: ContextVar[Caller] = ContextVar("biem_mcp_caller")
        self._manager: StreamableHTTPSessionManager | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        assert self._manager is not None
        await self._manager.handle_request(scope, receive, send)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Entered while the application serves."""
        server = build(self._memory, middleware=[self._calling])
        server.streamable_http_app(
            json_response=True,
            stateless_http=True,
            # A key is needed, and the gate refuses pages of other origins.
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        self._manager = server.session_manager
        async with self._manager.run():
            yield

    async def _calling(self, context: ServerRequestContext[Any, Any], call: Callable[[Any], Awaitable[Any]]) -> Any:
        if context.request is not None:
            self._caller.set(context.request.state.caller)
        return await call(context)

    def _memory(self, grant: str) -> Memory:
        return self._caller.get().memory(grant)
