"""Routes of single memories that are more than arguments: idempotent posts, revisions as entity tags."""

import re
from typing import Annotated, Any

from fastapi import APIRouter, Body, Header, Query
from pydantic import BaseModel, ConfigDict, Discriminator, Field
from pydantic import Tag as PydanticTag
from starlette.requests import Request
from starlette.responses import Response

from biem.client.calls import call_of
from biem.client.wire import Stored, encoded
from biem.domain.node import Node
from biem.errors import InvalidInput, RefConflict, RevisionConflict
from biem.server.caller import caller_of
from biem.server.problems import IdempotencyKeyReused, RevisionMismatch
from biem.server.routes import Id, add_call, memory_for, model_of, query_model, respond, sent

_MOST_ITEMS = 1_000
_REMEMBER, _GET, _REVISE = call_of("memory", "remember"), call_of("memory", "get"), call_of("memory", "revise")
_CONFLICTS = call_of("memory", "conflicts")
NewMemory = model_of("NewMemory", [each for name, each in _REMEMBER.parameters.items() if name != "wait"], strict=True)
_One = model_of("OneMemory", _REMEMBER.parameters.values(), strict=True)
_Changes = model_of(
    "MemoryChanges",
    [each for name, each in _REVISE.parameters.items() if name not in ("memory_id", "expect")],
    strict=True,
)
_Conflicts = query_model(_CONFLICTS)
_ENTITY_TAG = re.compile(r'(?:W/)?"(\d{1,9})"')


Tag = Annotated[str | None, Header(description="the revision read, as the ETag of the memory has it")]
Once = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=500,
        description="becomes the `ref` of the memory, or `KEY#1`, `KEY#2` … of several without one",
    ),
]


class _Many(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, title="ManyMemories", hide_input_in_errors=True)

    items: list[NewMemory] = Field(min_length=1, max_length=_MOST_ITEMS)  # type: ignore[valid-type]
    wait: bool = False


def _form(body: object) -> str:
    """The form that a body is meant to have: only faults of that form are named."""
    return "ManyMemories" if isinstance(body, dict) and "items" in body else "OneMemory"


def memories_router() -> APIRouter:
    """Posting, reading and changing memories."""
    router = APIRouter()
    add_call(router, _REMEMBER, remember, status_code=201)
    add_call(router, _GET, get)
    add_call(router, _REVISE, revise)
    add_call(router, _CONFLICTS, conflicts)
    return router


def remember(
    request: Request,
    body: Annotated[
        Annotated[_One, PydanticTag("OneMemory")] | Annotated[_Many, PydanticTag("ManyMemories")],  # type: ignore[valid-type]
        Discriminator(_form),
        Body(),
    ],
    once: Once = None,
) -> Response:
    """Store one text, or `items`, up to a thousand; answers the ids once they are durable.

    The next recall finds them. With an `Idempotency-Key` the call can be repeated: it stores nothing twice, and with
    another text it answers 422; a `ref` in the body that names another text, 409.
    """
    memory = caller_of(request).memory("write")
    key = None if once is None else once.strip('"')
    if key == "":
        raise InvalidInput("the Idempotency-Key is empty; send a name of the call, or none")
    given: Any = body
    try:
        if isinstance(given, _Many):
            items = [
                _with_ref(sent({"item": item}), None if key is None else f"{key}#{place}")
                for place, item in enumerate(given.items, 1)
            ]
            ids = memory.remember_many(items, wait=given.wait)
        else:
            ids = [memory.remember(**_with_ref(sent({"body": given}), key))]
    except RefConflict as error:
        if key is None:
            raise
        raise IdempotencyKeyReused(f"this Idempotency-Key was used for another text ({error})") from error
    headers = {"Location": f"/v1/memories/{ids[0]}"} if len(ids) == 1 else {}
    content = encoded(Stored, Stored(ids=tuple(ids)))
    return Response(content, 201, headers=headers, media_type="application/json")


def _with_ref(item: dict[str, Any], key: str | None) -> dict[str, Any]:
    """The arguments of one memory; its `ref`, if it has one, is kept."""
    return {**item, "ref": key} if key is not None and item.get("ref") is None else item


def get(request: Request, memory_id: Id) -> Response:
    """One memory of the scope. `ETag` is its revision, for `If-Match`."""
    node = caller_of(request).memory().get(memory_id)
    return respond(request, _GET, node, {}, headers=_tag(node))


def revise(
    request: Request,
    memory_id: Id,
    body: _Changes,  # type: ignore[valid-type]
    if_match: Tag = None,
) -> Response:
    """Change a memory under its id; omitted values stay, and the former values are kept as a revision.

    With `If-Match` it fails with 412 if another revision was made since.
    """
    expect = None if if_match is None else _revision(if_match)
    try:
        node = memory_for(request, _REVISE).revise(memory_id, **sent({"body": body}), expect=expect)
    except RevisionConflict as error:
        raise RevisionMismatch(str(error)) from error
    return respond(request, _REVISE, node, {}, headers=_tag(node))


def _revision(tag: str) -> int:
    found = _ENTITY_TAG.fullmatch(tag)
    if found is None:
        raise InvalidInput('If-Match must be the revision that was read, in quotes, such as "3"; the ETag has it')
    return int(found[1])


def conflicts(request: Request, query: Annotated[_Conflicts, Query()]) -> Response:  # type: ignore[valid-type]
    """Memories that contradict, update or repeat each other, newest first: pending ones, of a `status`, or all."""
    arguments = sent({"query": query})
    if arguments.get("status") == "all":
        arguments["status"] = None
    found = caller_of(request).memory().conflicts(**arguments)
    return respond(request, _CONFLICTS, found, arguments)


def _tag(node: Node) -> dict[str, str]:
    return {"ETag": f'"{node.revision}"'}
