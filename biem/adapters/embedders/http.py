"""Embedding servers: the OpenAI-compatible `/v1/embeddings` and Ollama's `/api/embed`.

Passages: 64 a call, four concurrent calls, retried with growing pauses within a total time. Queries: one attempt within
two seconds, because they are foreground calls. The key is sent and never shown.
"""

import os
import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx
import numpy as np

from biem.adapters.embedders.encoder import unit
from biem.adapters.embedders.usage import CallCounter
from biem.adapters.http_json import EndlessAnswer, GaveUp, JsonService
from biem.errors import BiemError, ConfigError, EmbedderMismatch, EmbedderUnavailable, InvalidInput
from biem.ports import Role, Vectors

Api = Literal["openai", "ollama"]

BATCH = 64
CALLS_AT_ONCE = 4
QUERY_BUDGET_S = 2.0
_PASSAGE_BUDGET = 3
"""Time for the passages of one call, as a multiple of the timeout, including pauses."""
_MAX_TRIES = 6
_MAX_CHARS = 2048
"""Maximum characters of a text: the server's tokenizer is unknown, and characters are an upper bound of tokens."""
_DEFAULT_URL: dict[Api, str] = {"openai": "https://api.openai.com/v1", "ollama": "http://127.0.0.1:11434"}
_PATH: dict[Api, str] = {"openai": "/embeddings", "ollama": "/api/embed"}
_SETTING = "BIEM_EMBEDDER__"
_OF_THE_TEXTS = (400, 406, 413, 414, 415, 422, 431, 451)
"""HTTP statuses for texts that the server refuses; other refusals concern the key, the address or the model."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A served model and its text prefixes. Its name does not include the address: a server may move."""

    api: Api
    model: str
    url: str = field(default="", repr=False)
    query_prefix: str = ""
    passage_prefix: str = ""

    def __post_init__(self) -> None:
        if not self.model:
            raise ConfigError(f"the embedder {self.api} needs the name of a model; set BIEM_EMBEDDER__MODEL")
        if self.url and not self.url.startswith(("http://", "https://")):
            raise ConfigError("BIEM_EMBEDDER__URL must begin with http:// or https://")

    @property
    def name(self) -> str:
        """The id of the model; includes the prefixes, because they change vectors."""
        dress = f"|{self.query_prefix}|{self.passage_prefix}" if self.query_prefix or self.passage_prefix else ""
        return f"{self.api}:{self.model}{dress}"

    @property
    def address(self) -> str:
        """The URL that is called."""
        base = (self.url or _DEFAULT_URL[self.api]).rstrip("/")
        if self.api == "openai" and not base.endswith("/v1"):
            base += "/v1"
        return base + _PATH[self.api]


class HttpEncoder:
    """A model behind an endpoint. The dimension is measured on construction.

    `known_dim`, measured in an earlier run, lets a process start while the server is down.
    """

    languages = ("mul",)
    max_tokens = _MAX_CHARS

    def __init__(
        self, endpoint: Endpoint, *, api_key: str = "", timeout_s: float = 30.0, known_dim: int | None = None
    ) -> None:
        self._service = JsonService(endpoint.address, api_key=api_key, setting=_SETTING, connections=4 * CALLS_AT_ONCE)
        self.call_counter = CallCounter()
        self._endpoint = endpoint
        self._timeout_s = timeout_s
        self._jitter = random.Random()
        self._threads: tuple[int, ThreadPoolExecutor] | None = None
        self.name = endpoint.name
        self.dim = 0
        try:
            self.dim = int(
                self._call(["."], "query", budget_s=timeout_s, tries=1).shape[1]
            )  # the server may load the model first
        except EmbedderUnavailable:
            if known_dim is None:
                self.close()
                raise
            self.dim = known_dim
        except BiemError:
            self.close()
            raise

    def __repr__(self) -> str:
        return f"HttpEncoder({self.name!r}, {self._service.shown!r})"

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:
        """Unit vectors of the texts; one failed call fails all, no partial result is returned."""
        if self._service.closed.is_set():
            raise ConfigError("this embedder was closed; build a new one")
        heads = [text[:_MAX_CHARS] for text in texts]
        batches = [heads[start : start + BATCH] for start in range(0, len(heads), BATCH)]
        if role == "query":
            budget_s, tries = min(QUERY_BUDGET_S, self._timeout_s), 1
        else:
            budget_s, tries = _PASSAGE_BUDGET * self._timeout_s, _MAX_TRIES
        if len(batches) == 1:
            answers = [self._call(batches[0], role, budget_s, tries)]
        else:
            answers = list(self._pool().map(lambda batch: self._call(batch, role, budget_s, tries), batches))
        return unit(np.concatenate(answers), len(texts), self.dim, self.name)

    def close(self) -> None:
        """Close connections; pauses between attempts end at once."""
        self._service.close()
        threads, self._threads = self._threads, None
        if threads and threads[0] == os.getpid():
            threads[1].shutdown(wait=False, cancel_futures=True)

    def _pool(self) -> ThreadPoolExecutor:
        """This process's threads: a child must not use those of its parent."""
        if self._threads is None or self._threads[0] != os.getpid():
            self._threads = (os.getpid(), ThreadPoolExecutor(CALLS_AT_ONCE, thread_name_prefix="biem-embed"))
        return self._threads[1]

    def _call(self, texts: Sequence[str], role: Role, budget_s: float, tries: int) -> Vectors:
        """One batch, retried while attempts and time are left."""
        try:
            return self._service.repeat(
                lambda left_s: self._try(texts, role, left_s),
                tries=tries,
                budget_s=budget_s,
                timeout_s=self._timeout_s,
                jitter=self._jitter,
            )
        except GaveUp as error:
            raise EmbedderUnavailable(
                f"the embedding server {self._service.shown} failed {error.tries} "
                f"time{'s' if error.tries > 1 else ''} in {error.seconds:.1f} s, last: {error}; "
                f"memories wait as pending, start the server or check {_SETTING}URL"
            ) from error.__cause__
        except EndlessAnswer as error:
            raise EmbedderUnavailable(str(error)) from None

    def _try(self, texts: Sequence[str], role: Role, timeout_s: float) -> Vectors:
        prefix = self._endpoint.query_prefix if role == "query" else self._endpoint.passage_prefix
        body: dict[str, Any] = {"model": self._endpoint.model, "input": [prefix + text for text in texts]}
        if self._endpoint.api == "ollama":
            body["truncate"] = True
        else:
            body["encoding_format"] = "float"
        self.call_counter.add(len(texts))
        answer = self._service.post(body, timeout_s)
        status, content = answer.status, answer.content
        said = self._service.said(content)
        if status in (401, 403):
            raise ConfigError(f"{self._service.shown} refuses the key (HTTP {status}{said}); set {_SETTING}API_KEY")
        if status in _OF_THE_TEXTS:
            raise InvalidInput(
                f"{self._service.shown} refuses the texts (HTTP {status}{said}); "
                f"if they are too long for the model, start the server with truncation on"
            )
        if status != 200:
            raise ConfigError(
                f"{self._service.shown} answers HTTP {status}{said}; "
                f"check BIEM_EMBEDDER__URL and BIEM_EMBEDDER__MODEL ({self._endpoint.model})"
            )
        return self._parse(content, len(texts))

    def _parse(self, content: bytes, count: int) -> Vectors:
        name = self._service.shown
        try:
            answer = httpx.Response(200, content=content).json()
            if self._endpoint.api == "ollama":
                rows = answer["embeddings"]
            else:
                ordered = sorted(answer["data"], key=lambda item: int(item["index"]))
                if [int(item["index"]) for item in ordered] != list(range(len(ordered))):
                    raise ValueError("indices are not 0 to n - 1")
                rows = [item["embedding"] for item in ordered]
            if len({len(row) for row in rows}) > 1:
                raise EmbedderMismatch(f"{name} returned vectors of different dimensions in one call; check the server")
            vectors = np.array(rows, dtype=np.float64)
        except (ValueError, KeyError, TypeError) as error:
            raise EmbedderUnavailable(
                f"{name} returned an answer that is not {self._endpoint.api}'s ({type(error).__name__}: "
                f"{self._service.hide(str(error))[:120]}); nothing was stored: check {_SETTING}URL and the provider"
            ) from error
        return unit(vectors, count, self.dim or (vectors.shape[1] if vectors.ndim == 2 else 0), self.name)
