"""Recorded replacements: a line that replaced another stands just above it, or just below for the former state."""

from collections.abc import Sequence
from dataclasses import replace

from biem.engine.context.lines import LineQuestion, RatedLine
from biem.engine.context.modifiers import has_other_modifier
from biem.engine.context.occasions import is_exception
from biem.engine.context.same_subject import gives_as_much, is_of_another_part, lift


def lift_replacements(lines: Sequence[RatedLine], question: LineQuestion) -> None:
    """Lift the replacement of a line, or a newer value of the same thing, just above that line.

    A newer value must be of the requested kind; a replacement may end the older line without a value.
    """
    by_id = {line.hit.node.id: line for line in lines}
    for line in sorted(lines, key=lambda line: line.hit.node.at):
        for key in (line.hit.node.superseded_by, line.hit.why.get("renewed_by")):
            newer = by_id.get(str(key))
            replaced = key == line.hit.node.superseded_by
            if newer is not None and (replaced or _renews(newer, line, question)):
                lift(newer, line)
                if not newer.matter.topics:  # "I meant 18 October": of what it corrects
                    told = line.matter
                    newer.matter = replace(told, holds=newer.matter.holds, past=False, changes=True)


def _renews(newer: RatedLine, older: RatedLine, question: LineQuestion) -> bool:
    """Whether it has a value of the requested kind, and is about the same one of several and the clause in question."""
    said, told = newer.hit.node.text, older.hit.node.text
    return gives_as_much(newer.matter, older.matter, question.matter) and not (
        has_other_modifier(said, told, question.text)
        or is_exception(said, told, question.text)
        or is_of_another_part(newer, older, question)
    )


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
