"""A cross-encoder of the BGE family through FlagEmbedding, in this process: the extra `bge`, 1.7 GB with torch.

A computation cannot be interrupted: after a timeout it continues on its thread, and later callers wait for it within
their own timeouts. Threads of torch do not survive a fork.
"""

import os
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from biem.adapters import flag_embedding
from biem.errors import RerankerUnavailable

DEFAULT_MODEL = "BAAI/bge-reranker-v2-m3"
_MAX_TOKENS = 512
_BATCH = 16


class BgeReranker:
    """`FlagReranker` of one checkpoint."""

    def __init__(self, model: str, devices: str = "") -> None:
        self._model: Any = flag_embedding.load("FlagReranker", "reranker", model or DEFAULT_MODEL, devices)
        self._process = os.getpid()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="biem-rerank")
        self._free = threading.Semaphore()

    def rerank(self, query: str, texts: Sequence[str], timeout_s: float) -> list[float]:
        """See the port."""
        if not texts:
            return []
        if self._process != os.getpid():
            raise RerankerUnavailable("the reranker was loaded before this process was forked; build it in the child")
        deadline = time.monotonic() + timeout_s
        if not self._free.acquire(timeout=max(0.0, timeout_s)):
            raise RerankerUnavailable(f"the reranker is still busy after {timeout_s:.1f} s")
        try:
            running = self._thread.submit(self._compute, query, list(texts))
        except RuntimeError:
            self._free.release()
            raise RerankerUnavailable("this reranker was closed; build a new one") from None
        running.add_done_callback(lambda _: self._free.release())
        try:
            return running.result(max(0.0, deadline - time.monotonic()))
        except TimeoutError:
            raise RerankerUnavailable(f"the reranker took longer than {timeout_s:.1f} s") from None

    def close(self) -> None:
        """Release the weights after the last computation."""
        self._thread.shutdown(wait=True)
        self._model = None

    def _compute(self, query: str, texts: list[str]) -> list[float]:
        try:
            scores = self._model.compute_score(
                [(query, text) for text in texts], normalize=True, batch_size=_BATCH, max_length=_MAX_TOKENS
            )
        except (AttributeError, RuntimeError, MemoryError) as error:
            raise RerankerUnavailable(f"the reranker failed ({type(error).__name__}: {error})") from error
        found = [float(score) for score in (scores if isinstance(scores, list) else [scores])]
        if len(found) != len(texts) or not all(0.0 <= score <= 1.0 for score in found):  # also false for NaN
            raise RerankerUnavailable(
                "the reranker returned no score in [0, 1] for each text; check that the checkpoint is complete"
            )
        return found
