"""Puts lines in order by what succeeds what: how things are now goes first, or how they were if that is asked.

What explains a line follows it.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from biem.domain.retention import ASSISTANT
from biem.domain.text import late
from biem.engine.context.currency.succession import Succession
from biem.engine.context.lines import RatedLine
from biem.engine.context.same_subject import lift, likeness

_LEAST = -1.3
"""Log-odds from which a later line goes first. A former value in the first line misleads, a line too many does not."""
_POSSIBLE = -2.7
"""Log-odds from which a later line is shown below the first one, if no line is probable enough to go before that …"""
_AHEAD = 1.0
"""… and if they are so much above those of every other line."""
_OF_VALUES = -1.8
"""The first of these where both lines are shown anyway and give values of one kind: only their order is open."""
_POSSIBLE_VALUES = -3.8
"""The second where both give values of one kind."""
_BELOW = 1e-3
"""Difference in worth of lines that follow each other."""
_PROBABLE = 0.0
"""Log-odds of what is more probable than not."""
_SAME = 0.5
"""Likeness from which an occasion and what holds otherwise are of one matter."""
_SOON = timedelta(minutes=10)
"""Within this time the next message of a conversation may explain the one before."""
_EXPLAINS = late(r"\b(?:because|since|so that|due to|reasons?)\b|因为|由于|原因|为了")


def lift_successors(lines: Sequence[RatedLine], succession: Succession, least: float) -> None:
    """Lift the usual above what passes, then the most probable successor of each line.

    `least`: the worth from which a line may be shown.
    """
    _lift_usual(lines, succession, least)
    for older in sorted(lines, key=_said):
        found = _successors(older, lines, succession) if older.worth >= least else []
        if not found and older.worth >= least:
            shown = [line for line in lines if line.worth >= least]
            candidates = _successors(older, shown, succession, _OF_VALUES)
            found = [one for one in candidates if succession.give_one_kind(one[1], older)]
        if found:
            lift(max(found, key=_by_odds)[1], older)


def lift_sure_successors(lines: Sequence[RatedLine], succession: Succession, least: float) -> None:
    """Lift above each line its most probable successor, if that is more probable than not.

    "Where did we send the paper?" asks in the past tense for the last of several acts. `least`: the worth from which a
    line may be shown.
    """
    for older in sorted(lines, key=_said):
        found = _successors(older, lines, succession, _PROBABLE) if older.worth >= least else []
        if found:
            lift(max(found, key=_by_odds)[1], older)


def _lift_usual(lines: Sequence[RatedLine], succession: Succession, least: float) -> None:
    """Lift a line above one about a single occasion, an earlier time, another person, or that decides nothing."""
    for passed in lines:
        held = [line for line in lines if line.worth >= least and line.hit.node.superseded_by is None]
        usual = [line for line in held if succession.has_passed(passed, line)]
        if usual and passed.hit.node.source != "assistant":
            best = max(usual, key=lambda line: (likeness(passed, line), line.worth))
            if (
                likeness(passed, best) >= _SAME
                or succession.shares_topic(passed, best)
                or succession.is_of_another_owner(passed, best)
            ):
                lift(best, passed)


def show_possible_successor(lines: Sequence[RatedLine], succession: Succession, least: float) -> None:
    """Raise the most probable of the successors of the first line that would not be shown just below that line.

    A former value alone misleads; with the line that may have changed it a reader can decide. `least`: the worth from
    which a line may be shown.
    """
    first = max(lines, key=lambda line: line.worth, default=None)
    if first is None:
        return
    found = sorted(_successors(first, lines, succession, _POSSIBLE_VALUES), key=_by_odds, reverse=True)
    ahead = len(found) == 1 or (len(found) > 1 and found[0][0] - found[1][0] > _AHEAD)
    for place, (odds, newer) in enumerate(found):
        likely = ahead and place == 0 and odds > _POSSIBLE
        if newer.worth < least and (likely or succession.may_give_new_value(newer, first)):
            newer.worth = first.worth
            first.worth += _BELOW
            return


def show_disputing(lines: Sequence[RatedLine], least: float) -> None:
    """Raise the line that disputes a shown one just below that line: a reader decides by both.

    `least`: the worth from which a line may be shown.
    """
    by_id = {line.hit.node.id: line for line in lines}
    for line in [line for line in lines if line.worth >= least]:
        disputing = by_id.get(str(line.hit.why.get("disputed_by")))
        if disputing is not None and disputing.worth < least:
            disputing.worth = line.worth
            line.worth += _BELOW


def lift_predecessors(lines: Sequence[RatedLine], succession: Succession, least: float) -> None:
    """Lift each line just above its most probable successor, if nothing succeeds that: what was before is asked for.

    "Where did I live before?" has more in common with "I moved to Graz" than with "I rent a room in Linz". So if the
    likeliest line succeeds none that may be shown, its most probable predecessor is lifted all the same, and so is one
    of which a line that may be shown tells what became of it. `least`: the worth from which a line may be shown.
    """
    successors = {id(line): _successor(line, lines, succession) for line in lines}
    best = max(lines, key=lambda line: line.worth, default=None)
    followed, unlikely = False, list[tuple[float, RatedLine]]()
    for older in lines:
        odds, newer = successors[id(older)]
        if newer is None or successors[id(newer)][1] is not None:
            continue
        if older.worth >= least:
            followed |= newer is best
            lift(older, newer)
        elif newer.worth >= least and succession.gives_way(newer, older):
            lift(older, newer)
        elif newer is best and odds > 0.0:
            unlikely.append((odds + older.worth, older))
    if best is not None and unlikely and not followed:
        lift(max(unlikely, key=_by_odds)[1], best)


def lift_reason(lines: Sequence[RatedLine]) -> None:
    """Lift what the user said soon after the likeliest line to it, unless that gives a reason.

    "We've left the platform." – "They wanted twenty per cent." The second shares neither words nor meaning with
    "Why did we leave the platform?".
    """
    best = max(lines, key=lambda line: line.worth, default=None)
    if best is None or not best.hit.node.conversation or _EXPLAINS.search(best.hit.node.text.lower()):
        return
    later = [line for line in lines if _may_explain(line, best)]
    if later:
        reason = min(later, key=_said)
        reason.worth = best.worth
        best.worth += _BELOW


def _may_explain(line: RatedLine, told: RatedLine) -> bool:
    node, before = line.hit.node, told.hit.node
    return (
        node.conversation == before.conversation
        and node.source != ASSISTANT
        and timedelta(0) < node.at - before.at <= _SOON
    )


def _successor(older: RatedLine, lines: Sequence[RatedLine], succession: Succession) -> tuple[float, RatedLine | None]:
    """The most probable successor of a line, if any is probable enough, with its log-odds."""
    return max(_successors(older, lines, succession), key=_by_odds, default=(_LEAST, None))


def _successors(
    older: RatedLine, lines: Sequence[RatedLine], succession: Succession, least: float = _LEAST
) -> list[tuple[float, RatedLine]]:
    """The lines that probably succeed a line, each with its log-odds, which are above `least`."""
    found = []
    for newer in lines:
        odds = succession.odds(newer, older)
        if odds is not None and odds > least:
            found.append((odds, newer))
    return found


def _by_odds(found: tuple[float, RatedLine]) -> float:
    return found[0]


def _said(line: RatedLine) -> datetime:
    return line.hit.node.at
