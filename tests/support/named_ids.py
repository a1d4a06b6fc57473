"""Adapters on Redis for tests that call memories by short names: what is kept has ids as real memories have."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from biem.adapters.redis.canvas import RedisCanvas
from biem.adapters.redis.hot import RedisHotStore
from biem.domain.scope import Scope
from biem.ports import HotEntry, Touched
from biem.ports.hot import CanvasEntry

_NAMES: dict[str, str] = {}


def id_of(name: str) -> str:
    """The id of the memory of this name."""
    memory_id = str(uuid.uuid5(uuid.NAMESPACE_OID, name))
    _NAMES[memory_id] = name
    return memory_id


def _ids(names: Iterable[str]) -> list[str]:
    return [id_of(name) for name in names]


def _names(ids: Iterable[str]) -> list[str]:
    return [_NAMES[memory_id] for memory_id in ids]


class NamedCanvas(RedisCanvas):
    """A canvas of named memories."""

    def enter(self, ns: str, entries: Sequence[CanvasEntry], at: datetime, *, rebuilt: bool = False) -> list[str]:
        return _names(super().enter(ns, [replace(each, id=id_of(each.id)) for each in entries], at, rebuilt=rebuilt))

    def renew(self, ns: str, touched: Sequence[Touched], at: datetime) -> list[str]:
        return _names(super().renew(ns, [replace(each, id=id_of(each.id)) for each in touched], at))

    def read(self, ns: str, at: datetime) -> list[CanvasEntry] | None:
        found = super().read(ns, at)
        return None if found is None else [replace(each, id=_NAMES[each.id]) for each in found]

    def ids(self, ns: str) -> set[str] | None:
        found = super().ids(ns)
        return None if found is None else set(_names(found))

    def leave(self, ns: str, ids: Sequence[str]) -> None:
        super().leave(ns, _ids(ids))

    def count(self, ns: str, ids: Sequence[str] | None = None) -> int:
        return super().count(ns, None if ids is None else _ids(ids))


class NamedHotStore(RedisHotStore):
    """HotKV of named memories."""

    def push(self, scope: Scope, entries: Sequence[HotEntry], window: int) -> None:
        super().push(scope, [replace(each, id=id_of(each.id)) for each in entries], window)

    def recent(self, scope: Scope, limit: int) -> list[HotEntry]:
        return [replace(each, id=_NAMES[each.id]) for each in super().recent(scope, limit)]

    def purge(self, ns: str, ids: Sequence[str]) -> None:
        super().purge(ns, _ids(ids))

    def count(self, scope: Scope, ids: Sequence[str] | None = None) -> int:
        return super().count(scope, None if ids is None else _ids(ids))
