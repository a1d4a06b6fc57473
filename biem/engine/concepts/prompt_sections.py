"""Optional sections below the block: notes on the conversation, and its running memory."""

import re
from collections.abc import Sequence
from dataclasses import replace

from biem.domain.prompt.contents import Known
from biem.domain.running_memory import Running
from biem.engine.concepts.instant_memory import render as render_notes
from biem.engine.concepts.running import render as render_running
from biem.engine.context.block import Context
from biem.ports.concepts import InstantMemory

_CHARS = 200
_CHINESE = re.compile("[\u4e00-\u9fff]")


def with_notes(block: Context, notes: Sequence[InstantMemory], question: str, known: Known) -> Context:
    """The block, then the notes on messages that are neither in it nor in the prompt."""
    shown = {hit.node.id for hit in block.hits} | known.ids
    new = [note for note in notes if note.memory_id not in shown and not known.says(note.text)]
    return _with(block, render_notes(new, _language(question), _CHARS))


def with_running(block: Context, items: Sequence[Running], question: str, known: Known, *, bare: bool) -> Context:
    """The block, then the running memory that is neither in it nor in the prompt."""
    shown = {hit.node.id for hit in block.hits} | known.ids
    new = [
        item for item in items if not (item.sources and shown.issuperset(item.sources)) and not known.says(item.content)
    ]
    return _with(block, render_running(new, _language(question), _CHARS, bare=bare))


def _with(block: Context, section: str) -> Context:
    return replace(block, text="\n\n".join(part for part in (block.text, section) if part))


def _language(text: str) -> str:
    return "zh" if _CHINESE.search(text) else "en"
