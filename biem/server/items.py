"""Routes of `memory.items`: namespaces and keys, which may be any text, stand in the body of a POST."""

from typing import Annotated, Any

from fastapi import APIRouter, Body
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from biem.client.calls import call_of
from biem.client.parameters import Duration
from biem.domain.items.item import ItemDraft
from biem.server.caller import caller_of
from biem.server.routes import add_call, respond, sent

_MOST = 1_000
_PUT, _GET, _DELETE, _SEARCH, _NAMESPACES = (
    call_of("items", name) for name in ("put_many", "get_many", "delete_many", "search", "namespaces_meeting")
)
Labels = Annotated[list[str], Field(description='labels without a ".", such as ["users", "ann"]')]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)


class ItemKey(_Strict):
    """Where an item is."""

    namespace: Labels
    key: str


class ItemToPut(ItemKey):
    """An item to write: see `Items.put`."""

    value: dict[str, Any]
    text: str | None = Field(None, description="what queries find it by; by default what the value says")
    ttl: Duration | None = None
    origin: str = "assistant"


class ItemsToPut(_Strict):
    """Items to write in one transaction."""

    items: list[ItemToPut] = Field(min_length=1, max_length=_MOST)


class ItemsToDelete(_Strict):
    """Items to remove in one transaction."""

    keys: list[ItemKey] = Field(min_length=1, max_length=_MOST)


class ItemsToGet(ItemsToDelete):
    """Items to read; `refresh`: their time to live starts again."""

    refresh: bool = True


class ItemSearch(_Strict):
    """A search: see `Items.search`."""

    prefix: Labels = Field(default_factory=list)
    query: str = ""
    where: dict[str, Any] | None = None
    limit: int = Field(10, ge=0)
    offset: int = Field(0, ge=0)
    refresh: bool = True


class LabelCondition(_Strict):
    """Labels, `*` for any one, that a namespace begins with, or ends with."""

    labels: Labels
    at_end: bool = False


class NamespaceSearch(_Strict):
    """Conditions, all of which a namespace meets; `max_depth` cuts longer ones."""

    conditions: list[LabelCondition] = Field(default_factory=list, max_length=_MOST)
    max_depth: int | None = Field(None, ge=1)
    limit: int = Field(100, ge=0)
    offset: int = Field(0, ge=0)


def items_router() -> APIRouter:
    """Writing, reading, removing and finding items."""
    router = APIRouter()
    add_call(router, _PUT, put)
    add_call(router, _GET, get)
    add_call(router, _DELETE, delete)
    add_call(router, _SEARCH, search)
    add_call(router, _NAMESPACES, namespaces)
    return router


def put(request: Request, body: ItemsToPut) -> Response:
    """Write items, all or none; of two with the same key the last one counts. Answers them as they are now."""
    drafts = [ItemDraft(**sent({"body": item})) for item in body.items]
    return respond(request, _PUT, caller_of(request).memory(_PUT.grant).items.put_many(drafts), {})


def get(request: Request, body: ItemsToGet) -> Response:
    """The items of some keys, in order; null where there is none."""
    found = caller_of(request).memory(_GET.grant).items.get_many(_keys(body), refresh=body.refresh)
    return respond(request, _GET, found, {})


def delete(request: Request, body: ItemsToDelete) -> Response:
    """Remove items, all or none, with their memories; answers how many were there."""
    return respond(request, _DELETE, caller_of(request).memory(_DELETE.grant).items.delete_many(_keys(body)), {})


def search(request: Request, body: Annotated[ItemSearch | None, Body()] = None) -> Response:
    """Items below a namespace whose values meet `where`; with a `query` the most relevant first."""
    found = caller_of(request).memory(_SEARCH.grant).items.search(**sent({"body": body}))
    return respond(request, _SEARCH, found, {})


def namespaces(request: Request, body: NamespaceSearch) -> Response:
    """Namespaces that have items, in the order of their labels."""
    conditions = [(each.labels, each.at_end) for each in body.conditions]
    found = (
        caller_of(request)
        .memory(_NAMESPACES.grant)
        .items.namespaces_meeting(conditions, body.max_depth, body.limit, body.offset)
    )
    return respond(request, _NAMESPACES, found, {})


def _keys(body: ItemsToDelete) -> list[tuple[list[str], str]]:
    return [(each.namespace, each.key) for each in body.keys]
