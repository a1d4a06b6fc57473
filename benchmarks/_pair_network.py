"""The network that reads two texts together, in torch, to fit its additions: see `benchmarks.fit_supersession`.

It computes what `biem/adapters/embedders/pair_reader.py` describes, on the weights of e5, which stay as they are.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from biem.adapters.embedders import e5_weights
from biem.adapters.embedders.e5_weights import Weights
from biem.adapters.embedders.pair_reader import MOST_TOKENS
from biem.ports.embedding import TextPair

_RANK, _DROPPED = 16, 0.1
_DROPPED_HIDDEN, _DROPPED_TOKENS = 0.05, 0.05
"""Shares of what each half of a layer adds, and of the tokens, that a step of a fit leaves out: the same pairs are seen
several times."""
_RATE, _RATE_FURTHER, _DECAY, _BATCH, _WARM = 6e-4, 2.5e-4, 0.01, 32, 100
"""The second rate: of a fit that begins with packaged weights."""
_MEAN_FROM, _MEAN_EACH = 0.5, 10
"""Share of the steps from which the weights of each so many steps count: their mean is kept."""
_LIKE_LONG = 20
"""Times `_BATCH`: the sets that are sorted by length together."""
_CHOICE = 2.0
"""What the choice among the pairs of a set counts beside the pairs themselves."""
_ADAPTED = ("q", "v", "ao", "fi", "fo")
"""The matrices of a layer that get additions."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a pair."""

    first: Sequence[int]
    second: Sequence[int]
    marked: bool

    def __len__(self) -> int:
        return len(self.first) + len(self.second)


class _Product(nn.Module):  # type: ignore[misc]  # torch is optional
    """A matrix of e5 with its bias and an addition of low rank."""

    def __init__(self, weights: Weights, name: str, columns: int, *, adapted: bool) -> None:
        super().__init__()
        matrix = e5_weights.dequantise(weights.blocks(f"{name}.w")).reshape(-1, columns)
        self.matrix, self.bias = torch.tensor(matrix), torch.tensor(weights.floats(f"{name}.b"))
        self.adapted = adapted
        if adapted:
            self.down = nn.Parameter(torch.randn(_RANK, columns) / math.sqrt(columns))
            self.up = nn.Parameter(torch.zeros(len(matrix), _RANK))

    def forward(self, x: Tensor) -> Tensor:
        plain = functional.linear(x, self.matrix, self.bias)
        if not self.adapted:
            return plain
        kept = functional.dropout(x, _DROPPED, self.training)
        return plain + functional.linear(functional.linear(kept, self.down), self.up)


class _Layer(nn.Module):  # type: ignore[misc]
    def __init__(self, weights: Weights, name: str) -> None:
        super().__init__()
        shape = weights.shape
        self.heads, self.epsilon = shape.heads, shape.epsilon
        self.parts = nn.ModuleDict(
            {
                part: _Product(
                    weights, f"{name}.{part}", shape.inner if part == "fo" else shape.hidden, adapted=part in _ADAPTED
                )
                for part in ("q", "k", "v", "ao", "fi", "fo")
            }
        )
        self.norms = {
            norm: tuple(torch.tensor(weights.floats(f"{name}.{norm}.{side}")) for side in "wb")
            for norm in ("aln", "oln")
        }

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        count, length, hidden = x.shape
        q, k, v = (
            self.parts[part](x).view(count, length, self.heads, hidden // self.heads).transpose(1, 2) for part in "qkv"
        )
        mixed = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2)
        x = self._normal(x + self._some(self.parts["ao"](mixed.reshape(count, length, hidden))), "aln")
        return self._normal(x + self._some(self.parts["fo"](functional.gelu(self.parts["fi"](x)))), "oln")

    def _some(self, x: Tensor) -> Tensor:
        return functional.dropout(x, _DROPPED_HIDDEN, self.training)

    def _normal(self, x: Tensor, norm: str) -> Tensor:
        weight, bias = self.norms[norm]
        return functional.layer_norm(x, (x.shape[-1],), weight, bias, self.epsilon)


class PairNetwork(nn.Module):  # type: ignore[misc]
    """Log-odds of a pair of texts."""

    def __init__(self) -> None:
        super().__init__()
        self._weights, self._pieces = e5_weights.load(e5_weights.find())
        shape = self._weights.shape
        self._hidden, self._epsilon = shape.hidden, shape.epsilon
        self._words = self._weights.blocks("emb.word").reshape(-1, shape.hidden // e5_weights.BLOCK, 18)
        first_type = self._weights.floats("emb.type")[: shape.hidden]
        positions = self._weights.floats("emb.pos").reshape(shape.positions, shape.hidden)
        self._positions = torch.tensor((positions + first_type)[:MOST_TOKENS])
        self._norm = [torch.tensor(self._weights.floats(f"emb.ln.{side}")) for side in "wb"]
        self.segments = nn.Parameter(torch.zeros(2, shape.hidden))
        self.mark = nn.Parameter(torch.zeros(shape.hidden))
        self.layers = nn.ModuleList(_Layer(self._weights, f"l{number}") for number in range(shape.layers))
        self.head = nn.Linear(2 * shape.hidden, 1)

    def tokens(self, pair: TextPair) -> Tokens:
        """As the packaged model reads them."""
        first, second = self._pieces.ids(f"passage: {pair.first}"), self._pieces.ids(f"query: {pair.second}")
        return Tokens(first[:MOST_TOKENS], second[:MOST_TOKENS], pair.marked)

    def forward(self, batch: Sequence[Tokens]) -> Tensor:
        longest = max(map(len, batch))
        ids = np.zeros((len(batch), longest), dtype=np.int64)
        segment = torch.full((len(batch), longest), 2)
        place = torch.zeros((len(batch), longest), dtype=torch.long)
        for row, one in enumerate(batch):
            size = len(one.first)
            ids[row, : len(one)] = [*one.first, *one.second]
            segment[row, : len(one)] = torch.tensor([0] * size + [1] * len(one.second))
            place[row, : len(one)] = torch.tensor([*range(size), *range(len(one.second))])
        inside = segment < 2
        x = torch.tensor(self._looked_up(ids)) + self._positions[place] + self.segments[segment.clamp(max=1)]
        x = x + torch.tensor([float(one.marked) for one in batch])[:, None, None] * self.mark
        x = functional.layer_norm(x, (self._hidden,), *self._norm, self._epsilon)
        for layer in self.layers:
            x = layer(x, inside[:, None, None, :])
        sides = [(segment == side)[:, :, None].float() for side in (0, 1)]
        means = torch.cat([(x * side).sum(1) / side.sum(1) for side in sides], -1)
        found: Tensor = self.head(functional.dropout(means, _DROPPED, self.training)).squeeze(-1)
        return found

    def _looked_up(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        words = e5_weights.dequantise(self._words[ids.ravel()].reshape(-1, self._words.shape[2]))
        return words.reshape(*ids.shape, self._hidden)

    def read(self, path: Path) -> None:
        """Take the weights of a packaged file."""
        with np.load(path) as file, torch.no_grad():
            for name, one in self._named().items():
                one.copy_(torch.tensor(file[name].astype(np.float32)))

    def kept(self) -> dict[str, NDArray[np.float16]]:
        """What the packaged file holds, by name."""
        return {name: one.detach().numpy().astype(np.float16) for name, one in self._named().items()}

    def _named(self) -> dict[str, Tensor]:
        found = {
            "segments": self.segments,
            "mark": self.mark,
            "head": self.head.weight[0],
            "bias": self.head.bias[0],
        }
        for number, layer in enumerate(self.layers):
            for part in _ADAPTED:
                product = layer.get_submodule(f"parts.{part}")
                found[f"l{number}.{part}.down"] = product.down.T
                found[f"l{number}.{part}.up"] = product.up.T
        return found


def fit(
    sets: Sequence[Sequence[TextPair]],
    wanted: Sequence[Sequence[bool]],
    passes: int,
    start: Path | None = None,
    seed: int = 0,
) -> PairNetwork:
    """A network fitted to sets of pairs; prints its loss as it goes. `start`: a packaged file to begin with.

    The loss is the cross-entropy of the pairs, and of each set of several (the lines that a recall finds for a
    question, or later messages than one) `_CHOICE` times that of the choice among them and none of them: a line
    is shown because it answers better than the others, and a block is empty because none does.

    Its weights are the mean of those of the second half of the steps (Polyak averaging).
    """
    torch.manual_seed(seed)
    random, network = Random(seed), PairNetwork()
    if start is not None:
        network.read(start)
    tokens = [[network.tokens(pair) for pair in pairs] for pairs in sets]
    labels = [torch.tensor([float(one) for one in those]) for those in wanted]
    fitted = [one for one in network.parameters() if one.requires_grad]
    mean, of_mean = [torch.zeros_like(one) for one in fitted], 0
    rate = _RATE if start is None else _RATE_FURTHER
    descent = torch.optim.AdamW(fitted, lr=rate, weight_decay=_DECAY)
    batches = [batch for _ in range(passes) for batch in _shuffled(tokens, random)]
    lost = 0.0
    network.train()
    for done, batch in enumerate(batches):
        for group in descent.param_groups:
            group["lr"] = rate * min(1.0, done / _WARM) * max(0.02, 1 - done / len(batches))
        read = network([_some(one, random) for n in batch for one in tokens[n]])
        loss = _loss(read, [labels[n] for n in batch])
        descent.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(fitted, 1.0)
        descent.step()
        lost += float(loss.detach())
        if done >= _MEAN_FROM * len(batches) and done % _MEAN_EACH == 0:
            of_mean += 1
            for kept, one in zip(mean, fitted, strict=True):
                kept += (one.detach() - kept) / of_mean
        if done % 100 == 99:
            print(f"step {done + 1} of {len(batches)}: loss {lost / 100:.3f}", flush=True)
            lost = 0.0
    with torch.no_grad():
        for kept, one in zip(mean, fitted, strict=True):
            one.copy_(kept if of_mean else one)
    network.eval()
    return network


def _loss(read: Tensor, labels: Sequence[Tensor]) -> Tensor:
    pairs: Tensor = functional.binary_cross_entropy_with_logits(read, torch.cat(list(labels)))
    chosen, none = list[Tensor](), torch.zeros(1)
    for odds, those in zip(torch.split(read, [len(one) for one in labels]), labels, strict=True):
        if len(those) > 1:
            right = odds[those > 0] if those.any() else none
            chosen.append(torch.logsumexp(torch.cat([none, odds]), 0) - torch.logsumexp(right, 0))
    return pairs + _CHOICE * torch.stack(chosen).mean() if chosen else pairs


def _some(tokens: Tokens, random: Random) -> Tokens:
    """A pair without some of its tokens; the first three, the prefix, and the last are kept."""

    def kept(ids: Sequence[int]) -> list[int]:
        last = len(ids) - 1
        return [one for n, one in enumerate(ids) if n < 3 or n == last or random.random() >= _DROPPED_TOKENS]

    return Tokens(kept(tokens.first), kept(tokens.second), tokens.marked)


def _shuffled(sets: Sequence[Sequence[Tokens]], random: Random) -> Iterator[list[int]]:
    """The places of all sets in batches of some `_BATCH` pairs of similar length."""
    order = list(range(len(sets)))
    random.shuffle(order)
    batches: list[list[int]] = []
    for start in range(0, len(order), _BATCH * _LIKE_LONG):
        batch, count = list[int](), 0
        for n in sorted(order[start : start + _BATCH * _LIKE_LONG], key=lambda n: max(map(len, sets[n]))):
            batch.append(n)
            count += len(sets[n])
            if count >= _BATCH:
                batches.append(batch)
                batch, count = [], 0
        if batch:
            batches.append(batch)
    random.shuffle(batches)
    yield from batches
