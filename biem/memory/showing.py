"""A memory as one line for a model, outside the block that `Memory.context` makes."""

from biem.domain.node import Node
from biem.engine.context.lines import quoted, speaker_of

_MOST_CHARS = 2_000


def shown_line(node: Node) -> str:
    """Id, date, speaker and text of a memory: one line that cannot imitate generated text."""
    unverified = " (unverified)" if node.trust == "untrusted" else ""
    return f"[{node.id}] {node.at:%Y-%m-%d} {speaker_of(node)}: {quoted(node.text, _MOST_CHARS)}{unverified}"
