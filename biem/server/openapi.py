"""The description of the API: what FastAPI derives from the routes, with the key and the problem documents."""

from typing import Any

from biem.server.problems import MEDIA_TYPE

_PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "retryable"],
    "properties": {
        "type": {"type": "string", "format": "uri-reference", "description": "stable; urn:biem:problem:not-found"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "retryable": {"type": "boolean", "description": "whether the same call may succeed later"},
        "ids": {"type": "array", "items": {"type": "string"}, "description": "what was stored nevertheless"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["at", "message"],
                "properties": {"at": {"type": "string"}, "message": {"type": "string"}},
            },
        },
    },
}
_ALWAYS = {
    "400": "The request cannot be read.",
    "401": "There is no key, or it is unknown, expired or revoked.",
    "403": "The key does not allow this.",
    "404": "There is no such thing in this scope.",
    "408": "The body did not arrive in time.",
    "409": "The request contradicts what is stored.",
    "413": "The body is too large.",
    "422": "The request is invalid; nothing was written.",
    "429": "Too many requests; see `Retry-After`.",
    "500": "Unexpected; the server's log has it.",
    "503": "A store does not answer; see `retryable`.",
    "504": "Indexing did not finish in time; what was sent is stored.",
    "507": "A store is full.",
}
_UPLOAD = {"415": "The body is a form; the file itself is expected."}
_CONDITIONAL = {"412": "The memory is at another revision than `If-Match` names."}
_NAMED = [
    {
        "name": f"Biem-{part}",
        "in": "header",
        "required": False,
        "description": f"the {part.lower()} of the scope, in percent-encoded UTF-8, for a key that is bound to none",
        "schema": {"type": "string"},
    }
    for part in ("User", "Project")
]
FREE = ("/health", "/ready")


def described(document: dict[str, Any]) -> dict[str, Any]:
    """The document with security, headers and problems."""
    parts = document.setdefault("components", {})
    parts["schemas"] = {
        name: each
        for name, each in parts.get("schemas", {}).items()
        if name not in ("HTTPValidationError", "ValidationError")
    } | {"Problem": _PROBLEM}
    parts["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer", "description": "biem_<id>_<secret>"}}
    document["security"] = [{"key": []}]
    for path, methods in document["paths"].items():
        for operation in methods.values():
            _describe(path, operation)
    return document


def _describe(path: str, operation: dict[str, Any]) -> None:
    answers = operation["responses"]
    if path in FREE:
        operation["security"] = []
        if path == "/ready":
            answers["503"] = {**answers["200"], "description": "Memories cannot be stored or recalled now."}
    else:
        operation.setdefault("parameters", []).extend(_NAMED)
    matched = any(each.get("name", "").lower() == "if-match" for each in operation.get("parameters", ()))
    uploaded = "application/octet-stream" in operation.get("requestBody", {}).get("content", {})
    possible = _ALWAYS | (_CONDITIONAL if matched else {}) | (_UPLOAD if uploaded else {})
    for status, description in possible.items():
        if status == "422" or status not in answers:
            content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
            answers[status] = {"description": description, "content": content}
