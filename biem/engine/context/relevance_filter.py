"""Optional filter before injection: a language model keeps the hits that help to answer (Angel's subconscious).

Off by default. It selects from more hits than would be shown without it, in one call with the timeout of foreground
calls; without a usable answer the best are shown, as if it were off.
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
        """How many hits to examine in order to show `top_k`."""
        return top_k if self._reasoner is None else max(top_k, self._policy.second_look)

    def keep(self, scope: Scope, question: str, hits: Hits, top_k: int) -> Hits:
        """`hits` that help to answer; the best `top_k` without an answer of the model. Never raises."""
        if self._reasoner is None or not hits:
            return hits
        with self._telemetry.span("biem.context.second_look", hits=len(hits)) as span:
            texts = [hit.node.spoken_text for hit in hits]
            places = self._reasoner.for_reply().relevant(scope, question, texts)
            span.add(answered=places is not None)
            hits[:] = hits[:top_k] if places is None else [hits[place] for place in places]
        return hits
