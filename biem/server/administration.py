"""Routes about the server and the scope as a whole."""

from collections.abc import Mapping
from importlib.metadata import version
from typing import Annotated

from fastapi import APIRouter, Body
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from biem.client.calls import COMMANDS_AT_HOME, call_of
from biem.client.wire import AboutServer, encoded
from biem.errors import AccessDenied
from biem.server.caller import Caller, caller_of
from biem.server.routes import add_call, body_model, memory_for, respond, sent

_SCOPES, _STATS, _FLUSH, _COMMAND = (call_of("memory", name) for name in ("scopes", "stats", "flush", "command"))
_CommandBody = body_model(_COMMAND)
ABOUT = "/v1/about"
_LONGEST_FLUSH_S = 30.0
_OTHERS = ("all_", "backlog", "collection")
"""Statistics that are left out: those of other scopes, and internal ones."""


class Flushing(BaseModel):
    """How long to wait."""

    model_config = ConfigDict(extra="forbid", strict=True)

    timeout_s: float = Field(_LONGEST_FLUSH_S, ge=0, le=_LONGEST_FLUSH_S)


def administration_router() -> APIRouter:
    """The server itself and the scope as a whole."""
    router = APIRouter()
    add_call(router, _SCOPES, scopes)
    add_call(router, _STATS, stats)
    add_call(router, _FLUSH, flush)
    add_call(router, _COMMAND, command)
    router.add_api_route(ABOUT, about, methods=["GET"], tags=["server"], response_model=AboutServer)
    return router


def about(request: Request) -> Response:
    """The server's version and embedder, and what the caller's key is bound to."""
    caller = caller_of(request)
    memory, key = caller.backend.memory, caller.key  # nothing of a scope is read: no grant is needed
    info = memory.embedder
    document = AboutServer(
        version=version("biem"),
        embedder=info.id,
        dimension=info.dim,
        languages=info.languages,
        max_tokens=info.max_tokens,
        layout=memory.layout,
        tenant=key.tenant,
        user=key.user,
        project=key.project,
        grants=key.grants,
    )
    return Response(encoded(AboutServer, document), media_type="application/json")


def scopes(request: Request) -> Response:
    """The scopes of the user that the key is open for, if they are not empty."""
    caller = caller_of(request)
    found = [each for each in caller.memory().scopes() if caller.key.admits(each.scope)]
    return respond(request, _SCOPES, found, {})


def stats(request: Request) -> Response:
    """Counts of the scope, and the embedder in use."""
    return respond(request, _STATS, counts_of_scope(caller_of(request)), {})


def counts_of_scope(caller: Caller) -> Mapping[str, int | str]:
    """The statistics of the caller's scope, without those of others and internal ones."""
    return {name: value for name, value in caller.memory().stats().items() if not name.startswith(_OTHERS)}


def flush(request: Request, body: Annotated[Flushing, Body()] = Flushing()) -> Response:  # noqa: B008
    """Wait until nothing of the scope is pending; `changed` is false after `timeout_s`."""
    done = caller_of(request).memory().flush(body.timeout_s)
    return respond(request, _FLUSH, done, {})


def command(request: Request, body: _CommandBody) -> Response:  # type: ignore[valid-type]
    """The answer to a line of a chat loop that is a command; null for any other line.

    These are `/memory stats|search QUERY|core|recent|maintenance`, `/new`, and `/session status|list|restore ID`.
    """
    arguments = sent({"body": body})
    match arguments["text"].split():
        case ["/memory", word, *_] if word in COMMANDS_AT_HOME:
            raise AccessDenied(f"/memory {word} concerns the server's machine, and works there only")
    return respond(request, _COMMAND, memory_for(request, _COMMAND).command(**arguments), arguments)
