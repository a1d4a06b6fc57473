"""`memory.items` of a remote memory."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from biem.client.calls import Call, call_of
from biem.client.http import Connection, body_of
from biem.client.methods import remote_methods
from biem.client.parameters import Duration
from biem.client.wire import adapter
from biem.domain.items.item import (
    ItemDraft,
    Namespace,
    StoredItem,
    encoded,
    require_key,
    require_namespace,
    require_ttl,
)
from biem.domain.items.matching import parse_filter
from biem.domain.scope import Scope
from biem.layers.items import Items

_PUT, _GET, _DELETE, _SEARCH, _NAMESPACES = (
    call_of("items", name) for name in ("put_many", "get_many", "delete_many", "search", "namespaces_meeting")
)


@remote_methods("items")
class RemoteItems(Items):
    """The items of a scope on a server. Each call is one request, of at most 1,000 items."""

    def __init__(self, connection: Connection, scope: Scope | None) -> None:
        self._connection = connection
        self._within = scope

    def _call(self, call: Call, arguments: Mapping[str, Any]) -> Any:
        return self._send(call, arguments)

    def _send(self, call: Call, body: Mapping[str, Any]) -> Any:
        return self._connection.send(self._within, call.verb, call.path, call.returns, body=body)

    def put_many(self, drafts: Iterable[ItemDraft]) -> list[StoredItem]:
        """As `Items.put_many`."""
        items = [_draft(draft) for draft in drafts]
        found: list[StoredItem] = self._send(_PUT, {"items": items}) if items else []
        return found

    def get_many(self, keys: Sequence[tuple[Sequence[str], str]], *, refresh: bool = True) -> list[StoredItem | None]:
        """As `Items.get_many`."""
        wanted = [_key(*each) for each in keys]
        found: list[StoredItem | None] = self._send(_GET, {"keys": wanted, "refresh": refresh}) if wanted else []
        return found

    def delete_many(self, keys: Sequence[tuple[Sequence[str], str]]) -> int:
        """As `Items.delete_many`; needs a key with the grant `erase`."""
        gone = [_key(*each) for each in keys]
        count: int = self._send(_DELETE, {"keys": gone}) if gone else 0
        return count

    def search(
        self, prefix: Sequence[str] = (), *, where: Mapping[str, Any] | None = None, **more: Any
    ) -> tuple[StoredItem, ...]:
        """As `Items.search`."""
        body = {"prefix": list(require_namespace(prefix, "prefix")), "where": parse_filter(where)}
        found: tuple[StoredItem, ...] = self._send(_SEARCH, body | body_of(_SEARCH, more))
        return found

    def namespaces_meeting(
        self, conditions: Sequence[tuple[Sequence[str], bool]], max_depth: int | None, limit: int, offset: int
    ) -> tuple[Namespace, ...]:
        """As `Items.namespaces_meeting`."""
        meeting = [{"labels": list(require_namespace(labels)), "at_end": end} for labels, end in conditions]
        body = {"conditions": meeting, "max_depth": max_depth, "limit": limit, "offset": offset}
        found: tuple[Namespace, ...] = self._send(_NAMESPACES, body)
        return found


def _key(namespace: Sequence[str], key: str) -> dict[str, Any]:
    return {"namespace": list(require_namespace(namespace)), "key": require_key(key)}


def _draft(draft: ItemDraft) -> dict[str, Any]:
    """An item as JSON; raises `InvalidInput` for what JSON does not have, as `Items.put` does."""
    encoded(draft.value)
    require_ttl(draft.ttl)
    body = {**_key(draft.namespace, draft.key), "value": dict(draft.value), "origin": draft.origin}
    if draft.text is not None:
        body["text"] = draft.text
    if draft.ttl is not None:
        body["ttl"] = adapter(Duration).dump_python(draft.ttl, mode="json")
    return body
