"""Access control: a token or, without one, requests from this machine only.

Runs before every response of the application, on any server and address. Without a token, a request must come from this
machine and name it in its Host header, which prevents DNS rebinding.
"""

import ipaddress
import secrets
from collections.abc import Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from biem.server.local.answers import HEADERS, refusal


class Guard:
    """Middleware around the application. The token is `app.state.token`, set once the application has started.

    `free` are the paths of the page itself, which contains no memory and asks for the token.
    """

    def __init__(self, app: ASGIApp, free: Collection[str]) -> None:
        self._app = app
        self._free = free

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass or refuse the request, and add the security headers in both cases."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        why = self._refused(scope, scope["app"].state.token)
        answer = self._app if why is None else refusal(*why)
        await answer(scope, receive, send_guarded)

    def _refused(self, scope: Scope, token: str) -> tuple[int, str] | None:
        """Status and reason of a refusal; None if the request may pass."""
        headers = Headers(scope=scope)
        if not token:
            client = scope.get("client")
            if client and is_loopback(client[0]) and names_this_machine(headers.get("host", "")):
                return None
            return 403, "without a token this server accepts requests from its own machine only; set BIEM_WEB_TOKEN"
        given = headers.get("authorization", "")
        if scope["path"] in self._free or secrets.compare_digest(given.encode("latin-1"), f"Bearer {token}".encode()):
            return None
        return 401, "a token is needed; send it as Authorization: Bearer …"


def is_loopback(host: str) -> bool:
    """Whether an address or name is reachable from this machine only."""
    if host == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def names_this_machine(host: str) -> bool:
    """Whether a Host header is localhost or a loopback address, with any port."""
    return is_loopback(name_of(host))


def name_of(host: str) -> str:
    """The name in a Host header, without the port and in lower case."""
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    return name.lower()
