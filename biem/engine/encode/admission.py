"""Admission rules that can replace the gate in deciding whether a message is formed.

*statements*, the default: a person's statement is formed unless it repeats a known one; courtesies and
acknowledgements are refused; for other messages the gate's value decides.
*classifier*: a message with at least three content terms outside of questions is formed; its value is terms/6.
*llm*: the model's exact "1" or "0"; without an answer (off, over budget, down) the gate decides.
Refusals are recorded and can be replayed like those of the gate.
"""

from dataclasses import replace

from biem.domain.designs.aim import GateDecision
from biem.domain.policies.aim import AimPolicy
from biem.domain.scope import Scope
from biem.domain.speech.acts import is_courtesy, is_statement
from biem.domain.text import simplified
from biem.engine.encode.gate_text import Told
from biem.ports import Clock
from biem.ports.reasoner import Reasoner

_ENOUGH = 6.0
"""Content terms that give a value of 1; half as many are enough to be formed."""
_PASSES = 0.5
_REPEATS = 0.97
"""Calibrated similarity to a formed memory from which a statement without new fields repeats it."""


class Admission:
    """Decides instead of the gate, if the policy says so."""

    def __init__(self, policy: AimPolicy, reasoner: Reasoner | None, clock: Clock) -> None:
        self._by = policy.admission
        self._reasoner = reasoner
        self._clock = clock

    def decision(self, scope: Scope, text: str, told: Told, *, waiting: bool = False) -> GateDecision | None:
        """The decision about a message; None: the gate decides. `waiting`: this is a foreground call."""
        if self._by == "classifier":
            return self._decided(min(1.0, told.words / _ENOUGH))
        if self._by == "llm" and self._reasoner is not None:
            worth = (self._reasoner.for_reply() if waiting else self._reasoner).is_worth(scope, text)
            return None if worth is None else self._decided(float(worth))
        return None

    def by_statements(
        self,
        decision: GateDecision,
        text: str,
        source: str,
        *,
        likeness: float | None,
        news: float,
        courteous: bool = False,
    ) -> GateDecision:
        """The gate's decision, unless the rule of statements overrules it.

        `likeness`: similarity to the nearest formed memory, None without one; `news`: weights of the text's fields
        that this memory lacks. `courteous`: its vector tells that it is a courtesy.
        """
        if self._by != "statements":
            return decision
        text = simplified(text)
        if is_courtesy(text) or (courteous and decision.conflict == 0):
            return replace(decision, formed=False, value=0.0)
        repeats = likeness is not None and likeness >= _REPEATS and news == 0 and decision.conflict == 0
        if source == "assistant" or repeats or not is_statement(text):
            return decision
        return replace(decision, formed=True)

    def _decided(self, value: float) -> GateDecision:
        """A decision without relevance, surprise and conflict."""
        return GateDecision(value >= _PASSES, value, _PASSES, self._by, 0.0, 0.0, 0.0, self._clock.now())
