"""A session of the OpenAI Agents SDK on the sessions of a memory: `BiemSession(memory, "name")`; needs
`pip install 'biem[agents]'`.
"""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from biem.domain.prompt.contents import text_in
from biem.domain.sessions.session import ROLES, SessionMessage
from biem.errors import InvalidInput, MissingExtra
from biem.memory import Memory

try:
    from agents.memory.session import SessionABC
    from agents.memory.session_settings import SessionSettings, resolve_session_limit
except ImportError as error:
    raise MissingExtra("BiemSession needs openai-agents; run: pip install 'biem[agents]'") from error

if TYPE_CHECKING:
    from agents import TResponseInputItem

_ITEM, _TEXT_AT = "item", "text_at"
"""Keys of a stored message: the item without its text, and the key that its text had."""
_SYSTEM_ROLES = ("developer", "system")


class BiemSession(SessionABC):
    """The open session of a name. Items come back as they were added, whether they were trimmed or not.

    What the user and the assistant say becomes memories that `Memory.recall` finds. Items are appended one by one: of
    an `add_items` that fails the items before the failure are stored. Safe for several programs at once.
    """

    def __init__(
        self,
        memory: Memory,
        session_id: str,
        *,
        remember: bool | None = None,
        session_settings: SessionSettings | None = None,
    ) -> None:
        """`session_id`: a name of your own. `remember=False`: messages become no memories."""
        if not session_id:
            raise InvalidInput("session_id is empty; give the conversation a name")
        self.memory = memory
        self.session_id = session_id
        self.session_settings = session_settings
        self._remember = None if remember is None or remember else False

    async def get_items(self, limit: int | None = None) -> "list[TResponseInputItem]":
        """All items, or the newest `limit`, oldest first."""
        return await asyncio.to_thread(self._get, resolve_session_limit(limit, self.session_settings))

    async def add_items(self, items: "list[TResponseInputItem]") -> None:
        """Append items. One that is larger than biem's limits for a message raises `InvalidInput`."""
        await asyncio.to_thread(self._add, list(items))

    async def pop_item(self) -> "TResponseInputItem | None":
        """Remove and return the newest item; None if there is none. The memory made of it is taken back, too."""
        return await asyncio.to_thread(self._pop)

    async def clear_session(self) -> None:
        """Remove all items, and the memories made of them."""
        await asyncio.to_thread(self._clear)

    def _id(self) -> str:
        return self.memory.sessions.open(self.session_id).id

    def _get(self, limit: int | None) -> "list[TResponseInputItem]":
        if limit is not None and limit <= 0:
            return []
        messages = self.memory.sessions.messages(self._id(), newest=limit)
        return [_item(message) for message in messages]

    def _add(self, items: "list[TResponseInputItem]") -> None:
        session = self._id()
        for item in items:
            role, content, data = _packed(dict(item))
            self.memory.sessions.append(session, role, content, data=data, remember=self._remember)

    def _pop(self) -> "TResponseInputItem | None":
        gone = self.memory.sessions.retract(self._id(), 1)
        return _item(gone[0]) if gone else None

    def _clear(self) -> None:
        self.memory.sessions.retract(self._id(), None)


def _packed(item: Mapping[str, Any]) -> tuple[str, str, dict[str, Any]]:
    """The role, the text and the further data of the message that stores an item."""
    role = _role(item)
    where = "output" if isinstance(item.get("output"), str) else "content"
    text = item.get(where)
    if item.keys() == {"role", "content"} and item["role"] == role and isinstance(text, str) and text.strip():
        return role, text, {}
    if isinstance(text, str):
        return role, text, {_ITEM: {key: value for key, value in item.items() if key != where}, _TEXT_AT: where}
    return role, text_in(text) if isinstance(text, list) else "", {_ITEM: dict(item)}


def _role(item: Mapping[str, Any]) -> str:
    role = item.get("role")
    if role in _SYSTEM_ROLES:
        return "system"
    if role in ROLES:
        return str(role)
    return "tool" if str(item.get("type", "")).endswith("_output") else "assistant"


def _item(message: SessionMessage) -> Any:
    if _ITEM not in message.data:
        return {"role": message.role, "content": message.content}
    item = dict(message.data[_ITEM])
    if _TEXT_AT in message.data:
        item[message.data[_TEXT_AT]] = message.content
    return item
