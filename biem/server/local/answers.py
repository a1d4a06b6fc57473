"""Responses: JSON that is inert in any context, and error documents."""

from collections.abc import Mapping

import orjson
from starlette.requests import Request
from starlette.responses import Response

from biem.errors import BiemError

HEADERS = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Headers of every response: a browser runs only our own files, and caches nothing."""


class Json(Response):
    """A JSON document. `<`, which only texts can contain, is escaped: no browser reads it as a tag."""

    media_type = "application/json"

    def render(self, content: object) -> bytes:
        """The encoded document."""
        return orjson.dumps(content, default=_plain).replace(b"<", b"\\u003c")


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no JSON")


def refusal(status: int, message: str, *, kind: str = "Refused", retryable: bool = False) -> Json:
    """An error document, equal for all endpoints."""
    return Json({"error": {"kind": kind, "message": message, "retryable": retryable}}, status)


async def of_ours(_: Request, error: Exception) -> Response:
    """An error that biem raised deliberately."""
    assert isinstance(error, BiemError)
    return refusal(error.http_status, str(error), kind=type(error).__name__, retryable=error.retryable)


async def of_http(_: Request, error: Exception) -> Response:
    """An unknown path or method."""
    status = getattr(error, "status_code", 500)
    message = {404: "there is no such address", 405: "this server is read-only: use GET"}.get(
        status, "the request cannot be processed"
    )
    return refusal(status, message, kind="HttpError")


async def unexpected(_: Request, __: Exception) -> Response:
    """An internal error: the server logs it; the browser gets no details. Sent without the guard."""
    answer = refusal(500, "unexpected error; the server's log has it", kind="Unexpected")
    answer.headers.update(HEADERS)
    return answer
