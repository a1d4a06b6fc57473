"""ChatGPT's export: conversations whose messages form a tree; `current_node` is the end of the branch last shown."""

from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from biem.importers.files import File
from biem.importers.json_stream import elements
from biem.importers.record import Entry, LeftOut, Record, content_ref
from biem.importers.times import Times, first_time
from biem.importers.tree import newest_leaf, path_to
from biem.importers.values import items, known, mapping, string

FORMAT = "chatgpt"
_ROLES = ("user", "assistant")
_SPOKEN = ("text", "multimodal_text")
"""Types of content that people and the model say; others are code, tool output, thoughts, settings."""


def read(file: File, stream: BinaryIO) -> Iterator[Entry]:
    """The messages of the branches last shown, conversation by conversation; other branches are counted."""
    for number, found in enumerate(elements(stream), start=1):
        if not isinstance(found, dict) or not isinstance(found.get("mapping"), dict):
            yield LeftOut("not a conversation")
            continue
        yield from _conversation(found, file, number)


def _conversation(conversation: Mapping[str, Any], file: File, number: int) -> Iterator[Entry]:
    nodes = {name: mapping(node) for name, node in conversation["mapping"].items()}
    parents = {name: string(node.get("parent")) or None for name, node in nodes.items()}
    current = string(conversation.get("current_node"))
    if current not in nodes:
        current = newest_leaf(parents, {name: _written(node) for name, node in nodes.items()}) or ""
    path = path_to(current, parents)
    name = string(conversation.get("conversation_id")) or string(conversation.get("id"))
    name = name or content_ref(FORMAT, string(conversation.get("title")), *sorted(nodes)[:1])
    latest, times = first_time(conversation.get("create_time")), Times()
    for node in path:
        message = nodes[node].get("message")
        if message is None:  # the root
            continue
        reason, text = _text(mapping(message))
        if reason:
            yield LeftOut(reason)
            continue
        latest = first_time(message.get("create_time")) or latest
        author = mapping(message.get("author"))
        yield Record(
            text=text,
            ref=content_ref(FORMAT, name, node, text),
            format=FORMAT,
            file=file.name,
            place=f"conversation {number}, message {node}",
            speaker=string(author.get("role")),
            conversation=name,
            at=times.in_order(latest) if latest else None,
            metadata=known(
                conversation_id=name,
                message_id=string(message.get("id")) or node,
                title=conversation.get("title"),
                model=mapping(message.get("metadata")).get("model_slug"),
            ),
        )
    apart = nodes.keys() - set(path)
    branches = sum(1 for node in apart if not _text(mapping(nodes[node].get("message")))[0])
    if branches:
        yield LeftOut("other branch", branches)


def _written(node: Mapping[str, Any]) -> float:
    at = first_time(mapping(node.get("message")).get("create_time"))
    return at.timestamp() if at else 0.0


def _text(message: Mapping[str, Any]) -> tuple[str, str]:
    """Why a message is left out, and otherwise its text."""
    role = string(mapping(message.get("author")).get("role"))
    content = mapping(message.get("content"))
    if role not in _ROLES:
        return f"{role} message" if role in ("system", "tool") else "unknown role", ""
    if mapping(message.get("metadata")).get("is_visually_hidden_from_conversation") is True:
        return "hidden message", ""
    if string(message.get("recipient")) not in ("", "all"):
        return "tool call", ""
    if string(content.get("content_type")) not in ("", *_SPOKEN):
        return "not text", ""
    text = "\n".join(part for part in map(_part, items(content.get("parts"))) if part.strip()).strip()
    return ("" if text else "without text"), text


def _part(part: object) -> str:
    """The text of one part: a string, or the transcript of speech; images and files have none."""
    return string(part) if isinstance(part, str) else string(mapping(part).get("text"))
