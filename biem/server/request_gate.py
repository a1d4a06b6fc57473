"""Middleware before every route: checks the API key, the rate limit, the request's origin, and the size of its body."""

import logging
import math
from collections.abc import Collection, Mapping
from urllib.parse import unquote, urlsplit

import anyio
from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from biem.domain.access.allowance import Allowance
from biem.domain.access.key import ApiKey
from biem.errors import AccessDenied, BiemError, InvalidInput, KeyInvalid, RateLimited, StoreUnavailable
from biem.server.backend import ServerBackend
from biem.server.caller import Caller
from biem.server.json_response import Json
from biem.server.local_access import LocalAccess, is_loopback, name_of, names_this_machine
from biem.server.problems import problem_of, slug
from biem.server.request_body import read_body, replayed
from biem.server.security_headers import SECURITY_HEADERS

logger = logging.getLogger("biem.server")

_CHECKS = 2
"""Keys that are looked up at a time."""
_LONGEST_TOKEN = 128
_ANYONE = "default"
"""Stands for the user where none is asked for."""


class RequestGate:
    """Middleware. `free` are the paths that need no key; `unnamed` those of no scope, for which a key that is open for
    every user names none; `uploads` those whose body the route itself reads; `deadlines`
    say how many seconds a path may wait for its key, and its answer is an empty document when that cannot be looked up;
    `hosts` are the names under which the server is asked.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        free: Collection[str],
        unnamed: Collection[str],
        uploads: Collection[str],
        deadlines: Mapping[str, float],
        hosts: Collection[str] = (),
    ) -> None:
        self._app = app
        self._hosts = frozenset(host.lower() for host in hosts)
        self._deadlines = deadlines
        self._free = free
        self._unnamed = unnamed
        self._uploads = uploads
        self._checks: CapacityLimiter | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer with the error."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        allowed: Allowance | None = None

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(SECURITY_HEADERS)
                if allowed is not None:
                    headers["RateLimit-Policy"] = f'"key";q={allowed.limit};w=60'
                    headers["RateLimit"] = f'"key";r={allowed.remaining};t={math.ceil(allowed.reset_s)}'
            await send(message)

        headers = Headers(scope=scope)
        backend: ServerBackend = scope["app"].state.backend
        local: LocalAccess | None = scope["app"].state.local
        key: ApiKey | None = None
        try:
            _require_same_origin(headers)
            is_free = scope["path"] in self._free
            if local is not None:
                local.require(scope, free=is_free)
            if not is_free:
                if local is None:
                    self._require_own_name(scope, headers.get("host", ""))
                    key, allowed = await self._in_time(backend, headers, self._deadlines.get(scope["path"]))
                else:
                    key = local.key
                if allowed is not None and allowed.is_used_up:
                    raise RateLimited("this key made too many requests; wait", allowed.retry_s)
                user = _named(headers, "biem-user")
                if user is None and key.user is None and scope["path"] in self._unnamed:
                    user = _ANYONE
                named = key.scope(user, _named(headers, "biem-project"))
                scope.setdefault("state", {})["caller"] = Caller(key, named, backend)
            if scope["path"] not in self._uploads:
                body = await read_body(headers, receive, backend.body_bytes)
                if body is None:  # the client is gone
                    return
                receive = replayed(body, receive)
        except BiemError as error:
            who = key.id if key else "no key"
            logger.warning("%s %r refused for %s: %s", scope["method"], scope["path"], who, slug(type(error)))
            # A memory that is down holds up no agent.
            is_open = scope["path"] in self._deadlines and isinstance(error, StoreUnavailable)
            await (Json({}) if is_open else problem_of(error))(scope, receive, send_guarded)
            return
        await self._app(scope, receive, send_guarded)

    def _require_own_name(self, scope: Scope, host: str) -> None:
        """A name of another site that leads to this machine's address makes its pages no pages of this server."""
        client = scope.get("client")
        here = client is not None and is_loopback(client[0])
        if name_of(host) in self._hosts or (here and names_this_machine(host)) or not (here or self._hosts):
            return
        raise AccessDenied("this server is not asked under this name; pass it with biem serve --trusted-host NAME")

    async def _in_time(
        self, backend: ServerBackend, headers: Headers, deadline_s: float | None
    ) -> tuple[ApiKey, Allowance | None]:
        """Raises `StoreUnavailable` at the deadline; the look-up goes on behind it."""
        with anyio.move_on_after(deadline_s):
            return await self._admitted(backend, headers)
        raise StoreUnavailable("the key could not be looked up in time")

    async def _admitted(self, backend: ServerBackend, headers: Headers) -> tuple[ApiKey, Allowance | None]:
        token = _token(headers)
        key = backend.keys.cached(token)
        if key is not None and not backend.limit.per_minute:
            return key, None
        if self._checks is None:
            self._checks = CapacityLimiter(_CHECKS)

        def check() -> tuple[ApiKey, Allowance | None]:
            found = backend.keys.verify(token) if key is None else key
            return found, backend.limit.take(found.id)

        return await run_sync(check, abandon_on_cancel=True, limiter=self._checks)


def _token(headers: Headers) -> str:
    kind, _, token = headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer" or not 0 < len(token) <= _LONGEST_TOKEN:
        raise KeyInvalid("a key is needed: send it as Authorization: Bearer biem_…")
    return token.strip()


def _named(headers: Headers, name: str) -> str | None:
    """A name that a header states, in percent-encoded UTF-8."""
    given = headers.get(name)
    if given is None:
        return None
    try:
        return unquote(given, errors="strict")
    except UnicodeDecodeError:
        raise InvalidInput(f"the header {name} is not percent-encoded UTF-8") from None


def _require_same_origin(headers: Headers) -> None:
    """Pages of other sites cannot call this server from a browser."""
    origin = headers.get("origin")
    try:
        is_own = origin is None or urlsplit(origin).netloc == headers.get("host")
    except ValueError:  # half an address
        is_own = False
    if not is_own:
        raise AccessDenied("a page of another origin may not call this server")
