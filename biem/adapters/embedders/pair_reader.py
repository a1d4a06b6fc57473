"""Reads two texts together with the packaged model, for what their vectors cannot tell apart.

The encoder of e5 with low-rank additions to its matrices (LoRA, Hu et al. 2021, arXiv:2106.09685):

    tokens    of the first text as a passage, of the second as a query, at most 120 each, with the positions of each
    x         word + position + segment (first or second) + `mark`, if the pair is marked
    log-odds  bias + head · (mean of the first's tokens, mean of the second's)

`SUPERSESSION`: that a newer message ends what an older one says. Rules know the words of changes, this knows from
examples that "the splint came off" ends "I wear a splint" (`python -m benchmarks.fit_supersession`).
`ANSWERING`: that a message answers a question. What has the words of a question and is of its topic often does not
(`python -m benchmarks.fit_reading`).
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
from biem.ports.embedding import TextPair

SUPERSESSION = Path(__file__).with_name("supersession.npz")
ANSWERING = Path(__file__).with_name("answering.npz")
MOST_TOKENS = 120
"""Of each text; what follows is not read."""

_MOST_CHARS = 2_000
"""Of each text, before it is cut to tokens."""


@dataclass(frozen=True, slots=True)
class PairWeights:
    """What the model reads pairs with, beside the weights of e5."""

    additions: Mapping[str, tuple[NDArray[np.float32], NDArray[np.float32]]]
    segments: NDArray[np.float32]
    """Shape (2, hidden): added to the tokens of the first and of the second text."""
    mark: NDArray[np.float32]
    """Shape (hidden,)."""
    head: NDArray[np.float32]
    """Shape (2 · hidden,)."""
    bias: float


@cache
def weights_of(path: Path) -> PairWeights:
    """The weights of a packaged file."""
    with np.load(path) as file:
        kept = {name: file[name].astype(np.float32) for name in file.files}
    names = sorted({name.rpartition(".")[0] for name in kept if name.endswith(".down")})
    return PairWeights(
        additions={name: (kept[f"{name}.down"], kept[f"{name}.up"]) for name in names},
        segments=kept["segments"],
        mark=kept["mark"],
        head=kept["head"],
        bias=float(kept["bias"]),
    )


class SharedPairOdds:
    """`PairOdds` by the engine that the embedders of this process use. Thread-safe."""

    def __init__(self, path: Path, threads: int | None, give_way: Callable[[], None]) -> None:
        """`path`: of the weights. `threads`: where no embedder has loaded the engine.

        `give_way` is called before each batch.
        """
        self._path = path
        self._threads = threads or default_threads()
        self._give_way = give_way

    def __call__(self, pairs: Sequence[TextPair]) -> NDArray[np.float32]:
        """See `PairOdds`."""
        found = np.empty(len(pairs), dtype=np.float32)
        if not pairs:
            return found
        key = MODELS.loaded("e5", OnnxEngine) or ("e5", OnnxEngine, self._threads)
        lease = Lease.of(key, lambda: OnnxEngine(self._threads))
        try:
            with CALLS.one():
                tokens = [_tokens(lease.model, pair) for pair in pairs]
            for batch in batches([len(first) + len(second) for first, second in tokens]):
                self._give_way()  # outside the call: a fork waits for calls
                marked = np.array([pairs[i].marked for i in batch])
                with CALLS.one():
                    found[batch] = self._forward(lease.model, [tokens[i] for i in batch], marked)
        finally:
            lease.end()
        return found

    def _forward(
        self, engine: OnnxEngine, batch: Sequence[tuple[list[int], list[int]]], marked: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        weights = weights_of(self._path)
        lengths = np.array([len(first) + len(second) for first, second in batch], dtype=np.int32)
        longest = int(lengths.max())
        x = engine.looked_up([first + second for first, second in batch], longest)
        pool = np.zeros((len(batch), 2, longest), dtype=np.float32)
        for row, (first, second) in enumerate(batch):
            for segment, (start, size) in enumerate(((0, len(first)), (len(first), len(second)))):
                x[row, start : start + size] += engine.positions[:size] + weights.segments[segment]
                pool[row, segment, start : start + size] = 1 / size
        x[marked] += weights.mark
        session = engine.adapted(self._path.stem, weights.additions)
        means = session.run(None, {"x": x, "lengths": lengths, "pool": pool})[0].reshape(len(batch), -1)
        return np.asarray(np.einsum("ij,j->i", means, weights.head) + weights.bias, dtype=np.float32)


def _tokens(engine: OnnxEngine, pair: TextPair) -> tuple[list[int], list[int]]:
    first, second = (clean(text, _MOST_CHARS) for text in (pair.first, pair.second))
    return engine.ids(first, "passage")[:MOST_TOKENS], engine.ids(second, "query")[:MOST_TOKENS]
