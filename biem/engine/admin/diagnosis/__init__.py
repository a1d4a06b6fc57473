"""Diagnosis of the whole system: findings, how to repair them, and safe automatic repairs."""

from biem.engine.admin.diagnosis.diagnose import Check, Diagnoser
from biem.engine.admin.diagnosis.health_probe import ask
from biem.engine.admin.diagnosis.index_checks import RowCheck
from biem.engine.admin.diagnosis.note_checks import NoteCheck
from biem.engine.admin.diagnosis.projection_checks import ProjectionCheck
from biem.engine.admin.diagnosis.reembed_checks import MoveCheck
from biem.engine.admin.diagnosis.server_checks import ClockCheck, DiskCheck, IndexCheck, SchemaCheck, ServerCheck
from biem.engine.admin.diagnosis.state_checks import CanvasCheck, GraphCheck, OutboxCheck

__all__ = [
    "CanvasCheck",
    "Check",
    "ClockCheck",
    "Diagnoser",
    "DiskCheck",
    "GraphCheck",
    "IndexCheck",
    "MoveCheck",
    "NoteCheck",
    "OutboxCheck",
    "ProjectionCheck",
    "RowCheck",
    "SchemaCheck",
    "ServerCheck",
    "ask",
]
