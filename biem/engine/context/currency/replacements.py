"""Recorded replacements: a line that replaced another stands just above it, or just below for the former state."""

from collections.abc import Sequence

from biem.engine.context.lines import LineQuestion, RatedLine
from biem.engine.context.same_subject import gives_as_much, lift


def lift_replacements(lines: Sequence[RatedLine], question: LineQuestion) -> None:
    """Lift the replacement of a line, or a newer value of the same thing, just above that line.

    A newer value must be of the requested kind; a replacement may end the older line without a value.
    """
    by_id = {line.hit.node.id: line for line in lines}
    for line in sorted(lines, key=lambda line: line.hit.node.at):
        for key in (line.hit.node.superseded_by, line.hit.why.get("renewed_by")):
            newer = by_id.get(str(key))
            replaced = key == line.hit.node.superseded_by
            if newer is not None and (replaced or gives_as_much(newer.matter, line.matter, question.matter)):
                lift(newer, line)


def lift_reported_changes(lines: Sequence[RatedLine]) -> None:
    """Lift each line that the ranking holds for the report of a change just above what it changes."""
    by_id = {line.hit.node.id: line for line in lines}
    for line in sorted(lines, key=lambda line: line.hit.node.at):
        newer = by_id.get(str(line.hit.why.get("revised_by")))
        if newer is not None:
            lift(newer, line)


def lift_former(lines: Sequence[RatedLine]) -> None:
    """Lift a replaced line just above its replacement, if that still holds."""
    by_id = {line.hit.node.id: line for line in lines}
    for line in lines:
        newer = by_id.get(line.hit.node.superseded_by or "")
        if newer is not None and newer.hit.node.superseded_by is None:
            lift(line, newer)
