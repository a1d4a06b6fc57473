"""The interface of a model behind an `Embedder`: raw vectors and metadata."""

import re
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from biem.errors import EmbedderMismatch, EmbedderUnavailable
from biem.ports import Role, Vectors

MAX_CHARS = 8192
"""Maximum characters of a text before tokenising, so that 10 MB cost milliseconds: 512 tokens of at most 16
characters, the longest piece of the vocabularies used here.
"""
_BLANK = "."
"""Replaces a text without content: HTTP servers refuse an empty string."""
_SHORTEST = 1e-6
_SURROGATE = re.compile("[\ud800-\udfff]")


class Encoder(Protocol):
    """One model. `encode` gets cleaned texts, at least one, and is thread-safe."""

    @property
    def name(self) -> str:
        """Changes whenever the same text would get another vector."""

    @property
    def dim(self) -> int:
        """Measured, not assumed."""

    @property
    def languages(self) -> tuple[str, ...]:
        """As `EmbedderInfo.languages`."""

    @property
    def max_tokens(self) -> int:
        """As `EmbedderInfo.max_tokens`."""

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:
        """One vector per text, in order."""

    def close(self) -> None:
        """Release its resources; a second call does nothing."""


def clean(text: str, max_chars: int = MAX_CHARS) -> str:
    """`text` in a form that every model accepts: no NUL, no lone surrogate, not blank, of bounded length."""
    text = text[:max_chars].replace("\0", " ")
    if _SURROGATE.search(text):  # halves of a pair are joined, a lone half becomes U+FFFD
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text if text.strip() else _BLANK


def unit(vectors: NDArray[np.floating], count: int, dim: int, name: str) -> Vectors:
    """`vectors` with the guarantees of the port; raises an error that tells what is wrong with them."""
    if vectors.ndim != 2 or len(vectors) != count:
        raise EmbedderUnavailable(
            f"embedder {name} answered {count} texts with an array of shape {vectors.shape}; "
            f"nothing was stored, the texts are retried later"
        )
    if vectors.shape[1] != dim:
        raise EmbedderMismatch(
            f"embedder {name} returned {vectors.shape[1]} dimensions instead of {dim}; another model is served "
            f"under this name: serve the old one again, or change BIEM_EMBEDDER__MODEL and run `biem reindex`"
        )
    with np.errstate(all="ignore"):
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not bool(np.all(np.isfinite(lengths)) and np.all(lengths > _SHORTEST)):
        raise EmbedderUnavailable(
            f"embedder {name} returned a zero or non-finite vector; nothing was stored, "
            f"the texts are tried again later: check the model server"
        )
    return np.ascontiguousarray(vectors / lengths, dtype=np.float32)
