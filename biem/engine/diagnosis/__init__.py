"""Looking at the whole system: what is wrong, how to mend it, and mending what can be mended safely."""

from biem.engine.diagnosis.diagnose import Check, Diagnoser
from biem.engine.diagnosis.health import ask
from biem.engine.diagnosis.moves import MoveCheck
from biem.engine.diagnosis.places import ClockCheck, DiskCheck, IndexCheck, SchemaCheck, ServerCheck
from biem.engine.diagnosis.projections import ProjectionCheck
from biem.engine.diagnosis.rows import RowCheck
from biem.engine.diagnosis.state import CanvasCheck, GraphCheck, OutboxCheck

__all__ = [
    "CanvasCheck",
    "Check",
    "ClockCheck",
    "Diagnoser",
    "DiskCheck",
    "GraphCheck",
    "IndexCheck",
    "MoveCheck",
    "OutboxCheck",
    "ProjectionCheck",
    "RowCheck",
    "SchemaCheck",
    "ServerCheck",
    "ask",
]
