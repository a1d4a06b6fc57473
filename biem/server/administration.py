"""Routes about the server, the scope as a whole, and keys."""

from collections.abc import Mapping
from importlib.metadata import version
from typing import Annotated

from fastapi import APIRouter, Body
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from biem.client.calls import COMMANDS_AT_HOME, call_of
from biem.client.parameters import Moment
from biem.client.wire import AboutServer, Done, encoded
from biem.domain.access.key import ApiKey, Grant
from biem.errors import AccessDenied, NotFound
from biem.server.backend import ServerBackend
from biem.server.caller import Caller, caller_of
from biem.server.json_response import Json
from biem.server.routes import add_call, body_model, memory_for, respond, sent

_SCOPES, _STATS, _FLUSH, _COMMAND = (call_of("memory", name) for name in ("scopes", "stats", "flush", "command"))
_CommandBody = body_model(_COMMAND)
_LONGEST_FLUSH_S = 30.0
_OTHERS = ("all_", "backlog", "collection")
"""Statistics that are left out: those of other scopes, and internal ones."""


class NewKey(BaseModel):
    """A key to be made: bound as the caller's own, or closer, granted no more, and valid no longer."""

    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)

    name: str = Field("", max_length=256)
    user: str | None = Field(None, description="left out or null: as the caller's key")
    project: str | None = Field(None, description="left out or null: as the caller's key")
    grants: list[Grant] = Field(min_length=1)
    expires_at: Moment | None = Field(None, description="left out or null: as the caller's key")


class MadeKey(BaseModel):
    """A new key, with the token that is shown this once."""

    key: ApiKey
    token: str


class Flushing(BaseModel):
    """How long to wait."""

    model_config = ConfigDict(extra="forbid", strict=True)

    timeout_s: float = Field(_LONGEST_FLUSH_S, ge=0, le=_LONGEST_FLUSH_S)


class Liveness(BaseModel):
    """Whether the server takes requests."""

    alive: bool


class Readiness(BaseModel):
    """Whether memories can be stored and recalled, and what recall has to do without."""

    ready: bool
    degraded: list[str]
    servers: dict[str, str]


def administration_router() -> APIRouter:
    """The server itself, the scope as a whole, and keys."""
    router = APIRouter()
    add_call(router, _SCOPES, scopes)
    add_call(router, _STATS, stats)
    add_call(router, _FLUSH, flush)
    add_call(router, _COMMAND, command)
    for path, answer, kind in (
        ("/v1/about", about, AboutServer),
        ("/health", health, Liveness),
        ("/ready", ready, Readiness),
    ):
        router.add_api_route(path, answer, methods=["GET"], tags=["server"], response_model=kind)
    text = {200: {"description": "Counts of the scope.", "content": {"text/plain": {"schema": {"type": "string"}}}}}
    router.add_api_route(
        "/metrics",
        metrics,
        methods=["GET"],
        tags=["server"],
        response_class=Response,
        responses=text,  # type: ignore[arg-type]
    )
    router.add_api_route("/v1/keys", keys, methods=["GET"], tags=["keys"], response_model=list[ApiKey])
    router.add_api_route("/v1/keys", add_key, methods=["POST"], tags=["keys"], response_model=MadeKey, status_code=201)
    router.add_api_route("/v1/keys/{key_id}", revoke, methods=["DELETE"], tags=["keys"], response_model=Done)
    return router


def about(request: Request) -> Response:
    """The server's version and embedder, and what the caller's key is bound to."""
    caller = caller_of(request)
    memory, key = caller.memory(), caller.key
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
    return _json(AboutServer, document)


async def health() -> Response:
    """Answers as long as the process takes requests; asks no store. For liveness probes."""
    return Json({"alive": True})


def ready(request: Request) -> Response:
    """Whether memories can be stored and recalled: 200, else 503. For readiness probes; without a key."""
    backend: ServerBackend = request.app.state.backend
    found = backend.health()
    servers = {name: "down" if why else "ok" for name, why in found.servers.items()}
    document = {"ready": found.ready, "degraded": found.degraded, "servers": servers}
    return Json(document, 200 if found.ready else 503)


def metrics(request: Request) -> Response:
    """The counts of `/v1/stats` for Prometheus. What concerns the whole system is on the port BIEM_METRICS_PORT."""
    counts = _of_the_scope(caller_of(request))
    lines = [
        line
        for name, value in counts.items()
        if isinstance(value, int)
        for line in (f"# TYPE biem_scope_{name} gauge", f"biem_scope_{name} {value}")
    ]
    return Response("\n".join(lines) + "\n", media_type="text/plain; version=0.0.4")


def scopes(request: Request) -> Response:
    """The scopes of the user that the key is open for, if they are not empty."""
    caller = caller_of(request)
    found = [each for each in caller.memory().scopes() if caller.key.admits(each.scope)]
    return respond(request, _SCOPES, found, {})


def stats(request: Request) -> Response:
    """Counts of the scope, and the embedder in use."""
    return respond(request, _STATS, _of_the_scope(caller_of(request)), {})


def _of_the_scope(caller: Caller) -> Mapping[str, int | str]:
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


def keys(request: Request) -> Response:
    """The keys that are bound to no more than the caller's own and granted no more, oldest first."""
    caller = _administrator(request)
    found = [key for key in caller.backend.keys.list(caller.key.tenant) if caller.key.covers(key)]
    return _json(list[ApiKey], found)


def add_key(request: Request, body: NewKey) -> Response:
    """Make a key. Its token is in this answer, and nowhere else."""
    caller = _administrator(request)
    own = caller.key
    user = own.user if body.user is None else body.user
    project = own.project if body.project is None else body.project
    if own.user not in (None, user) or own.project not in (None, project):
        raise AccessDenied("a key is bound to no more than the key that makes it")
    for grant in body.grants:
        own.require(grant)
    expires_at = body.expires_at or own.expires_at
    if own.expires_at is not None and expires_at is not None and expires_at > own.expires_at:
        raise AccessDenied("a key is valid no longer than the key that makes it")
    made = caller.backend.keys.add(own.tenant, user, project, body.grants, name=body.name, expires_at=expires_at)
    return _json(MadeKey, MadeKey(key=made.key, token=made.token), 201)


def revoke(request: Request, key_id: str) -> Response:
    """End a key, in every process within a second; `changed` is false if it was revoked before."""
    caller = _administrator(request)
    if key_id not in {key.id for key in caller.backend.keys.list(caller.key.tenant) if caller.key.covers(key)}:
        raise NotFound("there is no such key")
    return _json(Done, Done(changed=caller.backend.keys.revoke(caller.key.tenant, key_id)))


def _administrator(request: Request) -> Caller:
    caller = caller_of(request)
    caller.key.require("admin")
    return caller


def _json(kind: object, value: object, status: int = 200) -> Response:
    return Response(encoded(kind, value), status, media_type="application/json")
