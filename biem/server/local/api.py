"""The endpoints: each reads one scope, given by its parameters, and returns one bounded page."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from biem.domain.conflict import Conflict
from biem.domain.node import Node
from biem.domain.paging import MOST_ON_A_PAGE
from biem.domain.text import require_count
from biem.errors import InvalidInput
from biem.memory import Memory
from biem.server.local.answers import Json

_SCOPE = ("tenant", "user", "project")
_SHOWN = (
    "id", "text", "kind", "status", "tier", "layer", "energy", "importance", "tags", "speaker", "conversation",
    "source", "at", "created_at", "accessed_at", "access_count", "useful_count", "valid_from", "valid_to",
    "superseded_by", "archived_at", "archive_reason", "language", "entities",
)  # fmt: skip
_UNSHOWN = ("all_", "backlog", "collection")
"""Statistics that are left out: those of other scopes, and internal ones."""


@dataclass(frozen=True, slots=True)
class ListQuery:
    """The validated parameters of one request. An empty value counts as missing."""

    memory: Memory
    """In the scope of the request; missing parts are the server's own."""
    values: Mapping[str, str]

    @classmethod
    def of(cls, request: Request, *known: str) -> "ListQuery":
        """Raises `InvalidInput` for unknown or repeated parameters."""
        given = request.query_params.multi_items()
        names = [name for name, _ in given]
        for name in names:
            if name not in (*_SCOPE, *known):
                raise InvalidInput(f"parameter {name[:64]!r} is unknown; there are {', '.join((*_SCOPE, *known))}")
            if names.count(name) > 1:
                raise InvalidInput(f"parameter {name} is given twice")
        values = dict(given)
        memory: Memory = request.app.state.memory
        # An empty project is the user's own level; an empty tenant or user is an error of the scope.
        return cls(memory.scope(**{part: values[part] for part in _SCOPE if part in values}), values)

    def text(self, name: str) -> str | None:
        """A parameter, if given."""
        return self.values.get(name) or None

    @property
    def after(self) -> str:
        """The `next` of the previous page."""
        return self.values.get("after", "")

    def limit(self, default: int) -> int:
        """Maximum number of items, at most 500."""
        text = self.text("limit")
        if text is not None and not (text.isascii() and text.isdigit() and len(text) < 10):
            raise InvalidInput(f"limit must be a whole number, not {text[:64]!r}")
        number = default if text is None else int(text)
        require_count(number, "limit", MOST_ON_A_PAGE)
        return number

    def answer(self, **document: object) -> Response:
        """The response, including its scope."""
        bound = self.memory.bound_to
        return Json({"scope": {part: getattr(bound, part) for part in _SCOPE}, **document})


def memories(request: Request) -> Response:
    """Memories of any status, newest first; of one tier or layer."""
    wish = ListQuery.of(request, "tier", "layer", "limit", "after")
    tier, layer = wish.text("tier"), wish.text("layer")
    page = wish.memory.list(status="all", tier=tier, layer=layer, limit=wish.limit(50), after=wish.after)
    return wish.answer(memories=[_node(node) for node in page.items], next=page.next)


def graph(request: Request) -> Response:
    """Links and their ends, of the scope or around one node."""
    wish = ListQuery.of(request, "around", "limit", "after")
    part = wish.memory.graph(around=wish.text("around"), limit=wish.limit(150), after=wish.after)
    return wish.answer(nodes=part.nodes, links=part.links, next=part.next)


def facts(request: Request) -> Response:
    """Distilled facts, oldest first."""
    wish = ListQuery.of(request, "limit", "after")
    limit = wish.limit(50)
    found = wish.memory.facts(limit, after=wish.after)
    return wish.answer(facts=found, next=found[-1].id if len(found) == limit else "")


def conflicts(request: Request) -> Response:
    """Memories that contradict, update or repeat each other, newest first; pending ones, or of another status."""
    wish = ListQuery.of(request, "status", "limit", "after")
    limit, status = wish.limit(50), wish.text("status") or "pending"
    found: list[Conflict] = wish.memory.conflicts(
        status=None if status == "all" else status, limit=limit, after=wish.after
    )
    return wish.answer(conflicts=found, next=found[-1].id if len(found) == limit else "")


def stats(request: Request) -> Response:
    """Counts of the scope."""
    wish = ListQuery.of(request)
    counts = wish.memory.stats()
    return wish.answer(
        stats={name: value for name, value in counts.items() if name != "scope" and not name.startswith(_UNSHOWN)}
    )


def health(request: Request) -> Response:
    """Whether memories can be written and recalled: 200, else 503."""
    found = request.app.state.health()
    servers = {name: why or "ok" for name, why in found.servers.items()}
    document = {"ready": found.ready, "degraded": found.degraded, "servers": servers, "schema": found.schema or "ok"}
    return Json(document, 200 if found.ready else 503)


def _node(node: Node) -> dict[str, Any]:
    return {name: getattr(node, name) for name in _SHOWN}
