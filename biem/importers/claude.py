"""Claude's export: conversations, what Claude noted of the user, and files about projects and users."""

from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from biem.importers.files import File
from biem.importers.json_stream import elements
from biem.importers.record import Entry, LeftOut, Record, content_ref
from biem.importers.times import Times, first_time
from biem.importers.tree import path_to
from biem.importers.values import items, known, mapping, string

FORMAT = "claude"
_SPEAKERS = {"human": "user", "user": "user", "assistant": "assistant"}


def read(file: File, stream: BinaryIO) -> Iterator[Entry]:
    """Messages and memories; projects and users are counted."""
    for number, found in enumerate(elements(stream), start=1):
        one = mapping(found)
        if isinstance(one.get("chat_messages"), list):
            yield from _conversation(one, file, number)
        elif "conversations_memory" in one or "project_memories" in one:
            yield from _memories(one, file, number)
        else:
            yield LeftOut("project or account")


def _conversation(conversation: Mapping[str, Any], file: File, number: int) -> Iterator[Entry]:
    name = string(conversation.get("uuid")) or content_ref(FORMAT, string(conversation.get("name")), number)
    latest, times = first_time(conversation.get("created_at")), Times()
    messages = [mapping(message) for message in conversation["chat_messages"]]
    shown = _shown(conversation, messages)
    for place, message in enumerate(messages):
        speaker, text = _SPEAKERS.get(string(message.get("sender")), ""), _text(message)
        if not speaker or not text:
            yield LeftOut("without text" if speaker else "unknown role")
        elif shown is not None and string(message.get("uuid")) not in shown:
            yield LeftOut("other branch")
        else:
            latest = first_time(message.get("created_at")) or latest
            own = string(message.get("uuid"))
            yield Record(
                text=text,
                ref=content_ref(FORMAT, name, own or place, text),
                format=FORMAT,
                file=file.name,
                place=f"conversation {number}, message {own or place + 1}",
                speaker=speaker,
                conversation=name,
                at=times.in_order(latest) if latest else None,
                metadata=known(conversation_id=name, message_id=own, title=conversation.get("name")),
            )
        if files := len(items(message.get("attachments"))) + len(items(message.get("files"))):
            yield LeftOut("attachment", files)


def _shown(conversation: Mapping[str, Any], messages: list[Mapping[str, Any]]) -> set[str] | None:
    """Ids of the branch last shown; None where the export does not say."""
    leaf = string(conversation.get("current_leaf_message_uuid"))
    parents = {string(m.get("uuid")): string(m.get("parent_message_uuid")) or None for m in messages}
    return set(path_to(leaf, parents)) if leaf in parents else None


def _text(message: Mapping[str, Any]) -> str:
    """The spoken text. The plain `text` has placeholders for tools and thoughts, so it comes second."""
    blocks = [mapping(block) for block in items(message.get("content"))]
    said = [string(block.get("text")).strip() for block in blocks if block.get("type") == "text"]
    return "\n".join(filter(None, said)) or ("" if blocks else string(message.get("text")).strip())


def _memories(found: Mapping[str, Any], file: File, number: int) -> Iterator[Entry]:
    """What Claude noted, paragraph by paragraph."""
    texts = {"": found.get("conversations_memory"), **mapping(found.get("project_memories"))}
    for project, text in texts.items():
        for paragraph in dict.fromkeys(part.strip() for part in string(text).split("\n\n")):
            if paragraph:
                yield Record(
                    text=paragraph,
                    ref=content_ref(FORMAT, "memory", project, paragraph),
                    format=FORMAT,
                    file=file.name,
                    place=f"memory {number}",
                    kind="knowledge",
                    at=file.modified,
                    metadata=known(project_id=project),
                )
