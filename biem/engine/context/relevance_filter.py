"""A second look at what is about to be told: a language model keeps what helps to answer (Angel's subconscious, G2).

Off by default. It chooses from more than would be told without it, in one call within the time a reply may wait; when
it gives nothing usable, the best are told as without it.
"""

from biem.domain.node import Hits
from biem.domain.policies.context import ContextPolicy
from biem.domain.scope import Scope
from biem.ports.reasoner import Reasoner
from biem.telemetry import Telemetry


class RelevanceFilter:
    """Asks the model which hits help. Without a `reasoner` it changes nothing. Thread-safe."""

    def __init__(self, reasoner: Reasoner | None, policy: ContextPolicy, telemetry: Telemetry) -> None:
        self._reasoner = reasoner if policy.second_look else None
        self._policy = policy
        self._telemetry = telemetry

    def wanted(self, top_k: int) -> int:
        """How many hits to look at, to tell about `top_k` of them."""
        return top_k if self._reasoner is None else max(top_k, self._policy.second_look)

    def keep(self, scope: Scope, question: str, hits: Hits, top_k: int) -> Hits:
        """`hits` without those that do not help to answer; the best `top_k` where it says nothing. Never raises."""
        if self._reasoner is None or not hits:
            return hits
        with self._telemetry.span("biem.context.second_look", hits=len(hits)) as span:
            texts = [hit.node.indexed_text for hit in hits]
            places = self._reasoner.for_reply().relevant(scope, question, texts)
            span.add(answered=places is not None)
            hits[:] = hits[:top_k] if places is None else [hits[place] for place in places]
        return hits
