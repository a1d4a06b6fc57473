"""Errors as problem documents (RFC 9457): a stable type, whether to repeat the call, and nothing of the inside."""

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route

from biem.client.faults import place_of, words_of
from biem.errors import BiemError, KeyInvalid, NotIndexed, RateLimited, RefConflict, RevisionConflict, StoreUnavailable

MEDIA_TYPE = "application/problem+json"
TYPE = "urn:biem:problem:"
"""Before the name of an error: `urn:biem:problem:not-found`."""
_INSIDE = 500
_UNREADABLE = 400
_WRONG_METHOD = 405
_RETRY_S = 1
_TITLES = {
    400: "the request cannot be read",
    401: "a key is needed",
    403: "the key does not allow this",
    404: "there is no such thing here",
    405: "this address does not take this method",
    408: "the request did not arrive in time",
    409: "the request contradicts what is stored",
    412: "the memory is at another revision",
    413: "the request is too large",
    415: "the body is of another type",
    422: "the request is invalid",
    429: "too many requests",
    500: "unexpected error; the server's log has it",
    503: "a store of the server does not answer; try again",
    504: "indexing did not finish in time; what was sent is stored",
    507: "a store of the server is full",
}


class IdempotencyKeyReused(RefConflict):
    """The `Idempotency-Key` was used before, for another text; nothing was written."""

    http_status = 422


class RevisionMismatch(RevisionConflict):
    """The memory is not at the revision that `If-Match` names; nothing was changed."""

    http_status = 412


class BodyTooLarge(BiemError):
    """The body of the request is larger than the server takes."""

    http_status = 413


class BodyOfAnotherType(BiemError):
    """The body is a form, where the file itself is expected."""

    http_status = 415


class BodyTooSlow(BiemError):
    """The body of the request did not arrive in time."""

    http_status = 408
    retryable = True


def slug(kind: type[BaseException]) -> str:
    """The name of an error in a type: `not-found`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", kind.__name__).lower()


def problem(
    status: int,
    *,
    kind: str = "about:blank",
    detail: str = "",
    retryable: bool = False,
    headers: Mapping[str, str] | None = None,
    **more: Any,
) -> Response:
    """One document, equal for all addresses."""
    document = {
        "type": kind,
        "title": _TITLES.get(status, "the request cannot be processed"),
        "status": status,
        **({"detail": detail} if detail else {}),
        "retryable": retryable,
        **more,
    }
    # `<` is escaped: no browser reads a text of ours as a tag. ASCII carries any text, half a surrogate pair too.
    content = json.dumps(document).replace("<", "\\u003c")
    return Response(content, status, headers=dict(headers or {}), media_type=MEDIA_TYPE)


def problem_of(error: BiemError) -> Response:
    """An error that biem raised deliberately. What concerns the server itself is said in general words only."""
    status = error.http_status
    headers, more = {}, {}
    if isinstance(error, KeyInvalid):
        headers["WWW-Authenticate"] = 'Bearer realm="biem"'
    if isinstance(error, RateLimited) and error.after_s > 0:
        headers["Retry-After"] = str(math.ceil(error.after_s))
    elif error.retryable and isinstance(error, StoreUnavailable):
        headers["Retry-After"] = str(_RETRY_S)
    if isinstance(error, NotIndexed):
        more["ids"] = list(error.ids)
    detail = str(error) if status < _INSIDE else ""
    kind = TYPE + slug(type(error))
    return problem(status, kind=kind, detail=detail, retryable=error.retryable, headers=headers, **more)


async def of_ours(_: Request, error: Exception) -> Response:
    """A `BiemError`."""
    assert isinstance(error, BiemError)
    return problem_of(error)


async def of_http(request: Request, error: Exception) -> Response:
    """An unknown address or method, or a body that cannot be read."""
    status = getattr(error, "status_code", 500)
    headers = {"Allow": _allowed(request)} if status == _WRONG_METHOD else getattr(error, "headers", None)
    detail = "the body is no JSON in UTF-8, or is nested too deeply" if status == _UNREADABLE else ""
    return problem(status, detail=detail, headers=headers)


def _allowed(request: Request) -> str:
    """Every method of an address, which may have several routes."""
    found: set[str] = set()
    for route in request.app.routes:
        if isinstance(route, Route) and route.matches(request.scope)[0] is not Match.NONE:
            found |= route.methods or set()
    return ", ".join(sorted(found))


async def of_validation(request: Request, error: Exception) -> Response:
    """Arguments that the description of the API excludes; says which, and repeats none."""
    sent = {"body": getattr(error, "body", None), "query": dict(request.query_params)}
    messages: dict[str, list[str]] = {}  # a value that may have several forms has a fault by each
    for fault in getattr(error, "errors", list)():
        messages.setdefault(place_of(fault, sent), []).append(words_of(fault))
    found = [{"at": place, "message": ", or ".join(dict.fromkeys(said))} for place, said in messages.items()]
    detail = "; ".join(f"{fault['at']}: {fault['message']}" for fault in found[:3])
    return problem(422, kind=f"{TYPE}invalid-input", detail=detail, errors=found[:20])


async def unexpected(_: Request, __: Exception) -> Response:
    """An internal error: the server logs it."""
    return problem(500)
