"""`POST /rerank` in two protocols: that of Jina, Cohere and vLLM, and that of Text Embeddings Inference.

    jina   {"model", "query", "documents"} → {"results": [{"index", "relevance_score"}, …]}
    tei    {"query", "texts"}              → [{"index", "score"}, …]

Some servers return logits: if any score is outside [0, 1], the logistic function is applied to all.
"""

import math
from collections.abc import Sequence
from typing import Any, Literal

import orjson

from biem.adapters.http_json import Again, EndlessAnswer, HttpAnswer, JsonService
from biem.errors import ConfigError, RerankerUnavailable

SETTING = "BIEM_RERANKER__"
_CONNECTIONS = 8
_FARTHEST = 700.0
"""Larger logits would overflow, and are certain anyway."""


class HttpReranker:
    """A reranking server."""

    def __init__(self, protocol: Literal["jina", "tei"], *, model: str, url: str, api_key: str) -> None:
        if not url.startswith(("http://", "https://")) or "?" in url or "#" in url:
            raise ConfigError(f"{SETTING}URL must begin with http:// or https:// and have no ? or #")
        if protocol == "jina" and not model:
            raise ConfigError(f"the reranker needs the name of a model; set {SETTING}MODEL")
        base = url.rstrip("/")
        address = base if base.endswith("/rerank") else base + "/rerank"
        self._protocol = protocol
        self._model = model
        self._service = JsonService(address, api_key=api_key, setting=SETTING, connections=_CONNECTIONS)

    def __repr__(self) -> str:
        return f"HttpReranker({self._service.shown!r})"

    def rerank(self, query: str, texts: Sequence[str], timeout_s: float) -> list[float]:
        """See the port."""
        if not texts:
            return []
        try:
            answer = self._service.post(self._body(query, texts), timeout_s)
        except Again as error:
            raise RerankerUnavailable(f"{self._service.shown}: {error}", pause_s=error.after_s) from error.__cause__
        except (EndlessAnswer, ConfigError) as error:
            raise RerankerUnavailable(str(error)) from None
        return _probabilities(self._read(answer, len(texts)))

    def close(self) -> None:
        """Close connections."""
        self._service.close()

    def _body(self, query: str, texts: Sequence[str]) -> dict[str, Any]:
        if self._protocol == "tei":
            return {"query": query, "texts": list(texts), "truncate": True}
        return {"model": self._model, "query": query, "documents": list(texts), "top_n": len(texts)}

    def _read(self, answer: HttpAnswer, count: int) -> list[float]:
        shown = self._service.shown
        if answer.status in (401, 403):
            raise RerankerUnavailable(f"{shown} refuses the key (HTTP {answer.status}); set {SETTING}API_KEY")
        if answer.status != 200:
            said = self._service.said(answer.content)
            raise RerankerUnavailable(f"{shown} answers HTTP {answer.status}{said}; check {SETTING}URL and the model")
        try:
            body = orjson.loads(answer.content)
            rows = body["results"] if isinstance(body, dict) else body
            name = "score" if self._protocol == "tei" else "relevance_score"
            scores = {_index(row["index"]): float(row[name]) for row in rows}
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise RerankerUnavailable(f"{shown} returned an answer without scores ({type(error).__name__})") from None
        if len(rows) != count or scores.keys() != set(range(count)):
            raise RerankerUnavailable(f"{shown} returned {len(rows)} scores for {count} texts, or not one for each")
        if not all(map(math.isfinite, scores.values())):
            raise RerankerUnavailable(f"{shown} returned a score that is no number")
        return [scores[place] for place in range(count)]


def _index(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError("no index")
    return value


def _probabilities(scores: list[float]) -> list[float]:
    if all(0.0 <= score <= 1.0 for score in scores):
        return scores
    return [1.0 / (1.0 + math.exp(-min(_FARTHEST, max(-_FARTHEST, score)))) for score in scores]
