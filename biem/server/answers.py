"""Responses: JSON that is inert in any context, and the security headers of all."""

import orjson
from starlette.responses import Response

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
        return orjson.dumps(content).replace(b"<", b"\\u003c")
