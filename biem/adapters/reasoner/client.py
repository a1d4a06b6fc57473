"""Client for any OpenAI-compatible `/chat/completions`: one prompt in, the model's text out."""

import random
import re
from dataclasses import dataclass
from typing import Any, Literal

import orjson

from biem.adapters.http_json import Again, EndlessAnswer, GaveUp, HttpAnswer, JsonService
from biem.adapters.reasoner.parsing import ModelReply, without_thoughts
from biem.errors import ConfigError

Size = Literal["small", "large"]

SETTING = "BIEM_REASONER__"
_MAX_ANSWER_CHARS = 20_000


@dataclass(frozen=True, slots=True)
class Prompt:
    """System prompt and user prompt."""

    system: str
    user: str


class ChatFailed(Exception):
    """A failed call. `pause_s` is None if this prompt caused it, else the pause before the next call that the server
    needs.
    """

    def __init__(self, reason: str, pause_s: float | None) -> None:
        super().__init__(reason)
        self.pause_s = pause_s


class ChatClient:
    """A server with a small and a large model; a single model serves both roles."""

    def __init__(
        self, *, url: str, api_key: str, small_model: str, large_model: str, max_output_tokens: int, connections: int
    ) -> None:
        if not url.startswith(("http://", "https://")) or "?" in url or "#" in url:
            raise ConfigError(f"{SETTING}URL must begin with http:// or https:// and have no ? or #")
        if not (small_model or large_model):
            raise ConfigError(f"the reasoner needs the name of a model; set {SETTING}SMALL_MODEL")
        base = url.rstrip("/")
        if not re.search(r"/v\d\w*$|/openai$", base):
            base += "/v1"
        self._service = JsonService(
            base + "/chat/completions", api_key=api_key, setting=SETTING, connections=connections
        )
        self._models: dict[Size, str] = {"small": small_model or large_model, "large": large_model or small_model}
        self.max_output_tokens = max_output_tokens
        self._limit_field = "max_tokens"
        self._temperature: dict[str, float] = {"temperature": 0.0}
        self._jitter = random.Random()

    def __repr__(self) -> str:
        return f"ChatClient({self._service.shown!r}, {self._models})"

    def complete(self, size: Size, prompt: Prompt, *, tries: int, budget_s: float, timeout_s: float) -> ModelReply:
        """The model's answer, within `tries` attempts and `budget_s`; raises `ChatFailed` and nothing else."""
        try:
            return self._service.repeat(
                lambda left_s: self._once(size, prompt, left_s),
                tries=tries,
                budget_s=budget_s,
                timeout_s=timeout_s,
                jitter=self._jitter,
            )
        except GaveUp as error:
            raise ChatFailed(
                f"{self._service.shown} failed {error.tries} time{'s' if error.tries > 1 else ''}, last: {error}",
                error.after_s or 0.0,
            ) from None
        except (ConfigError, EndlessAnswer) as error:
            raise ChatFailed(str(error), 0.0) from None

    def close(self) -> None:
        """Close connections; running calls and pauses end."""
        self._service.close()

    def _once(self, size: Size, prompt: Prompt, timeout_s: float) -> ModelReply:
        body: dict[str, Any] = {
            "model": self._models[size],
            "messages": [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}],
            self._limit_field: self.max_output_tokens,
            **self._temperature,
        }
        answer = self._service.post(body, timeout_s)
        if answer.status == 200:
            return self._read(answer)
        said = self._service.said(answer.content)
        if answer.status == 400 and self._learns(answer.content):
            raise Again(f"HTTP 400{said}")
        if answer.status in (401, 403):
            raise ChatFailed(
                f"{self._service.shown} refuses the key (HTTP {answer.status}{said}); set {SETTING}API_KEY", 0.0
            )
        if answer.status in (400, 413, 422):
            raise ChatFailed(f"{self._service.shown} refuses the prompt (HTTP {answer.status}{said})", None)
        raise ChatFailed(
            f"{self._service.shown} answers HTTP {answer.status}{said}; check {SETTING}URL and the model's name", 0.0
        )

    def _learns(self, content: bytes) -> bool:
        """Adapts to models that refuse `max_tokens` or `temperature`: omits unsupported parameters from now on."""
        if b"max_completion_tokens" in content and self._limit_field == "max_tokens":
            self._limit_field = "max_completion_tokens"
            return True
        if b"temperature" in content and self._temperature:
            self._temperature = {}
            return True
        return False

    def _read(self, answer: HttpAnswer) -> ModelReply:
        """The first choice. An empty answer is not retried."""
        try:
            body = orjson.loads(answer.content)
            choice = body["choices"][0]
            text = choice["message"]["content"]
            if not isinstance(text, str):
                raise TypeError("no text")
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise ChatFailed(
                f"{self._service.shown} returned an answer without text ({type(error).__name__})", None
            ) from None
        usage = body.get("usage")
        counts = usage if isinstance(usage, dict) else {}
        return ModelReply(
            without_thoughts(text)[:_MAX_ANSWER_CHARS],
            choice.get("finish_reason") == "length" or len(text) > _MAX_ANSWER_CHARS,
            _count(counts.get("prompt_tokens")),
            _count(counts.get("completion_tokens")),
        )


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 31 else None
