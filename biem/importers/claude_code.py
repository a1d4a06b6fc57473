"""Sessions of Claude Code: one event a line; only messages of the user and the model are imported."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from biem.importers.files import File
from biem.importers.lines import objects
from biem.importers.record import BadLine, Entry, LeftOut, Record, content_ref
from biem.importers.times import Times, first_time
from biem.importers.values import items, known, mapping, string

FORMAT = "claude-code"
_INJECTED = re.compile(
    r"<(system-reminder|user-prompt-submit-hook|session-start-hook|[a-z-]+-hook|ide_[a-z_]+)>.*?(?:</\1>|\Z)", re.DOTALL
)
"""Text that hooks and the editor inserted into a prompt."""
_COMMAND = re.compile(
    r"\s*(?:<(?:command-(?:name|message|args)|local-command-[a-z]+|bash-[a-z]+)>|Caveat: The messages)"
)
"""A command of the user and its output."""
_BLOCKS = {
    "tool_use": "tool call",
    "tool_result": "tool result",
    "thinking": "thoughts",
    "redacted_thinking": "thoughts",
}
_INTERRUPTED = "[Request interrupted by user"


def read(file: File, stream: BinaryIO) -> Iterator[Entry]:
    """The messages of one session."""
    times = Times()
    for found in objects(file, stream):
        if isinstance(found, BadLine):
            yield found
            continue
        number, event = found
        if reason := _reason(event):
            yield LeftOut(reason)
            continue
        texts, left = _texts(mapping(event.get("message")).get("content"))
        for reason in left:
            yield LeftOut(reason)
        text, reason = _without_injections("\n".join(texts))
        if text:
            yield _record(event, text, file, number, times)
        elif reason:
            yield LeftOut(reason)


def _record(event: Mapping[str, Any], text: str, file: File, line: int, times: Times) -> Record:
    session, own = string(event.get("sessionId")), string(event.get("uuid"))
    at = first_time(event.get("timestamp"))
    return Record(
        text=text,
        # A resumed session repeats the events of the one before under their ids.
        ref=content_ref(FORMAT, own, text) if own else content_ref(FORMAT, session, line, text),
        format=FORMAT,
        file=file.name,
        line=line,
        speaker=string(event.get("type")),
        conversation=session or file.path.removesuffix(".jsonl")[-200:],
        at=times.in_order(at) if at else None,
        metadata=known(
            session_id=session,
            message_id=own,
            cwd=event.get("cwd"),
            git_branch=event.get("gitBranch"),
            model=mapping(event.get("message")).get("model"),
        ),
    )


def _reason(event: Mapping[str, Any]) -> str:
    """Why a whole event is left out; empty for a message."""
    if event.get("type") not in ("user", "assistant"):
        return "meta line"
    if event.get("isMeta") is True or event.get("isVisibleInTranscriptOnly") is True:
        return "meta line"
    if event.get("isCompactSummary") is True:
        return "summary of a compaction"
    if event.get("isSidechain") is True:
        return "subagent"
    return "API error" if event.get("isApiErrorMessage") is True else ""


def _texts(content: object) -> tuple[list[str], list[str]]:
    """The texts of a message, and why its other blocks are left out."""
    if isinstance(content, str):
        return [string(content)], []
    blocks = [mapping(block) for block in items(content)]
    texts = [string(block.get("text")) for block in blocks if block.get("type") == "text"]
    others = [string(block.get("type")) for block in blocks if block.get("type") != "text"]
    return texts, [_BLOCKS.get(other, "not text") for other in others]


def _without_injections(text: str) -> tuple[str, str]:
    """The text without insertions; if nothing remains, the reason."""
    if _COMMAND.match(text):
        return "", "command"
    said = _INJECTED.sub("", text).strip()
    if said.startswith(_INTERRUPTED):
        return "", "meta line"
    return said, "hook context" if text.strip() else ""
