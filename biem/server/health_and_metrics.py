"""Routes for probes and monitors: whether the server lives, whether it is ready, and counts of a scope."""

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from biem.server.administration import counts_of_scope
from biem.server.backend import ServerBackend
from biem.server.caller import caller_of
from biem.server.json_response import Json


class Liveness(BaseModel):
    """Whether the server takes requests."""

    alive: bool


class Readiness(BaseModel):
    """Whether memories can be stored and recalled, and what recall has to do without."""

    ready: bool
    degraded: list[str]
    servers: dict[str, str]


def health_router() -> APIRouter:
    """Liveness, readiness and metrics."""
    router = APIRouter()
    router.add_api_route("/health", health, methods=["GET"], tags=["server"], response_model=Liveness)
    router.add_api_route("/ready", ready, methods=["GET"], tags=["server"], response_model=Readiness)
    for path, answer in (("/health", health), ("/ready", ready)):  # some monitors ask for the head alone
        router.add_api_route(path, answer, methods=["HEAD"], include_in_schema=False)
    text = {200: {"description": "Counts of the scope.", "content": {"text/plain": {"schema": {"type": "string"}}}}}
    router.add_api_route(
        "/metrics",
        metrics,
        methods=["GET"],
        tags=["server"],
        response_class=Response,
        responses=text,  # type: ignore[arg-type]
    )
    return router


async def health() -> Response:
    """Answers as long as the process takes requests; asks no store. For liveness probes."""
    return Json({"alive": True})


def ready(request: Request) -> Response:
    """Whether memories can be stored and recalled: 200, else 503. For readiness probes; without a key."""
    backend: ServerBackend = request.app.state.backend
    found = backend.health()
    servers = {name: "down" if why else "ok" for name, why in found.servers.items()}
    document = {"ready": found.ready, "degraded": found.degraded, "servers": servers}
    return Json(document, 200 if found.ready else 503)


def metrics(request: Request) -> Response:
    """The counts of `/v1/stats` for Prometheus. What concerns the whole system is on the port BIEM_METRICS_PORT."""
    counts = counts_of_scope(caller_of(request))
    lines = [
        line
        for name, value in counts.items()
        if isinstance(value, int)
        for line in (f"# TYPE biem_scope_{name} gauge", f"biem_scope_{name} {value}")
    ]
    return Response("\n".join(lines) + "\n", media_type="text/plain; version=0.0.4")
