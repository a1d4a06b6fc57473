"""BGE-M3 through FlagEmbedding, on CPU or GPU: the extra `bge`, 1.7 GB with torch.

Known pitfalls: `encode([])` fails with an AttributeError, and so does any network error; if one of the two heads' files
is missing both are silently random; the dimension is the checkpoint's, not always 1024; threads of torch do not survive
a fork.
"""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from biem.adapters import flag_embedding
from biem.adapters.embedders.encoder import unit
from biem.errors import ConfigError, EmbedderUnavailable
from biem.ports import Role, Vectors

DEFAULT_MODEL = "BAAI/bge-m3"
_HEADS = ("sparse_linear.pt", "colbert_linear.pt")
_WEIGHTS = ("model.safetensors", "pytorch_model.bin")
_SAMPLE_BYTES = 1 << 16


class BgeEncoder:
    """The dense vectors of a BGE-M3 checkpoint, about a hundred languages, without prefixes."""

    languages = ("mul",)
    max_tokens = 512

    def __init__(self, model: str, devices: str = "", batch_size: int = 16) -> None:
        self._model: Any = flag_embedding.load("BGEM3FlagModel", "embedder", model or DEFAULT_MODEL, devices)
        self.name = _name(model or DEFAULT_MODEL)
        self._batch_size = batch_size
        self._process = os.getpid()
        self.dim = int(self._run(["."]).shape[-1])

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:  # noqa: ARG002  both roles share one space
        """Unit vectors of the texts."""
        return unit(self._run(texts), len(texts), self.dim, self.name)

    def close(self) -> None:
        """Release the weights."""
        self._model = None

    def _run(self, texts: Sequence[str]) -> Vectors:
        if self._model is None:
            raise ConfigError("this embedder was closed; build a new one")
        if self._process != os.getpid():
            raise ConfigError(
                "BGE-M3 was loaded before this process was forked and would hang in it; "
                "start processes with spawn or build the embedder in the child"
            )
        if not texts:
            return np.empty((0, self.dim), dtype=np.float32)
        try:
            answer = self._model.encode(
                list(texts),
                batch_size=self._batch_size,
                max_length=self.max_tokens,
                return_dense=True,
                return_sparse=False,
                return_colbert_vecs=False,
            )
        except (AttributeError, RuntimeError, MemoryError) as error:
            raise EmbedderUnavailable(
                f"BGE-M3 failed on {len(texts)} texts ({type(error).__name__}: {error}); the texts are retried "
                f"later; if it persists, free memory or choose another device"
            ) from error
        return np.asarray(answer["dense_vecs"], dtype=np.float32)


def _name(model: str) -> str:
    """A hub's name unchanged; a folder by its name and a digest of its weights, after checking that it is complete."""
    folder = Path(model).expanduser()
    if not folder.is_dir():
        return f"bge-m3:{model}"
    missing = [name for name in _HEADS if not (folder / name).is_file()]
    weights = next((folder / name for name in _WEIGHTS if (folder / name).is_file()), None)
    if missing or weights is None:
        names = ", ".join([*missing, *([] if weights else [" or ".join(_WEIGHTS)])])
        raise ConfigError(
            f"the BGE-M3 checkpoint {folder} lacks {names}; without them vectors would be random: copy the whole folder"
        )
    return f"bge-m3:{folder.resolve().name}@{_sample(weights)}"


def _sample(path: Path) -> str:
    """Size, beginning and end of a file as a short name; hashing 2.3 GB would take seconds at every start."""
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(_SAMPLE_BYTES)
        file.seek(max(0, size - _SAMPLE_BYTES))
        tail = file.read()
    return hashlib.sha256(str(size).encode() + head + tail).hexdigest()[:8]
