"""Connections of the HTTP server: a client that sends no whole request does not keep one."""

import asyncio
from typing import TYPE_CHECKING

from uvicorn.protocols.http.auto import AutoHTTPProtocol

if TYPE_CHECKING:
    from uvicorn.protocols.http.h11_impl import H11Protocol as HttpProtocol
else:
    HttpProtocol = AutoHTTPProtocol

HEAD_TIMEOUT_S = 30.0
"""How long the head of a request may take; each connection that waits for one occupies a file descriptor."""


class BoundedConnection(HttpProtocol):
    """Closes after `HEAD_TIMEOUT_S`, at the latest after twice as long, without the whole head of a request.

    uvicorn bounds the time between requests only while nothing arrives, and after the first request; the gate bounds
    the body.
    """

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begins to watch it."""
        super().connection_made(transport)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Ends it."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def _watch(self) -> None:
        self._timer = self.loop.call_later(HEAD_TIMEOUT_S, self._look, self.cycle)

    def _look(self, before: object) -> None:
        """`before`: the last request whose head had arrived when it was looked at before."""
        is_waiting = self.cycle is None or self.cycle.response_complete
        if is_waiting and self.cycle is before:
            self.transport.close()
        else:
            self._watch()
