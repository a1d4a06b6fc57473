"""Doubles that tests share: a clock to hold, an embedder that needs no model, and a way to wait without sleeping."""

import hashlib
import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from biem.errors import InvalidInput
from biem.ports import EmbedderInfo, Role, Vector, Vectors

START = datetime(2026, 5, 4, 9, 0, tzinfo=UTC)


class HeldClock:
    """The port `Clock`; time moves only when told to."""

    def __init__(self, start: datetime = START) -> None:
        self._now = start

    def now(self) -> datetime:
        return self._now

    def advance(self, **amount: float) -> None:
        self._now += timedelta(**amount)


class WordEmbedder:
    """The port `Embedder` without a model: texts are similar as far as they share words (or CJK characters).

    Another dimension is another model, unless it is given the name of one: tests that share servers share vectors.
    """

    def __init__(self, dim: int = 64, model: str = "") -> None:
        self.info = EmbedderInfo(model or ("test-words" if dim == 64 else f"test-words-{dim}"), dim, ("mul",), 512)
        self.calls: list[list[str]] = []
        self.failure: Exception | None = None
        self.refused: tuple[str, ...] = ()

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        if self.failure is not None:
            raise self.failure
        if any(refused in text for refused in self.refused for text in texts):
            raise InvalidInput("cannot be embedded")
        self.calls.append(list(texts))
        rows = np.full((len(texts), self.info.dim), 1e-3, dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in "".join(f" {c} " if ord(c) > 0x2E7F else c for c in text.lower()).split():
                row[int.from_bytes(hashlib.sha256(word.strip(".,?!:").encode()).digest()[:4]) % self.info.dim] += 1.0
        vectors: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return vectors

    def similarity(self, vector: Vector, others: Vectors) -> NDArray[np.float32]:
        likeness: NDArray[np.float32] = np.clip(others @ vector, 0.0, 1.0)
        return likeness

    def close(self) -> None:
        """Holds nothing."""


PATIENCE_S = 300.0
"""How long a test waits for what has to happen: only one that fails waits so long, and machines are busy."""


def eventually(condition: Callable[[], object], timeout_s: float = PATIENCE_S, what: str = "") -> None:
    """Wait until `condition` is true, or fail; a limit of your own only where it is the point: machines are busy.

    It looks again after a tenth of the time it has waited, at most a fifth of a second: many conditions open a
    connection or list all processes, and what they wait for needs the processor. `what` names the condition in words.
    """
    began = time.monotonic()
    pause = threading.Event()
    while not condition():
        waited_s = time.monotonic() - began
        assert waited_s < timeout_s, f"not within {timeout_s} s: {what or condition}"
        pause.wait(min(0.2, max(0.02, waited_s / 10), timeout_s - waited_s))
