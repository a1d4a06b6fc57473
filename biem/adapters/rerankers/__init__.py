"""Implementations of the port `Reranker`: any HTTP endpoint, or a cross-encoder in this process."""

from collections.abc import Callable

from biem.adapters.rerankers.bge import BgeReranker
from biem.adapters.rerankers.http import HttpReranker
from biem.errors import ConfigError
from biem.ports.embedding import Reranker

__all__ = ["PROVIDERS", "build"]

PROVIDERS = ("jina", "tei", "bge")


def build(provider: str, *, model: str = "", url: str = "", api_key: str = "", devices: str = "") -> Reranker:
    """The reranker of a provider. A model's libraries load only when it is selected.

    `jina` is the protocol of Jina, Cohere, vLLM and others, `tei` that of Text Embeddings Inference.
    """
    makers: dict[str, Callable[[], Reranker]] = {
        "jina": lambda: HttpReranker("jina", model=model, url=url, api_key=api_key),
        "tei": lambda: HttpReranker("tei", model=model, url=url, api_key=api_key),
        "bge": lambda: BgeReranker(model, devices),
    }
    if provider not in makers:
        raise ConfigError(f"unknown reranker {provider!r}; BIEM_RERANKER__PROVIDER is one of {', '.join(PROVIDERS)}")
    return makers[provider]()
