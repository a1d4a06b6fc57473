"""Reads the body of a request before it is parsed: its size and the time that it takes are limited."""

import anyio
from starlette.datastructures import Headers
from starlette.types import Message, Receive

from biem.server.problems import BodyTooLarge, BodyTooSlow

BODY_TIMEOUT_S = 30.0
"""How long a body may take to arrive; it occupies no thread meanwhile."""


async def read_body(headers: Headers, receive: Receive, most: int) -> bytes | None:
    """The whole body, at most `most` bytes; None when the client went away."""
    too_large = BodyTooLarge(f"the body may have at most {most:,} bytes; send it in parts")
    announced = headers.get("content-length", "0")
    if announced.isascii() and announced.isdigit() and (len(announced) > 18 or int(announced) > most):
        raise too_large
    parts, size = [], 0
    with anyio.move_on_after(BODY_TIMEOUT_S):
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            part = message.get("body", b"")
            size += len(part)
            if size > most:
                raise too_large
            parts.append(part)
            if not message.get("more_body", False):
                return b"".join(parts)
    raise BodyTooSlow("the body did not arrive in time")


def replayed(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the body that was read, then what follows."""
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return left.pop() if left else await receive()

    return again
