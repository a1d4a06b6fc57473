"""Which block answers a message that leans on those before it."""

from collections.abc import Callable
from dataclasses import replace

from biem.domain.node import Hits
from biem.domain.speech.follow_up.dialogue import Meant
from biem.engine.context.block import Context

Answer = tuple[Context, Hits]
"""A block, and what was found for it."""
_IN_DOUBT = 0.1
"""By so much a question with a thing added must be surer of its answer than the message itself."""


def answer(ask: Callable[[str], Answer], message: str, meant: Meant) -> Answer:
    """The block for a message that means this; `ask` finds the block for a question.

    Memories, too, are told without the thing that was named before them: "It cost 2,400", 一晚四百二. So where a thing
    was put in, the message itself is asked, too, and its block is shown unless the other one is surer.
    """
    block, hits = ask(meant.text)
    if meant.text != message:
        block = replace(block, asked=meant.text)
    if meant.sure:
        return block, hits
    as_said = ask(message)
    if not _shows(*as_said) or not _shows(block, hits):
        return as_said if _shows(*as_said) else (block, hits)
    surer = (block.confidence or 0.0) > (as_said[0].confidence or 0.0) + _IN_DOUBT
    return (block, hits) if surer else as_said


def _shows(block: Context, hits: Hits) -> bool:
    """Whether a block shows what was found, besides what every block shows."""
    found = {hit.node.id for hit in hits}
    return bool(block.notes) or any(hit.node.id in found for hit in block.hits)
