"""Whether a newer message ends what an older one says: both are read together by the packaged model.

The encoder of e5 with low-rank additions to its matrices (LoRA, Hu et al. 2021, arXiv:2106.09685):

    tokens    of the older as a passage, of the newer as a query, at most 120 each, with the positions of each alone
    x         word + position + segment (older or newer) + `at_once`, if the newer follows within minutes
    log-odds  bias + head · (mean of the older's tokens, mean of the newer's)

Rules know the words of changes, this knows from examples that "the splint came off" ends "I wear a splint". Fitted by
`python -m benchmarks.fit_supersession` to pairs of messages.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from biem.adapters.embedders.e5 import OnnxEngine, batches, default_threads
from biem.adapters.embedders.encoder import clean
from biem.adapters.embedders.shared_model import MODELS, Lease
from biem.adapters.fork_safety import CALLS
from biem.ports.embedding import MessagePair

PACKAGED = Path(__file__).with_name("supersession.npz")
MOST_TOKENS = 120
"""Of each message; what follows is not read."""

_MOST_CHARS = 2_000
"""Of each message, before it is cut to tokens."""


@dataclass(frozen=True, slots=True)
class PairWeights:
    """What the model reads pairs with, beside the weights of e5."""

    additions: Mapping[str, tuple[NDArray[np.float32], NDArray[np.float32]]]
    segments: NDArray[np.float32]
    """Shape (2, hidden): added to the tokens of the older and of the newer."""
    at_once: NDArray[np.float32]
    """Shape (hidden,)."""
    head: NDArray[np.float32]
    """Shape (2 · hidden,)."""
    bias: float


@cache
def packaged() -> PairWeights:
    """The weights of the file."""
    with np.load(PACKAGED) as file:
        kept = {name: file[name].astype(np.float32) for name in file.files}
    names = sorted({name.rpartition(".")[0] for name in kept if name.endswith(".down")})
    return PairWeights(
        additions={name: (kept[f"{name}.down"], kept[f"{name}.up"]) for name in names},
        segments=kept["segments"],
        at_once=kept["at_once"],
        head=kept["head"],
        bias=float(kept["bias"]),
    )


class SharedPairOdds:
    """`PairOdds` by the engine that the embedders of this process use. Thread-safe."""

    def __init__(self, threads: int | None, give_way: Callable[[], None]) -> None:
        """`threads`: where no embedder has loaded the engine. `give_way` is called before each batch."""
        self._threads = threads or default_threads()
        self._give_way = give_way

    def __call__(self, pairs: Sequence[MessagePair]) -> NDArray[np.float32]:
        """See `PairOdds`."""
        found = np.empty(len(pairs), dtype=np.float32)
        if not pairs:
            return found
        key = MODELS.loaded("e5", OnnxEngine) or ("e5", OnnxEngine, self._threads)
        lease = Lease.of(key, lambda: OnnxEngine(self._threads))
        try:
            with CALLS.one():
                tokens = [_tokens(lease.model, pair) for pair in pairs]
            for batch in batches([len(older) + len(newer) for older, newer in tokens]):
                self._give_way()  # outside the call: a fork waits for calls
                at_once = np.array([pairs[i].at_once for i in batch])
                with CALLS.one():
                    found[batch] = _forward(lease.model, packaged(), [tokens[i] for i in batch], at_once)
        finally:
            lease.end()
        return found


def _tokens(engine: OnnxEngine, pair: MessagePair) -> tuple[list[int], list[int]]:
    older, newer = (clean(text, _MOST_CHARS) for text in (pair.older, pair.newer))
    return engine.ids(older, "passage")[:MOST_TOKENS], engine.ids(newer, "query")[:MOST_TOKENS]


def _forward(
    engine: OnnxEngine, weights: PairWeights, batch: Sequence[tuple[list[int], list[int]]], at_once: NDArray[np.bool_]
) -> NDArray[np.float32]:
    lengths = np.array([len(older) + len(newer) for older, newer in batch], dtype=np.int32)
    longest = int(lengths.max())
    x = engine.looked_up([older + newer for older, newer in batch], longest)
    pool = np.zeros((len(batch), 2, longest), dtype=np.float32)
    for row, (older, newer) in enumerate(batch):
        for segment, (start, size) in enumerate(((0, len(older)), (len(older), len(newer)))):
            x[row, start : start + size] += engine.positions[:size] + weights.segments[segment]
            pool[row, segment, start : start + size] = 1 / size
    x[at_once] += weights.at_once
    session = engine.adapted("supersession", weights.additions)
    means = session.run(None, {"x": x, "lengths": lengths, "pool": pool})[0].reshape(len(batch), -1)
    return np.asarray(np.einsum("ij,j->i", means, weights.head) + weights.bias, dtype=np.float32)
