"""Content that the caller's prompt has already; recall leaves it out."""

import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

from biem.domain.node import Node, written
from biem.domain.text import require_clean
from biem.errors import InvalidInput


class ChatMessage(Protocol):
    """A message of LangChain, or another object with `content`, and `role` or `type`."""

    @property
    def content(self) -> Any: ...


Content = str | Sequence[str | Mapping[str, Any]]
"""Of a chat message: a text, or the parts that chat APIs have, such as `{"type": "text", "text": "…"}`."""
Excluded = str | Mapping[str, Any] | ChatMessage
"""An id, a `ref`, a text, or a chat message with `role` and `content`."""

_ASSISTANTS = frozenset({"assistant", "ai", "bot", "chatbot", "model", "助手", "助理", "机器人"})
_SILENT = frozenset({"system", "developer", "tool", "function"})
"""Roles of messages that belong to no dialogue."""
_MOST_SPARE = 100
"""Maximum additional candidates of a search, in place of those whose text is in the prompt."""


def normalised(text: str) -> str:
    """A text in comparable form: NFKC, with runs of blanks collapsed."""
    return " ".join(unicodedata.normalize("NFKC", text).split())


def role_of(name: str) -> str:
    """`assistant` for names of programs, `user` for all others."""
    return "assistant" if name.strip().casefold() in _ASSISTANTS else "user"


class Revised(NamedTuple):
    """A memory that was revised: its id, its `ref` and its present text."""

    id: str
    ref: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Known:
    """Memories in a prompt: by id or `ref`, by conversation, or by text (and role, where it is recorded)."""

    ids: frozenset[str] = frozenset()
    """Of memories, or their `ref`."""
    conversations: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    """Normalised texts of any role."""
    said: frozenset[tuple[str, str]] = frozenset()
    """Role and normalised text."""
    unresolved: int = 0
    """How many messages and texts came without an id: a search may return these."""
    written: Mapping[str, frozenset[str]] = field(default_factory=dict, hash=False)
    """Of messages with an id or `ref`: the normalised texts that the prompt shows for it."""

    @property
    def spare(self) -> int:
        """How many additional candidates a search needs to replace excluded ones."""
        return min(self.unresolved, _MOST_SPARE)

    def has_place(self, memory_id: str, conversation: str) -> bool:
        """Whether a memory is known by its id or its conversation."""
        return memory_id in self.ids or (bool(conversation) and conversation in self.conversations)

    def has(self, node: Node) -> bool:
        """Whether the prompt contains this memory."""
        if self.has_place(node.id, node.conversation) or (node.ref is not None and node.ref in self.ids):
            return True
        if not self.texts and not self.said:
            return False
        text = normalised(written(node))
        return text in self.texts or (_role(node), text) in self.said

    def updated(self, revised: Iterable[Revised]) -> "Known":
        """Without the ids of memories that were revised since: the prompt shows another text than theirs is now."""
        names = ((name, normalised(one.text)) for one in revised for name in (one.id, one.ref) if name)
        changed = {name for name, text in names if name in self.written and text not in self.written[name]}
        return replace(self, ids=self.ids - changed, unresolved=self.unresolved + len(changed)) if changed else self

    def says(self, text: str) -> bool:
        """Whether the prompt contains this text, from any role, also without a leading speaker name."""
        plain = normalised(text)
        held = self.texts | {said for _, said in self.said}
        return plain in held or plain.partition(": ")[2] in held


NOTHING = Known()


def known(conversations: str | Collection[str] = (), excluded: Collection[Excluded] = ()) -> Known:
    """Parses what the caller's prompt contains; raises `InvalidInput` that names the first unsupported value."""
    names = [conversations] if isinstance(conversations, str) else conversations
    if isinstance(names, bytes | Mapping) or not isinstance(names, Collection):
        raise InvalidInput(
            f"exclude_conversation must be the name of a conversation or a list of them, not {type(names).__name__}"
        )
    for name in names:
        _required_string(name, "exclude_conversation")
    if isinstance(excluded, str | bytes | Mapping) or not isinstance(excluded, Collection):
        raise InvalidInput(f"exclude must be a list of ids, texts or messages, not {type(excluded).__name__}")
    ids: set[str] = set()
    texts: set[str] = set()
    unresolved = 0
    said: set[tuple[str, str]] = set()
    texts_by_id: dict[str, frozenset[str]] = {}
    for one in excluded:
        if (message := as_message(one)) is not None:
            named, written = list(_ids_of(message)), list(filter(None, map(normalised, texts_of(message))))
            ids.update(named)
            said.update((role_of(str(message.get("role", "user"))), text) for text in written)
            unresolved += bool(written and not named)
            if written:
                texts_by_id |= {name: texts_by_id.get(name, frozenset()).union(written) for name in named}
            continue
        text = _required_string(one, "exclude")
        ids.add(text)
        texts.add(normalised(text))
        unresolved += 1
    conversation = frozenset(filter(None, names))
    return Known(frozenset(ids), conversation, frozenset(texts - {""}), frozenset(said), unresolved, texts_by_id)


def messages_in(excluded: Collection[Excluded], query: str) -> list[tuple[str, str]]:
    """Role (user or assistant) and text of the chat messages in a prompt, in order, without the query at their end.

    Of a message in parts the first text.
    """
    given = filter(None, map(as_message, excluded))
    messages = [(str(one.get("role", "user")), texts_of(one)) for one in given]
    said = [(role_of(role), texts[0]) for role, texts in messages if texts and role.casefold() not in _SILENT]
    if said and said[-1][0] == "user" and normalised(said[-1][1]) == normalised(query):
        said.pop()
    return said


def as_message(given: object) -> Mapping[str, Any] | None:
    """A chat message by its keys; None for what is none. The `id` of an object is its framework's, and no memory's."""
    if isinstance(given, Mapping):
        return given
    if not hasattr(given, "content"):
        return None
    return {"role": getattr(given, "role", None) or getattr(given, "type", "user"), "content": given.content}


def _ids_of(message: Mapping[str, Any]) -> Iterable[str]:
    return (value for value in (message.get("id"), message.get("ref")) if isinstance(value, str) and value)


def texts_of(message: Mapping[str, Any]) -> list[str]:
    """The text parts of a message; none where it has no text, as a tool call."""
    content = message.get("content")
    if isinstance(content, str):
        return [content]
    if not isinstance(content, list | tuple):
        return []
    parts = [part.get("text") if isinstance(part, Mapping) else part for part in content]
    written = [part for part in parts if isinstance(part, str)]
    return [*written, "\n".join(written)] if len(written) > 1 else written


def text_in(content: Content) -> str:
    """The text of a message's content, which may be in parts; what is neither stays as it is."""
    if not isinstance(content, list | tuple):
        return content  # type: ignore[return-value]  # what is no string is refused where it is read
    texts = texts_of({"content": content})
    return texts[-1] if texts else ""  # the last of several has them all


def _role(node: Node) -> str:
    """The role: by its source if that tells, else by its speaker."""
    return node.source if node.source in ("user", "assistant") else role_of(node.speaker)


def _required_string(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"one of {what} is {type(value).__name__}; give strings, or messages with role and content")
    require_clean(value, f"one of {what}")
    return value
