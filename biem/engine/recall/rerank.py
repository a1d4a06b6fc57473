"""The last steps of a recall: an optional reranker over the best hits, then the selection among them.

The reranker is off by default; enabled, it is called exactly once per recall. When it fails, the order is kept and the
result reports `degraded: reranker`. Random selections use a seed, which the result contains.
"""

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from random import Random

from biem.domain.designs.selection import choose_hits
from biem.domain.node import Hit, Hits
from biem.domain.policies.designs import PROFILES, SELECTIONS, FormulaPolicy
from biem.domain.policies.recall import RerankPolicy
from biem.errors import BiemError, InvalidInput
from biem.ports.embedding import Reranker
from biem.telemetry import Span, Telemetry

logger = logging.getLogger("biem.recall")

_POOL = 3
"""Size of the sampling pool per requested hit."""
_SEED_BITS = 32


@dataclass(frozen=True, slots=True)
class Choice:
    """Ranking and selection of one recall."""

    profile: str = "hybrid"
    selection: str | None = None
    """None: `top_k`; in typed recall the policy's value."""
    seed: int | None = None
    per_kind: int | None = None
    """For typed recall (profile `angel`); None: the policy's value."""
    formulas: FormulaPolicy | None = None
    """Options of the profile `aimate`; None: the policy."""

    def __post_init__(self) -> None:
        if self.profile not in PROFILES:
            raise InvalidInput(f"profile {self.profile!r} is unknown; choose one of {', '.join(PROFILES)}")
        if self.selection is not None and self.selection not in SELECTIONS:
            raise InvalidInput(f"selection {self.selection!r} is unknown; choose one of {', '.join(SELECTIONS)}")
        if self.seed is not None and (isinstance(self.seed, bool) or not isinstance(self.seed, int)):
            raise InvalidInput(f"seed must be a whole number, not {self.seed!r}")
        if self.per_kind is not None and (isinstance(self.per_kind, bool) or not 1 <= self.per_kind <= 100):
            raise InvalidInput(f"per_kind must be a whole number from 1 to 100, not {self.per_kind!r}")

    @property
    def draws(self) -> bool:
        """Whether the selection is random."""
        return self.selection not in (None, "top_k")


HYBRID = Choice()
"""The default ranking, best first."""


class BoundedReranker:
    """Asks a reranker once, for a bounded time, and not again for a while after a failure. Thread-safe."""

    def __init__(
        self, reranker: Reranker, policy: RerankPolicy, span: Callable[[int], AbstractContextManager[Span]]
    ) -> None:
        """`span`: the span of a call for this number of texts."""
        self._reranker = reranker
        self._policy = policy
        self._span = span
        self._down_until = 0.0

    def scores(self, query: str, texts: Sequence[str]) -> list[float] | None:
        """How well each text answers, in [0, 1]; None if the reranker fails, or failed a moment ago."""
        policy = self._policy
        if time.monotonic() < self._down_until:
            return None
        with self._span(len(texts)) as span:
            try:
                return self._reranker.rerank(query, [text[: policy.text_chars] for text in texts], policy.timeout_s)
            except BiemError as error:
                logger.warning("the order stays as it is, without the reranker: %s", error)
                pause_s: float | None = getattr(error, "pause_s", None)
                self._down_until = time.monotonic() + max(policy.pause_s, pause_s or 0.0)
                span.add(failed=True)
                return None


class Chooser:
    """Reranks and selects. Thread-safe. `reranker` may be None; `random` generates seeds that callers do not pass."""

    def __init__(
        self, *, reranker: Reranker | None, policy: RerankPolicy, random: Random, telemetry: Telemetry
    ) -> None:
        self._reranker = None
        if reranker is not None:
            self._reranker = BoundedReranker(
                reranker, policy, lambda texts: telemetry.span("biem.recall.rerank", texts=texts)
            )
        self._policy = policy
        self._random = random

    def wanted(self, choice: Choice, top_k: int) -> int:
        """How many hits `choose` needs for `top_k`."""
        pool = _POOL * top_k if choice.draws else top_k
        return max(pool, self._policy.top_n) if self._reranker is not None else pool

    def seed(self, choice: Choice) -> int:
        """The caller's seed, or a new one."""
        return self._random.getrandbits(_SEED_BITS) if choice.seed is None else choice.seed

    def choose(self, query: str, hits: Hits, choice: Choice, top_k: int) -> Hits:
        """`hits` cut to at most `top_k`: the best of them, or as `choice.selection` draws."""
        degraded = list(hits.degraded)
        hits[:] = self._reranked(query, hits, degraded)
        hits.degraded = tuple(degraded)
        if choice.selection is not None and choice.draws:
            hits.selection, hits.seed = choice.selection, self.seed(choice)
            hits[:] = choose_hits(hits, top_k, choice.selection, Random(hits.seed))
        del hits[top_k:]
        return hits

    def _reranked(self, query: str, hits: Sequence[Hit], degraded: list[str]) -> Sequence[Hit]:
        if self._reranker is None or len(hits) < 2:
            return hits
        first, rest = hits[: self._policy.top_n], hits[self._policy.top_n :]
        scores = self._reranker.scores(query, [hit.node.spoken_text for hit in first])
        if scores is None:
            degraded.append("reranker")
            return hits
        judged = sorted(zip(first, scores, strict=True), key=lambda pair: -pair[1])  # stable: ties keep their order
        ordered = [_with(hit, score, "rerank", score) for hit, score in judged]
        least = ordered[-1].score
        return [*ordered, *(_with(hit, min(hit.score, least)) for hit in rest)]


def _with(hit: Hit, score: float, name: str = "", value: float = 0.0) -> Hit:
    return replace(hit, score=score, why={**hit.why, name: value} if name else hit.why)
