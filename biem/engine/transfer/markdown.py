"""A folder of Markdown: one file a conversation, one a day for what belongs to none. To be read, not taken back."""

import hashlib
import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from biem.domain.scope import Scope
from biem.domain.text import one_line

_NAME_CHARS = 60
_UNSAFE = re.compile(r"[^\w-]+")
_IDS, _BODY = ".ids", ".body"


class MarkdownFolder:
    """Files that grow while memories come, in any order; `finish` puts the ids before each text."""

    def __init__(self, folder: Path, scope: Scope) -> None:
        self._folder = folder
        self._scope = scope
        self._memories = 0

    def add(self, memory: Mapping[str, Any]) -> None:
        """One memory as a section; its text is quoted, so that nothing in it is read as a heading."""
        conversation, day = memory["conversation"], memory["at"][:10]
        name = _name(conversation) if conversation else day
        title = conversation or day
        with (self._folder / f"{name}{_IDS}").open("a", encoding="utf-8") as file:
            if file.tell() == 0:
                file.write(f"---\nscope: {json.dumps(str(self._scope), ensure_ascii=False)}\n")
                file.write(f"title: {json.dumps(title, ensure_ascii=False)}\nids:\n")
            file.write(f"  - {memory['id']}\n")
        with (self._folder / f"{name}{_BODY}").open("a", encoding="utf-8") as file:
            if file.tell() == 0:
                file.write(f"# {one_line(title, 200)}\n")
            file.write(_section(memory))
        self._memories += 1

    def finish(self) -> int:
        """Returns the number of memories."""
        for front in sorted(self._folder.glob(f"*{_IDS}")):
            body = front.with_name(front.name.removesuffix(_IDS) + _BODY)
            with front.open("a", encoding="utf-8") as file, body.open(encoding="utf-8", newline="") as text:
                file.write("---\n\n")
                shutil.copyfileobj(text, file)
            body.unlink()
            front.rename(front.with_name(front.name.removesuffix(_IDS) + ".md"))
        return self._memories


def _name(conversation: str) -> str:
    """A file name on any system, different for every conversation."""
    digest = hashlib.sha256(conversation.encode()).hexdigest()[:8]
    return f"{_UNSAFE.sub('-', conversation)[:_NAME_CHARS].strip('-')}-{digest}".lstrip("-")


def _section(memory: Mapping[str, Any]) -> str:
    who = f" · {one_line(memory['speaker'], 100)}" if memory["speaker"] else ""
    text = "\n".join(f"> {line}" for line in memory["text"].splitlines())
    told = [memory["kind"], f"importance {memory['importance']:g}", f"origin {memory['origin']}"]
    if memory["tags"]:
        told.append("tags " + ", ".join(one_line(tag, 100) for tag in memory["tags"]))
    if memory["status"] == "archived":
        told.append(f"archived: {one_line(memory['archive_reason'], 100)}")
    if memory["valid_to"]:
        told.append(f"valid until {memory['valid_to'][:19]}")
    return f"\n## {memory['at'][:19]} UTC{who}\n\n{text}\n\n{' · '.join(told)} · `{memory['id']}`\n"
