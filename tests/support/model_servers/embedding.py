"""A real embedding server on the loopback interface that answers as told: well, badly, late or not at all."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

import numpy as np

from tests.support.model_servers.loopback import LoopbackServer

DIM = 48


@dataclass(frozen=True)
class Call:
    """What arrived."""

    path: str
    model: str
    texts: tuple[str, ...]
    authorization: str | None


@dataclass(frozen=True)
class Answer:
    """What goes back; `before` runs in the server's thread first."""

    status: int = 200
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    dim: int = DIM
    change: Callable[[Any], Any] = lambda body: body
    before: Callable[[], Any] = lambda: None
    drip: bool = False
    """Send the body byte by byte for as long as the client listens."""


def vector(text: str, dim: int) -> list[float]:
    """A bag of hashed character pairs: the same text, the same vector."""
    out = np.full(dim, 0.1)
    for pair in zip(text, text[1:] + " ", strict=True):
        out[int.from_bytes(hashlib.sha256("".join(pair).encode()).digest()[:4]) % dim] += 1
    return [float(number) for number in out / np.linalg.norm(out)]


class EmbeddingServer(LoopbackServer[Answer]):
    """Answers both protocols."""

    def __init__(self) -> None:
        super().__init__(Answer())
        self.calls: list[Call] = []

    def answer(self, request: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        texts = body["input"]
        self.calls.append(Call(request.path, body["model"], tuple(texts), request.headers["Authorization"]))
        answer = self.next()
        answer.before()
        rows = [vector(text, answer.dim) for text in texts]
        if request.path.endswith("/api/embed"):
            good: Any = {"model": body["model"], "embeddings": rows}
        else:
            items = [{"object": "embedding", "index": n, "embedding": row} for n, row in enumerate(rows)]
            good = {
                "object": "list",
                "data": items[::-1],
                "model": body["model"],
            }  # order is the index's, not the list's
        content = answer.body if answer.body is not None else json.dumps(answer.change(good)).encode()
        self.send(request, answer.status, content, answer.headers, drip=answer.drip)
