"""Which block answers a message that leans on those before it."""

from collections.abc import Callable
from dataclasses import replace
from itertools import takewhile

from biem.domain.node import Hits
from biem.domain.speech.follow_up.dialogue import Meant
from biem.engine.context.block import Context

Answer = tuple[Context, Hits]
"""A block, and what was found for it."""
_NEAREST = 5
"""Hits of one question, among which a line of the block for the other has to be."""
_IN_DOUBT = 0.1
"""By so much a question with a thing added must be surer of its answer than the message itself."""


def answer(ask: Callable[[str], Answer], message: str, meant: Meant) -> Answer:
    """The block for a message that means this; `ask` finds the block for a question.

    Memories, too, are told without the thing that was named before them: "It cost 2,400", 一晚四百二. So where a thing
    was put in, the message itself is asked, too, and its block is shown unless the other one is surer. Where a name
    was put in, it is asked if nothing else answers, and shown if the question in full finds its first line, too.
    """
    if meant.stands:
        return _in_both(ask, message, meant)
    block, hits = ask(meant.text)
    if meant.text != message:
        block = replace(block, asked=meant.text)
    if meant.sure and (_shows(block, hits) or not meant.pronoun):
        return block, hits
    as_said = ask(message)
    if meant.sure:
        nearest = {hit.node.id for hit in hits[:_NEAREST]}
        return as_said if as_said[0].hits and as_said[0].hits[0].node.id in nearest else (block, hits)
    if not _shows(*as_said) or not _shows(block, hits):
        return as_said if _shows(*as_said) else (block, hits)
    surer = (block.confidence or 0.0) > (as_said[0].confidence or 0.0) + _IN_DOUBT
    return (block, hits) if surer and not _passes_over(block, hits, as_said[0]) else as_said


def _in_both(ask: Callable[[str], Answer], message: str, meant: Meant) -> Answer:
    """The block for the message itself; where that is empty, the one in full, if the message itself finds a line of it.

    The thing alone finds what is known of it, also where what is asked is not.
    """
    as_said = ask(message)
    if _shows(*as_said):
        return as_said
    block, hits = ask(meant.text)
    own, found = ({hit.node.id for hit in some} for some in (as_said[1][:_NEAREST], hits))
    agreed = any(hit.node.id in own & found for hit in block.hits)
    return (replace(block, asked=meant.text), hits) if agreed else as_said


def _passes_over(block: Context, hits: Hits, other: Context) -> bool:
    """Whether both searches find a newer line before the first line of this block, and the other block shows both.

    A thing that was put in leads to the conversation that told of it, and past a change that was told without it.
    """
    first = block.hits[0].node if block.hits else None
    if first is None or first.id not in {hit.node.id for hit in other.hits}:
        return False
    found_before = {hit.node.id for hit in takewhile(lambda hit: hit.node.id != first.id, hits)}
    shown_before = takewhile(lambda hit: hit.node.id != first.id, other.hits)
    return any(hit.node.id in found_before and hit.node.at > first.at for hit in shown_before)


def _shows(block: Context, hits: Hits) -> bool:
    """Whether a block shows what was found, besides what every block shows."""
    found = {hit.node.id for hit in hits}
    return bool(block.notes) or any(hit.node.id in found for hit in block.hits)
