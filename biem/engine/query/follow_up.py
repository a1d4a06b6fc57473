"""Which block answers a message that leans on those before it."""

from collections.abc import Callable
from dataclasses import replace

from biem.domain.node import Hits
from biem.domain.speech.follow_up.dialogue import Meant
from biem.engine.context.block import Context
from biem.ports import Filter

Answer = tuple[Context, Hits]
"""A block, and what was found for it."""
_NEAREST = 3
"""Hits for a question in full whose conversations are asked."""
_IN_DOUBT = 0.1
"""By so much a question with a thing added must be surer of its answer than the message itself."""


def answer(ask: Callable[[str, Filter], Answer], message: str, meant: Meant, where: Filter) -> Answer:
    """The block for a message that means this, of memories that meet `where`.

    Memories, too, are told without the thing that was named before them: "It cost 2,400", 一晚四百二. So where a thing
    was put in, the message itself is asked of the conversations that tell of the thing; then of all.
    """
    block, hits = ask(meant.text, where)
    if meant.text != message:
        block = replace(block, asked=meant.text)
    if meant.sure:
        return block, hits
    told = [hit.node.conversation for hit in hits[:_NEAREST] if hit.node.conversation]
    near = tuple(dict.fromkeys(name for name in told if not where.conversations or name in where.conversations))
    if near and _shows_memories(*(found := ask(message, replace(where, conversations=near)))):
        return found
    as_said = ask(message, where)
    if not _shows(*as_said) or not _shows(block, hits):
        return as_said if _shows(*as_said) else (block, hits)
    surer = (block.confidence or 0.0) > (as_said[0].confidence or 0.0) + _IN_DOUBT
    return (block, hits) if surer else as_said


def _shows(block: Context, hits: Hits) -> bool:
    """Whether a block shows memories or notes that were found, besides what every block shows."""
    return bool(block.notes) or _shows_memories(block, hits)


def _shows_memories(block: Context, hits: Hits) -> bool:
    found = {hit.node.id for hit in hits}
    return any(hit.node.id in found for hit in block.hits)
