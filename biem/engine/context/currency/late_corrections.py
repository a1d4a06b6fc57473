"""Corrections without a subject that were said in a later conversation: "Correction: it's 6 December", 更正：是六号。

Right after what they correct, the rules decide and record that. Days later such a line may mean any statement with a
value of its kind, so nothing is recorded: a block shows it with that statement where only one fits.
"""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from biem.domain.conflict import Statement
from biem.domain.retention import ASSISTANT
from biem.engine.context.lines import RatedLine
from biem.engine.context.same_subject import lift, things_of
from biem.ports.contradiction import ContradictionRules

_RECENT = timedelta(days=14)
"""Time within which a person corrects without naming the subject."""
_RULE = "corrected right after"
"""The rule that decides if the later of two statements corrects the earlier and names no subject."""


def lift_late_corrections(
    lines: Sequence[RatedLine], rules: ContradictionRules, least: float, *, all_known: bool
) -> None:
    """Lift each correction without a subject above the only recent statement that it fits, if that may be shown.

    `least`: the worth from which a line may be shown. `all_known`: whether the lines hold all that was found; where
    others were left out, one of them may be meant, so that the correction stands below the statement.
    """
    for newer in lines:
        fitting = list(_corrected(newer, lines, rules))
        if len(fitting) != 1 or fitting[0].worth < least:
            continue
        if all_known:
            lift(newer, fitting[0])
        else:
            newer.worth = max(newer.worth, least)


def _corrected(newer: RatedLine, lines: Sequence[RatedLine], rules: ContradictionRules) -> Iterator[RatedLine]:
    """The recent statements of the same speaker that a line corrects if it was said of them."""
    node = newer.hit.node
    if node.source == ASSISTANT or things_of(newer) or newer.hit.replaces is not None:
        return
    for older in lines:
        before = older.hit.node
        if not timedelta() < node.at - before.at <= _RECENT or before.superseded_by is not None:
            continue
        if before.source != node.source or before.speaker != node.speaker:
            continue
        told = Statement(before.text, before.speaker, before.at)
        verdict = rules.compare(told, Statement(node.text, node.speaker, node.at, follows=True), None)
        if verdict is not None and verdict.rule == _RULE:
            yield older
