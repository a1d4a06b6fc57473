"""Who else may decide whether a message is formed (C7): a rule that counts what is told, or a language model.

*classifier*: a message that tells at least three terms of content outside of questions is formed, its value is terms/6.
*llm*: the model's exact "1" or "0"; where it says nothing (off, over budget, down), the gate decides as without it.
What they refuse is recorded and replayed like what the gate refuses.
"""

from biem.domain.aim import GateDecision
from biem.domain.aim_policy import AimPolicy
from biem.domain.scope import Scope
from biem.engine.aim.information import Told
from biem.ports import Clock
from biem.ports.reasoner import Reasoner

_ENOUGH = 6.0
"""Terms of content that are told by a value of 1; half of them pass."""
_PASSES = 0.5


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

    def _decided(self, value: float) -> GateDecision:
        """Relevance, surprise and conflict were not looked at."""
        return GateDecision(value >= _PASSES, value, _PASSES, self._by, 0.0, 0.0, 0.0, self._clock.now())
