"""Passages embedded as in AIM-Memory: proto = embed(summary + fields), in place of the whole text."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from biem.adapters.embedders.cached import CachedEmbedder
from biem.domain.anchors import FIELD_KINDS
from biem.domain.text import one_line
from biem.ports import Analyzer, Embedder, EmbedderInfo, Role, Vector, Vectors
from biem.telemetry import Telemetry

if TYPE_CHECKING:
    from biem.adapters.embedders.usage import CallCounter


class PrototypeEmbedder:
    """The port `Embedder` in front of another: a passage is replaced by its summary and its fields, a query is
    unchanged.

    Its id differs, so its vectors are in a separate collection.
    """

    def __init__(self, embedder: Embedder, analyzer: Analyzer, summary_chars: int) -> None:
        self._embedder = embedder
        self._analyzer = analyzer
        self._summary_chars = summary_chars
        self._info = replace(embedder.info, id=f"{embedder.info.id}-prototype-{summary_chars}")

    @property
    def info(self) -> EmbedderInfo:
        """The wrapped embedder's, under another id."""
        return self._info

    @property
    def call_counter(self) -> "CallCounter | None":
        """As the wrapped embedder's."""
        return getattr(self._embedder, "call_counter", None)

    def watch(self, telemetry: Telemetry) -> None:
        """See the wrapped embedder, if it has a cache."""
        if isinstance(self._embedder, CachedEmbedder):
            self._embedder.watch(telemetry)

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        """See the port."""
        passages = texts if role == "query" else [self.prototype(text) for text in texts]
        return self._embedder.embed(passages, role)

    def similarity(self, vector: Vector, others: Vectors) -> NDArray[np.float32]:
        """The wrapped embedder's."""
        return self._embedder.similarity(vector, others)

    def close(self) -> None:
        """Close the wrapped embedder."""
        self._embedder.close()

    def prototype(self, text: str) -> str:
        """The embedded form of a passage: its summary on one line, and its fields on another."""
        fields = self._analyzer.analyze(text).fields
        pinned = [value for kind in FIELD_KINDS for value in getattr(fields, kind)]
        return "\n".join(part for part in (one_line(text, self._summary_chars), " ".join(pinned)) if part)
