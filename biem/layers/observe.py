"""Statements of a message that are worth keeping: `memory.observe`."""

from collections.abc import Mapping
from dataclasses import replace

from biem.domain.observing.category import Category
from biem.domain.observing.rules import recognise
from biem.domain.observing.unit import Unit
from biem.domain.scope import Scope
from biem.domain.text import require_string
from biem.engine.remember.writer import Writer
from biem.ports import Analyzer
from biem.telemetry import Telemetry

_TAGS = 5


class Observer:
    """Recognises statements worth keeping by rules. Thread-safe."""

    def __init__(
        self, *, categories: Mapping[str, Category], analyzer: Analyzer, writer: Writer, telemetry: Telemetry
    ) -> None:
        self._categories = categories
        self._analyzer = analyzer
        self._writer = writer
        self._telemetry = telemetry

    def observe(self, text: str) -> tuple[Unit, ...]:
        """The units of a message, in order; none for small talk and questions. Raises `InvalidInput`."""
        require_string(text, "text")
        with self._telemetry.span("biem.observe") as span:
            found = tuple(
                replace(unit, tags=tuple(self._analyzer.keywords(unit.judgment, _TAGS)))
                for unit in recognise(text, self._categories)
            )
            span.add(units=len(found))
        return found

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
