"""Routes of API keys: listed, made and revoked, by keys with the grant `admin` and within what these may do."""

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from biem.client.parameters import Moment
from biem.client.wire import Done, encoded
from biem.domain.access.key import ApiKey, Grant
from biem.errors import AccessDenied, NotFound
from biem.server.caller import Caller, caller_of


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


def keys_router() -> APIRouter:
    """The keys of the caller's tenant."""
    router = APIRouter()
    router.add_api_route("/v1/keys", keys, methods=["GET"], tags=["keys"], response_model=list[ApiKey])
    router.add_api_route("/v1/keys", add_key, methods=["POST"], tags=["keys"], response_model=MadeKey, status_code=201)
    router.add_api_route("/v1/keys/{key_id}", revoke, methods=["DELETE"], tags=["keys"], response_model=Done)
    return router


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
