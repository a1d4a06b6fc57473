"""A LangGraph store on the items of a memory: `BiemStore(memory)`; needs `pip install 'biem[langgraph]'`."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Literal

from biem.domain.items.item import ItemDraft, StoredItem
from biem.errors import MissingExtra
from biem.memory import Memory

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        TTLConfig,
        get_text_at_path,
        tokenize_path,
        validate_op_namespace,
    )
except ImportError as error:
    raise MissingExtra("BiemStore needs langgraph-checkpoint; run: pip install 'biem[langgraph]'") from error

_WHOLE = "$"
"""The path of the whole value."""
Index = Literal[False] | list[str] | None


class BiemStore(BaseStore):
    """The items of one scope as LangGraph's long-term memory. Thread-safe; every method has an async twin.

    Values are searched by meaning and words with biem's own embedder and ranking: there is no `index` configuration to
    give. Items are also found by `memory.recall`, and its use counts. The memory is not closed with the store.
    """

    supports_ttl = True

    def __init__(
        self,
        memory: Memory,
        *,
        fields: Sequence[str] = (_WHOLE,),
        ttl: TTLConfig | None = None,
        origin: str = "assistant",
    ) -> None:
        """`fields`: paths into a value that queries search, in LangGraph's syntax; by default all of it.

        `ttl`: LangGraph's configuration, of which `default_ttl` (minutes) and `refresh_on_read` have an effect.
        `origin`: where the values come from, as for `Memory.remember`.
        """
        self.memory = memory
        self.ttl_config = ttl
        self._fields = list(fields)
        self._origin = origin

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations: first all that read, then all that write, those together in one transaction each of puts and
        of deletions; of several writes to one key the last one counts.
        """
        asked = list(ops)
        for op in asked:
            if not isinstance(op, GetOp | PutOp | SearchOp | ListNamespacesOp):
                raise ValueError(f"Unknown operation type: {type(op)}")
            validate_op_namespace(op)
        results: list[Result] = [None] * len(asked)
        self._get(asked, results)
        writes: dict[tuple[tuple[str, ...], str], PutOp] = {}
        for place, op in enumerate(asked):
            if isinstance(op, SearchOp):
                results[place] = self._search(op)
            elif isinstance(op, ListNamespacesOp):
                results[place] = self._namespaces(op)
            elif isinstance(op, PutOp):
                writes[tuple(op.namespace), op.key] = op
        self._write(list(writes.values()))
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """`batch` in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def sweep_ttl(self) -> int:
        """Remove what has expired; a background job of biem does it, too. Returns the number of items."""
        return self.memory.items.sweep()

    def _get(self, ops: Sequence[Op], results: list[Result]) -> None:
        for refresh in (True, False):
            asked = [
                (place, op) for place, op in enumerate(ops) if isinstance(op, GetOp) and bool(op.refresh_ttl) is refresh
            ]
            found = self.memory.items.get_many([(op.namespace, op.key) for _, op in asked], refresh=refresh)
            for (place, _), item in zip(asked, found, strict=True):
                results[place] = None if item is None else _item(item)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        found = self.memory.items.search(
            op.namespace_prefix,
            query=op.query or "",
            where=op.filter,
            limit=op.limit,
            offset=op.offset,
            refresh=op.refresh_ttl,
        )
        return [
            SearchItem(item.namespace, item.key, item.value, item.created_at, item.updated_at, item.score)
            for item in found
        ]

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        conditions = [(_labels(one.path), one.match_type == "suffix") for one in op.match_conditions or ()]
        return list(self.memory.items.namespaces_meeting(conditions, op.max_depth, op.limit, op.offset))

    def _write(self, ops: Sequence[PutOp]) -> None:
        self.memory.items.put_many(
            ItemDraft(
                op.namespace,
                op.key,
                op.value,
                self._text(op.value, op.index),
                None if op.ttl is None else timedelta(minutes=op.ttl),
                self._origin,
            )
            for op in ops
            if op.value is not None
        )
        self.memory.items.delete_many([(op.namespace, op.key) for op in ops if op.value is None])

    def _text(self, value: Mapping[str, Any], index: Index) -> str | None:
        """What queries find a value by; None for all of it."""
        if index is False:
            return ""
        paths = self._fields if index is None else index
        if _WHOLE in paths:
            return None
        texts = [text for path in paths for text in get_text_at_path(value, tokenize_path(path))]
        return "\n".join(dict.fromkeys(texts))


def _labels(path: Sequence[str]) -> tuple[str, ...]:
    """A namespace to match; a lone string is one label."""
    return (path,) if isinstance(path, str) else tuple(path)


def _item(item: StoredItem) -> Item:
    return Item(
        value=item.value,
        key=item.key,
        namespace=item.namespace,
        created_at=item.created_at,
        updated_at=item.updated_at,
    )
