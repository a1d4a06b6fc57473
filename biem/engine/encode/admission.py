"""What decides beside the gate whether a message is formed: rules, or a language model.

*statements*, the default: what a person states is formed unless it repeats what is known; courtesies and
acknowledgements are refused; about the rest the gate's value decides.
*classifier*: a message that tells at least three terms of content outside of questions is formed, its value is terms/6.
*llm*: the model's exact "1" or "0"; where it says nothing (off, over budget, down), the gate decides as without it.
What they refuse is recorded and replayed like what the gate refuses.
"""

from dataclasses import replace

from biem.domain.designs.aim import GateDecision
from biem.domain.policies.aim import AimPolicy
from biem.domain.scope import Scope
from biem.domain.speech_acts import is_courtesy, is_statement
from biem.engine.encode.gate_text import Told
from biem.ports import Clock
from biem.ports.reasoner import Reasoner

_ENOUGH = 6.0
"""Terms of content that are told by a value of 1; half of them pass."""
_PASSES = 0.5
_REPEATS = 0.97
"""A statement this like a formed memory (calibrated similarity) which pins down nothing else repeats it."""


class Admission:
    """Decides in the place of the gate, where the policy says so."""

    def __init__(self, policy: AimPolicy, reasoner: Reasoner | None, clock: Clock) -> None:
        self._by = policy.admission
        self._reasoner = reasoner
        self._clock = clock

    def decision(self, scope: Scope, text: str, told: Told, *, waiting: bool = False) -> GateDecision | None:
        """What is decided about a message; None: the gate is to say. `waiting`: somebody waits for the answer."""
        if self._by == "classifier":
            return self._decided(min(1.0, told.words / _ENOUGH))
        if self._by == "llm" and self._reasoner is not None:
            worth = (self._reasoner.for_reply() if waiting else self._reasoner).is_worth(scope, text)
            return None if worth is None else self._decided(float(worth))
        return None

    def by_statements(
        self, decision: GateDecision, text: str, source: str, *, likeness: float | None, news: float
    ) -> GateDecision:
        """The gate's decision, overruled where the rule of statements knows better.

        `likeness` to the nearest formed memory, None without one; `news`: weights of what the text pins down and that
        memory does not.
        """
        if self._by != "statements":
            return decision
        if is_courtesy(text):
            return replace(decision, formed=False, value=0.0)
        repeats = likeness is not None and likeness >= _REPEATS and news == 0 and decision.conflict == 0
        if source == "assistant" or repeats or not is_statement(text):
            return decision
        return replace(decision, formed=True)

    def _decided(self, value: float) -> GateDecision:
        """Relevance, surprise and conflict were not looked at."""
        return GateDecision(value >= _PASSES, value, _PASSES, self._by, 0.0, 0.0, 0.0, self._clock.now())
