"""Statements of a message that are worth keeping: `memory.observe`."""

from dataclasses import replace

from biem.domain.observing.category import categories_of
from biem.domain.observing.rules import proposed, recognise
from biem.domain.observing.unit import Unit
from biem.domain.policies.layers import LayerPolicy
from biem.domain.scope import Scope
from biem.domain.text import require_string
from biem.engine.remember.writer import Writer
from biem.ports import Analyzer
from biem.ports.reasoner import Reasoner
from biem.telemetry import Telemetry


class Observer:
    """Recognises statements worth keeping by rules; a model may propose more. Thread-safe."""

    def __init__(
        self,
        *,
        policy: LayerPolicy,
        analyzer: Analyzer,
        writer: Writer,
        telemetry: Telemetry,
        reasoner: Reasoner | None = None,
    ) -> None:
        self._categories = categories_of(policy.categories, policy.ttl_days)
        self._policy = policy
        self._analyzer = analyzer
        self._writer = writer
        self._telemetry = telemetry
        self._reasoner = reasoner

    def observe(self, scope: Scope, text: str, *, model: bool = False) -> tuple[Unit, ...]:
        """The units of a message, in order; none for small talk and questions. Raises `InvalidInput`.

        With `model`, what a language model proposes in addition follows them.
        """
        require_string(text, "text")
        with self._telemetry.span("biem.observe") as span:
            found = tuple(replace(unit, tags=self._tags(unit.judgment)) for unit in recognise(text, self._categories))
            if model:
                found += self._proposed(scope, text, found)
            span.add(units=len(found))
        return found

    def _tags(self, text: str) -> tuple[str, ...]:
        return tuple(self._analyzer.keywords(text, self._policy.tags))

    def _proposed(self, scope: Scope, text: str, known: tuple[Unit, ...]) -> tuple[Unit, ...]:
        """What the model proposes, as far as the message says it and no rule has recognised it."""
        offered = self._reasoner.observe(scope, text, self._policy.proposed_most) if self._reasoner else None
        terms = self._analyzer.lexemes
        said, told = set(terms(text)), [set(terms(unit.text)) for unit in known]
        found = []
        for one in offered or ():
            words = set(terms(one.judgment))
            if not words or not words <= said or any(words <= other for other in told):
                continue
            reason = one.reason if set(terms(one.reason)) <= said else ""
            tags = tuple(tag for tag in one.tags if set(terms(tag)) <= said)
            unit = proposed(one.judgment, reason, self._categories)
            if unit is not None:
                told.append(words)
                found.append(replace(unit, tags=tags or self._tags(one.judgment)))
        return tuple(found)

    def store(self, scope: Scope, units: tuple[Unit, ...]) -> tuple[Unit, ...]:
        """Remember units of the user's own words, each at its level; returns them with the ids of their memories.

        The project's stay in `scope`, the user's go to the user's own level. A unit that is stored
        already keeps its memory.
        """
        own = Scope(scope.tenant, scope.user)
        return tuple(
            replace(
                unit,
                memory_id=self._writer.remember(
                    scope if unit.level == "project" else own, unit.judgment, source="user", **unit.details
                ),
            )
            for unit in units
        )
