"""The items of one scope: `memory.items`."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from biem.domain.items.item import (
    ANY_LABEL,
    ItemDraft,
    Namespace,
    StoredItem,
    encoded,
    rendered,
    require_key,
    require_namespace,
    require_ttl,
)
from biem.domain.items.matching import contained, matches, parse_filter
from biem.domain.policies.recall import RecallPolicy
from biem.domain.policies.writing import WritePolicy
from biem.domain.scope import Scope
from biem.domain.text import cut_bytes, require_string
from biem.engine.priority import Calling
from biem.engine.recall.recaller import Recaller
from biem.engine.remember.revise import Reviser
from biem.engine.remember.writer import Writer
from biem.errors import InvalidInput
from biem.ports.index import Filter
from biem.ports.layers.items import ItemRecords, ItemWrite, NamespaceCondition
from biem.telemetry import Telemetry

_PAGE = 500
_MOST_RANKED = 5_000
"""Items that a query ranks: of more that meet its conditions, those written last."""
_MOST = 1 << 31


@dataclass(slots=True, eq=False)
class ItemSystem:
    """What the items of all scopes of one connection share. Only bootstrap builds it."""

    records: ItemRecords
    writer: Writer
    reviser: Reviser
    recaller: Recaller
    limits: WritePolicy
    recall: RecallPolicy
    telemetry: Telemetry
    calling: Calling


class Items:
    """JSON documents of one scope, each under a namespace and a key, and each found by the memory made of it.

    A namespace is a path of labels, such as `("users", "ann")`. Errors are those of `Memory.remember`.
    """

    def __init__(self, system: ItemSystem, scope: Scope, wrote: Callable[[], None]) -> None:
        """`wrote` is called when an item became a memory."""
        self._system = system
        self._scope = scope
        self._wrote = wrote

    def put(
        self,
        namespace: Sequence[str],
        key: str,
        value: Mapping[str, Any],
        *,
        text: str | None = None,
        ttl: timedelta | None = None,
        origin: str = "assistant",
    ) -> StoredItem:
        """Write an item, in one transaction with its memory; returns it. A repeated key replaces the value.

        `text` is what queries find it by: by default the strings, numbers and truth values in `value`; with `""` no
        query finds it, and there is no memory. A new text is a revision of the memory. `ttl`: it expires so long after
        it was last written or read. `origin` is that of `Memory.remember`.
        """
        return self.put_many([ItemDraft(namespace, key, value, text, ttl, origin)])[0]

    def put_many(self, drafts: Iterable[ItemDraft]) -> list[StoredItem]:
        """Write items, all or none, in one transaction; returns them. Of two with the same key the last one counts."""
        system = self._system
        with system.telemetry.span("biem.items.put") as span, system.calling():
            given = [self._write(draft) for draft in _listed(drafts, "drafts")]
            writes = list({(write.namespace, write.key): write for write in given}.values())
            span.add(items=len(writes))
            if not writes:
                return []
            system.writer.admit(self._scope, len(writes))
            done = system.records.put(self._scope, writes)
        new = [(write.memory, put.written) for write, put in zip(writes, done, strict=True)]
        pairs = [(memory, written) for memory, written in new if memory is not None and written is not None]
        if pairs:
            system.writer.stored(self._scope, [memory for memory, _ in pairs], [written for _, written in pairs])
        changed = [put.item.memory_id for put in done if put.revised and put.item.memory_id is not None]
        if changed:
            system.reviser.revised(self._scope, changed)
        if pairs or changed:
            self._wrote()
        return [put.item for put in done]

    def get(self, namespace: Sequence[str], key: str, *, refresh: bool = True) -> StoredItem | None:
        """One item; None where there is none. `refresh`: its time to live starts again."""
        return self.get_many([(namespace, key)], refresh=refresh)[0]

    def get_many(self, keys: Sequence[tuple[Sequence[str], str]], *, refresh: bool = True) -> list[StoredItem | None]:
        """The items of some keys, in order; reading counts as a use of their memories."""
        wanted = _keys(keys)
        if not wanted:
            return []
        with self._system.telemetry.span("biem.items.get"), self._system.calling():
            found = {(item.namespace, item.key): item for item in self._system.records.get(self._scope, wanted)}
            self._used(list(found.values()), refresh=refresh)
        return [found.get(each) for each in wanted]

    def delete(self, namespace: Sequence[str], key: str) -> bool:
        """Remove an item; False if there was none.

        Its memory is in no answer from then on, and a background job destroys it with its text.
        """
        return self.delete_many([(namespace, key)]) > 0

    def delete_many(self, keys: Sequence[tuple[Sequence[str], str]]) -> int:
        """Remove items, all or none; returns how many were there."""
        gone = _keys(keys)
        return self._system.records.delete(self._scope, gone) if gone else 0

    def search(
        self,
        prefix: Sequence[str] = (),
        *,
        query: str = "",
        where: Mapping[str, Any] | None = None,
        limit: int = 10,
        offset: int = 0,
        refresh: bool = True,
    ) -> tuple[StoredItem, ...]:
        """Items below a namespace whose values meet `where`: see `biem.domain.items.matching`.

        With a `query` the most relevant first, each with its score, as `Memory.recall` ranks their memories; items that
        it does not rank follow without a score, and those put with `text=""` are left out. Of more than 5,000 that
        meet the conditions those written last are ranked. Without a query those written last come first.
        """
        system = self._system
        below, conditions = require_namespace(prefix, "prefix"), parse_filter(where)
        require_string(query, "query")
        _require_number(limit, "limit")
        _require_number(offset, "offset")
        with system.telemetry.span("biem.items.search") as span, system.calling():
            matching = self._matching(below, conditions, found=bool(query.strip()))
            if query.strip():
                shown = self._ranked(query, matching, limit, offset)
            else:
                shown = [item for place, item in zip(range(offset + limit), matching, strict=False) if place >= offset]
            span.add(items=len(shown))
            self._used(shown, refresh=refresh)
        return tuple(shown)

    def namespaces(
        self,
        *,
        prefix: Sequence[str] = (),
        suffix: Sequence[str] = (),
        max_depth: int | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> tuple[Namespace, ...]:
        """Namespaces that have items, in the order of their labels; `*` in `prefix` and `suffix` is any label.

        `max_depth` cuts longer ones to that many labels.
        """
        begin, end = require_namespace(prefix, "prefix"), require_namespace(suffix, "suffix")
        given = [(begin, False), (end, True)]
        return self.namespaces_meeting([each for each in given if each[0]], max_depth, limit, offset)

    def namespaces_meeting(
        self, conditions: Sequence[tuple[Sequence[str], bool]], max_depth: int | None, limit: int, offset: int
    ) -> tuple[Namespace, ...]:
        """The same for several conditions: labels, and whether a namespace must end with them, not begin."""
        checked = [
            NamespaceCondition(tuple(None if label == ANY_LABEL else label for label in require_namespace(labels)), end)
            for labels, end in _pairs(conditions, "conditions")
        ]
        if max_depth is not None:
            _require_number(max_depth, "max_depth", least=1)
        _require_number(limit, "limit")
        _require_number(offset, "offset")
        return tuple(self._system.records.namespaces(self._scope, checked, max_depth, limit, offset))

    def sweep(self) -> int:
        """Remove items of this scope that have expired; a background job does it, too. Returns how many."""
        return self._system.records.sweep(self._scope)

    def _write(self, draft: object) -> ItemWrite:
        if not isinstance(draft, ItemDraft):
            raise InvalidInput(f"each draft must be an ItemDraft, not {type(draft).__name__}")
        namespace, key = require_namespace(draft.namespace), require_key(draft.key)
        if not namespace:
            raise InvalidInput("the namespace of an item must have a label")
        value, seconds = encoded(draft.value), require_ttl(draft.ttl)
        text = rendered(draft.value) if draft.text is None else draft.text
        require_string(text, "text")
        memory = None
        if text.strip():
            details = {
                "kind": "event",  # facts of the same text are one memory, and items of the same text are not one item
                "source": "item",
                "origin": draft.origin,
                "metadata": {"item": {"namespace": list(namespace), "key": key}},
            }
            memory = self._system.writer.write_of(cut_bytes(text, self._system.limits.max_text_bytes), details)
        return ItemWrite(namespace, key, value, memory, seconds)

    def _matching(self, prefix: Namespace, where: Mapping[str, Any], *, found: bool) -> Iterator[StoredItem]:
        contains, before = contained(where), None
        while True:
            page = self._system.records.page(self._scope, prefix, contains, before=before, limit=_PAGE, found=found)
            yield from (item for _, item in page if matches(where, item.value))
            if len(page) < _PAGE:
                return
            before = page[-1][0]

    def _ranked(self, query: str, matching: Iterator[StoredItem], limit: int, offset: int) -> list[StoredItem]:
        items = {item.memory_id or "": item for item, _ in zip(matching, range(_MOST_RANKED), strict=False)}
        if not items or not limit:
            return []
        hits = self._system.recaller.recall(
            self._scope,
            query,
            top_k=min(offset + limit, self._system.recall.max_top_k),
            mode="fast",
            where=Filter(only_ids=tuple(items)),
            count=False,
        )
        first = {hit.node.id: replace(items[hit.node.id], score=hit.score) for hit in hits if hit.node.id in items}
        rest = (item for key, item in items.items() if key not in first)
        return [*first.values(), *rest][offset : offset + limit]

    def _used(self, items: Sequence[StoredItem], *, refresh: bool) -> None:
        self._system.recaller.accessed(self._scope, [item.memory_id for item in items if item.memory_id is not None])
        ending = [(item.namespace, item.key) for item in items if item.expires_at is not None]
        if refresh and ending:
            self._system.records.refresh(self._scope, ending)


def _require_number(value: object, what: str, least: int = 0) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= _MOST:
        raise InvalidInput(f"{what} must be a whole number from {least}, not {value!r}")


def _keys(keys: object) -> list[tuple[Namespace, str]]:
    return [(require_namespace(namespace), require_key(key)) for namespace, key in _pairs(keys, "keys")]


def _pairs(given: object, what: str) -> list[tuple[Any, Any]]:
    found = _listed(given, what)
    if any(not isinstance(pair, tuple | list) or len(pair) != 2 for pair in found):
        raise InvalidInput(f"{what} must be pairs, the first part of which are the labels of a namespace")
    return found


def _listed(given: object, what: str) -> list[Any]:
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise InvalidInput(f"{what} must be a list, not {type(given).__name__}")
    return list(given)
