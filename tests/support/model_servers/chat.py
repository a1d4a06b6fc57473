"""A real chat server on the loopback interface that answers as told: well, badly, slowly, or not at all."""

import json
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.support.model_servers.loopback import LoopbackServer


@dataclass(frozen=True)
class Question:
    """What arrived."""

    path: str
    body: dict[str, Any]
    authorization: str | None

    @property
    def model(self) -> str:
        return str(self.body["model"])

    @property
    def prompt(self) -> str:
        return "\n".join(message["content"] for message in self.body["messages"])


@dataclass(frozen=True)
class Reply:
    """What goes back; `before` runs in the server's thread first, `raw` replaces the whole body."""

    content: Any = ""
    status: int = 200
    raw: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    finish: str = "stop"
    usage: Any = field(default_factory=lambda: {"prompt_tokens": 100, "completion_tokens": 10})
    before: Callable[[], Any] = lambda: None
    drip: bool = False
    """Send the body byte by byte for as long as the client listens."""
    hang_up: bool = False
    """Close the connection without a word."""


def error(status: int, message: str = "no", **headers: str) -> Reply:
    """A failure with its message, as these servers phrase it."""
    raw = json.dumps({"error": {"message": message, "type": "error"}}).encode()
    return Reply(status=status, raw=raw, headers={name.replace("_", "-"): value for name, value in headers.items()})


class ChatServer(LoopbackServer[Reply]):
    """Answers `/v1/chat/completions`."""

    def __init__(self) -> None:
        super().__init__(Reply())
        self.calls: list[Question] = []

    def says(self, *contents: Any, **options: Any) -> None:
        """Answer the next calls with these texts."""
        self.script.extend(Reply(content, **options) for content in contents)

    def answer(self, request: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        self.calls.append(Question(request.path, body, request.headers["Authorization"]))
        reply = self.next()
        reply.before()
        if reply.hang_up:
            request.close_connection = True
            with suppress(OSError):  # the client has gone
                request.connection.shutdown(socket.SHUT_RDWR)
            return
        choice = {"index": 0, "message": {"role": "assistant", "content": reply.content}, "finish_reason": reply.finish}
        good = {"id": "1", "object": "chat.completion", "model": body["model"], "choices": [choice]}
        if reply.usage is not None:
            good["usage"] = reply.usage
        content = reply.raw if reply.raw is not None else json.dumps(good).encode()
        self.send(request, reply.status, content, reply.headers, drip=reply.drip)
