"""Memories that something said later disputes while nobody has decided: what the later one says is told first.

A rule that is not sure enough, or that sees only a part of the older memory disputed, retires nothing (ADR 0040). Both
are told then, and the newer first, as a reader of the two would have it; unless the question is about what the older
one says besides.
"""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence

from biem.domain.conflict import Dispute
from biem.domain.scope import Scope
from biem.errors import BiemError
from biem.ports.conflicts import Conflicts
from biem.ports.readers import Turn

logger = logging.getLogger("biem.recall")


Terms = Callable[[str], Collection[str]]
"""Index terms of a text."""


def about(
    asked: Collection[str], turns: Mapping[str, Turn], disputes: Mapping[str, Sequence[Dispute]], terms: Terms
) -> Mapping[str, Sequence[Dispute]]:
    """Those of the disputes that concern a question of these index terms."""
    found = {
        key: [one for one in several if _concerns(asked, turns[key], one, terms)]
        for key, several in disputes.items()
        if key in turns
    }
    return {key: several for key, several in found.items() if several}


def _concerns(asked: Collection[str], turn: Turn, dispute: Dispute, terms: Terms) -> bool:
    """Not where all that the question has in common with the older memory is outside of the disputed claim."""
    if not dispute.claim:
        return True
    shared = set(asked).intersection(turn.lexemes).difference(terms(turn.speaker))
    return not shared or not shared.isdisjoint(terms(dispute.claim))


def open_conflicts(conflicts: Conflicts, scope: Scope, ids: Sequence[str]) -> Mapping[str, Sequence[Dispute]]:
    """Which of these memories are in an open conflict; none while that cannot be read."""
    try:
        return conflicts.open_of(scope.readable, ids)
    except BiemError as error:
        logger.warning("recall does not know of conflicts: %s", error)
        return {}
