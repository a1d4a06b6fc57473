"""Routes made of the table of calls (`biem.client.calls`): arguments in, the facade's method, its result out."""

import inspect
import json
from collections.abc import Callable, Iterable
from functools import cache
from typing import Annotated, Any, get_args, get_origin
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Path, Query
from pydantic import AfterValidator, BaseModel, ConfigDict, WithJsonSchema, create_model
from starlette.requests import Request
from starlette.responses import Response

from biem.client.calls import CALLS, HOLDERS, Call
from biem.client.parameters import Parameter
from biem.client.wire import encoded
from biem.domain.graph_part import GraphPart
from biem.domain.paging import Page
from biem.memory import Memory
from biem.server.caller import caller_of

_DEFAULT_LIMITS = {"facts": 100, "conflicts": 100, "messages": 0}


def _json_object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ValueError('a JSON object is needed, such as {"project": "x"}')
    return found


JsonObject = Annotated[
    str, AfterValidator(_json_object), WithJsonSchema({"type": "string", "contentMediaType": "application/json"})
]
"""Conditions on metadata in a query."""
Id = Annotated[str, Path(json_schema_extra={"format": "uuid"})]


def calls_router() -> APIRouter:
    """All calls of the table whose answer is their result alone."""
    router = APIRouter()
    for call in CALLS:
        if not call.special:
            add_call(router, call, answer_of(call))
    return router


def add_call(router: APIRouter, call: Call, answer: Callable[..., Any], **more: Any) -> None:
    """One route, described by the docstring of its handler."""
    text = inspect.getdoc(answer) or ""
    router.add_api_route(
        call.path,
        answer,
        methods=[call.verb],
        operation_id=f"{call.holder}_{call.name}",
        tags=[call.holder],
        summary=call.name,
        description=text,
        **{"response_model": call.returns, **more},
    )


def memory_for(request: Request, call: Call) -> Memory:
    """The caller's memory, if the key is granted what the call needs. Raises `AccessDenied`."""
    caller = caller_of(request)
    if call.shows:
        caller.key.require("read")
    return caller.memory(call.grant)


def answer_of(call: Call) -> Callable[..., Response]:
    """The handler of a call: its signature is what FastAPI reads the request by."""

    def answer(request: Request, **given: Any) -> Response:
        arguments = sent(given)
        memory = memory_for(request, call)
        holder = memory if call.holder == "memory" else getattr(memory, call.holder)
        return respond(request, call, getattr(holder, call.name)(**arguments), arguments)

    answer.__signature__ = inspect.Signature(list(_taken(call)))  # type: ignore[attr-defined]
    answer.__doc__ = inspect.getdoc(getattr(HOLDERS[call.holder], call.name))
    return answer


def _taken(call: Call) -> Iterable[inspect.Parameter]:
    keyword = inspect.Parameter.KEYWORD_ONLY
    yield inspect.Parameter("request", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Request)
    for name in call.in_path:
        yield inspect.Parameter(name, keyword, annotation=Id if name.endswith("_id") else str)
    rest = [each for name, each in call.parameters.items() if name not in call.in_path]
    if not rest:
        return
    if not call.has_body:
        yield inspect.Parameter("query", keyword, annotation=Annotated[query_model(call), Query()])
        return
    model = body_model(call)
    if any(each.required for each in rest):
        yield inspect.Parameter("body", keyword, annotation=model)
    else:
        yield inspect.Parameter("body", keyword, annotation=model | None, default=None)


def sent(given: dict[str, Any]) -> dict[str, Any]:
    """The arguments that a request states, by name; what it leaves out has the facade's own default."""
    arguments: dict[str, Any] = {}
    for name, value in given.items():
        if isinstance(value, BaseModel):
            arguments |= {field: getattr(value, field) for field in value.model_fields_set}
        elif name not in ("query", "body"):
            arguments[name] = value
    return arguments


@cache
def body_model(call: Call) -> type[BaseModel]:
    """The JSON body of a call; nothing in it is converted, and nothing unknown is admitted."""
    return model_of(f"{title_of(call)}Body", _rest(call), strict=True)


@cache
def query_model(call: Call, without: tuple[str, ...] = ()) -> type[BaseModel]:
    """The query of a call, `without` some of its parameters."""
    rest = [each for each in _rest(call) if each.name not in without]
    fields = [Parameter(each.name, _in_query(each.kind), each.required) for each in rest]
    return model_of(f"{title_of(call)}Query", fields, strict=False)


def _rest(call: Call) -> list[Parameter]:
    return [each for name, each in call.parameters.items() if name not in call.in_path]


def model_of(name: str, fields: Iterable[Parameter], *, strict: bool) -> type[BaseModel]:
    """A model whose fields are these parameters."""
    config = ConfigDict(extra="forbid", strict=strict, hide_input_in_errors=True)
    given: dict[str, Any] = {each.name: (each.kind, ... if each.required else None) for each in fields}
    return create_model(name, __config__=config, **given)


def title_of(call: Call) -> str:
    """A name for the models of a call."""
    return f"{call.holder}_{call.name}".title().replace("_", "")


def _in_query(kind: Any) -> Any:
    """A query has no null and no objects: leave out a condition instead."""
    parts = [part for part in get_args(kind) if part is not type(None)]
    if type(None) in get_args(kind) and len(parts) == 1:
        kind = parts[0]
    return JsonObject if get_origin(kind) is dict else kind


def respond(request: Request, call: Call, value: object, arguments: dict[str, Any], **more: Any) -> Response:
    """The result as JSON, with a link to the next page if there is one."""
    response = Response(encoded(call.returns, value), media_type="application/json", **more)
    after = _next(call, value, arguments)
    if after:
        query = [(name, each) for name, each in request.query_params.multi_items() if name != "after"]
        address = f"{quote(request.scope['path'])}?{urlencode([*query, ('after', after)])}"
        response.headers["Link"] = f'<{address}>; rel="next"'
    return response


def _next(call: Call, value: object, arguments: dict[str, Any]) -> str:
    """What `after` is on the next page; empty on the last."""
    if isinstance(value, Page | GraphPart):
        return value.next
    if call.paged and isinstance(value, list) and value:
        limit = arguments.get("limit") or _DEFAULT_LIMITS[call.name]
        return str(getattr(value[-1], call.paged)) if len(value) == limit else ""
    return ""
