"""Unresolved conflicts: the newer of two conflicting memories is ranked first.

A rule with low confidence, or one that sees only a part of the older memory disputed, supersedes nothing (ADR 0040).
Then both are returned, the newer first, unless the question is about another part of the older one.
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
    """The disputes that concern a question with these index terms.

    One claim may be disputed by many memories, so each text is split into terms once.
    """
    question, known = set(asked), dict[str, frozenset[str]]()

    def terms_of(text: str) -> frozenset[str]:
        if text not in known:
            known[text] = frozenset(terms(text))
        return known[text]

    def concerns(turn: Turn, dispute: Dispute) -> bool:
        """False if all terms that the question shares with the older memory are outside the disputed claim."""
        if not dispute.claim:
            return True
        if turn.id not in shared:
            shared[turn.id] = question.intersection(turn.lexemes) - terms_of(turn.speaker)
        return not shared[turn.id] or not shared[turn.id].isdisjoint(terms_of(dispute.claim))

    shared = dict[str, set[str]]()
    found = {
        key: [one for one in several if concerns(turns[key], one)] for key, several in disputes.items() if key in turns
    }
    return {key: several for key, several in found.items() if several}


def open_conflicts(conflicts: Conflicts, scope: Scope, ids: Sequence[str]) -> Mapping[str, Sequence[Dispute]]:
    """Open conflicts of these memories; none while the store is unavailable."""
    try:
        return conflicts.open_of(scope.readable, ids)
    except BiemError as error:
        logger.warning("recall cannot read conflicts: %s", error)
        return {}
