"""Responses with JSON that is harmless in any context."""

import orjson
from starlette.responses import Response


class Json(Response):
    """A JSON document. `<`, which only texts can contain, is escaped: no browser reads it as a tag."""

    media_type = "application/json"

    def render(self, content: object) -> bytes:
        """The encoded document."""
        return orjson.dumps(content).replace(b"<", b"\\u003c")
