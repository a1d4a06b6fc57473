"""Which memories of the block a reply visibly used: a conservative signal without a model.

A memory was used when the reply contains one of its anchors (a name, number or symbol) that is neither in the question
nor in another memory of the block: the model can hardly know it from elsewhere. It misses memories used in other words,
which is harmless; matches count as useful, so it must not guess.
"""

import re
from collections import Counter
from collections.abc import Sequence

from biem.domain.node import Hit, Node

_SHORTEST = 2
"""Minimum characters of an anchor: a single digit or letter is in any reply."""


def echoed(hits: Sequence[Hit], question: str, reply: str) -> list[str]:
    """Ids of the memories of `hits` that `reply` echoes."""
    own = {hit.node.id: anchors(hit.node) for hit in hits}
    spread = Counter(anchor for mine in own.values() for anchor in mine)
    asked, said = question.casefold(), reply.casefold()
    return [
        memory_id
        for memory_id, mine in own.items()
        if any(spread[anchor] == 1 and _says(said, anchor) and not _says(asked, anchor) for anchor in mine)
    ]


def anchors(node: Node) -> set[str]:
    """The anchors of a memory, in lower case, without its speaker; empty until it has been indexed."""
    fields = node.fields
    found = (*fields.names, *fields.numbers, *fields.symbols, *node.entities)
    speaker = node.speaker.casefold()
    folded = (anchor.casefold().strip() for anchor in found)
    return {anchor for anchor in folded if len(anchor) >= _SHORTEST and anchor != speaker}


def _says(text: str, anchor: str) -> bool:
    """Whether the anchor occurs in the text, not inside a longer Latin word or number."""
    return re.search(rf"(?<![a-z0-9]){re.escape(anchor)}(?![a-z0-9])", text) is not None
