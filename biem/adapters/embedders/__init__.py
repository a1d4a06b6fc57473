"""Embedders: two packaged models, BGE-M3, or any server; all behind the port `Embedder`."""

from collections.abc import Callable
from pathlib import Path

from biem.adapters.embedders.bge import BgeEncoder
from biem.adapters.embedders.cached import CachedEmbedder
from biem.adapters.embedders.calibration import CalibratedEmbedder, cached_path, load, obtain
from biem.adapters.embedders.e5 import E5Encoder
from biem.adapters.embedders.encoder import Encoder
from biem.adapters.embedders.use_multilingual import UseEncoder
from biem.errors import ConfigError
from biem.ports import Embedder

__all__ = ["PROVIDERS", "build"]

PROVIDERS = ("e5", "use", "bge", "openai", "ollama")


def build(
    provider: str,
    *,
    model: str = "",
    url: str = "",
    api_key: str = "",
    cache_dir: Path,
    cache_bytes: int,
    threads: int | None = None,
    query_prefix: str = "",
    passage_prefix: str = "",
    timeout_s: float = 30.0,
    devices: str = "",
    late: bool = False,
) -> Embedder:
    """The embedder of a provider, calibrated and cached. A model's libraries load only when it is selected.

    `cache_dir` stores the constants of models without packaged ones; `cache_bytes` of 0 means no cache of vectors.
    `late`, for processes that may embed nothing: e5 is loaded at its first use. `threads`: None for a default by the
    number of cores. Raises `ConfigError` for an unknown provider and for wrong settings of a known one, and
    `EmbedderUnavailable` where a server does not answer.
    """

    def served() -> Encoder:
        from biem.adapters.embedders.http import Endpoint, HttpEncoder  # noqa: PLC0415  with its HTTP client

        endpoint = Endpoint("openai" if provider == "openai" else "ollama", model, url, query_prefix, passage_prefix)
        known = load(cached_path(cache_dir, endpoint.name), endpoint.name)
        return HttpEncoder(endpoint, api_key=api_key, timeout_s=timeout_s, known_dim=known.dim if known else None)

    makers: dict[str, Callable[[], Encoder]] = {
        "e5": lambda: E5Encoder(threads, late=late),
        "use": lambda: UseEncoder(threads),
        "bge": lambda: BgeEncoder(model, devices),
        "openai": served,
        "ollama": served,
    }
    if provider not in makers:
        raise ConfigError(f"unknown embedder {provider!r}; BIEM_EMBEDDER__PROVIDER is one of {', '.join(PROVIDERS)}")
    encoder = makers[provider]()
    embedder = CalibratedEmbedder(encoder, obtain(encoder, cache_dir))
    return CachedEmbedder(embedder, cache_bytes) if cache_bytes else embedder
