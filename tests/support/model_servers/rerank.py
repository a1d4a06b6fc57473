"""A real reranking server on the loopback interface that answers as told: well, badly, slowly, or not at all."""

import json
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.support.model_servers.loopback import LoopbackServer


@dataclass(frozen=True)
class Call:
    """What arrived."""

    path: str
    body: dict[str, Any]
    authorization: str | None


@dataclass(frozen=True)
class Reply:
    """What goes back; `before` runs in the server's thread first, `raw` replaces the whole body."""

    status: int = 200
    raw: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    change: Callable[[Any], Any] = lambda body: body
    before: Callable[[], Any] = lambda: None
    drip: bool = False
    """Send the body byte by byte for as long as the client listens."""
    hang_up: bool = False
    """Close the connection without a word."""


def relevance(query: str, text: str) -> float:
    """The share of the query's words that a text has."""
    words = set(query.lower().split())
    return len(words & set(text.lower().split())) / max(1, len(words))


class RerankServer(LoopbackServer[Reply]):
    """Answers both protocols, best first as these servers do."""

    def __init__(self) -> None:
        super().__init__(Reply())
        self.calls: list[Call] = []

    def answer(self, request: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        """As the base says."""
        self.calls.append(Call(request.path, body, request.headers["Authorization"]))
        reply = self.next()
        reply.before()
        if reply.hang_up:
            request.close_connection = True
            request.connection.shutdown(socket.SHUT_RDWR)
            return
        content = reply.raw if reply.raw is not None else json.dumps(reply.change(_ranked(body))).encode()
        self.send(request, reply.status, content, reply.headers, drip=reply.drip)


def _ranked(body: dict[str, Any]) -> Any:
    tei = "texts" in body
    scores = [relevance(body["query"], text) for text in body["texts" if tei else "documents"]]
    name = "score" if tei else "relevance_score"
    rows = [{"index": n, name: scores[n]} for n in sorted(range(len(scores)), key=lambda place: -scores[place])]
    return rows if tei else {"id": "1", "model": body["model"], "results": rows}
