"""Tags by id as they are now, and vectors, kept in this process: one query meets a thousand, and they hardly change."""

import threading
import time
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence

from biem.domain.scope import Scope
from biem.notes.tags import identity
from biem.ports import Embedder, Vector
from biem.ports.notes.records import NoteRecords, TagInfo
from biem.recent import Recent

_KEPT_S = 60.0
"""How long the number of chunks that have a tag is believed; scans of this process end it."""
_MOST_TAGS = 50_000
"""Tags kept of all scopes."""
_MOST_SCOPES = 256
_VECTOR_BYTES = 40_000_000
"""Vectors kept of all scopes."""


class CurrentTags:
    """The tags of some scopes as they are at the time of one query. Thread-safe."""

    def __init__(self, records: NoteRecords, scopes: Sequence[Scope], aliases: Mapping[int, int]) -> None:
        """`aliases`: tags that stand for others, by the id of these."""
        self._records = records
        self._scopes = scopes
        self._infos: dict[int, TagInfo] = {}
        self._called: dict[str, set[int]] = {}
        self.aliases = aliases
        self.until = time.monotonic() + _KEPT_S
        self.token = object()
        """Stands for these tags in keys: all that follows from them holds as long as they do."""

    def __len__(self) -> int:
        return len(self._infos)

    def infos(self, ids: Collection[int]) -> dict[int, TagInfo]:
        """Tags by id; those that do not exist are left out."""
        found = {key: info for key in ids if (info := self._infos.get(key)) is not None}
        missing = [key for key in ids if key not in found]
        if missing:
            read = self._records.tags(self._scopes, sorted(missing))
            found |= read
            for info in read.values():
                if not info.idle:
                    self._called.setdefault(identity(info.shown), set()).add(info.id)
            self._infos |= read
        return found

    def called(self, names: Collection[str]) -> list[TagInfo]:
        """Those of these names that queries have met."""
        ids = set[int]().union(*(self._called.get(name, ()) for name in {identity(name) for name in names}))
        return [info for key in ids if (info := self._infos.get(key)) is not None]


class ScopeTags:
    """The tags of scopes. One that any process renames stands for the other in the next query. Thread-safe."""

    def __init__(self, records: NoteRecords) -> None:
        self._records = records
        self._kept: OrderedDict[tuple[str, ...], CurrentTags] = OrderedDict()
        self._lock = threading.Lock()

    def now(self, scopes: Sequence[Scope], aliases: Mapping[int, int]) -> CurrentTags:
        """The tags of these scopes. `aliases`: those that stand for others, as the query has just read them."""
        key = tuple(scope.ns for scope in scopes)
        with self._lock:
            kept = self._kept.get(key)
            if kept is None or kept.until < time.monotonic() or kept.aliases != aliases:
                kept = self._kept[key] = CurrentTags(self._records, scopes, aliases)
            self._kept.move_to_end(key)
            while len(self._kept) > _MOST_SCOPES or sum(map(len, self._kept.values())) > _MOST_TAGS:
                self._kept.popitem(last=False)
            return kept

    def changed(self) -> None:
        """Forget all: tags were counted again, or erased."""
        with self._lock:
            self._kept.clear()


class NoteVectors:
    """The vectors of chunks and tags, by the key of the text that each is of. Thread-safe."""

    def __init__(self, records: NoteRecords, embedder: Embedder) -> None:
        self._records = records
        self._kept: Recent[bytes, Vector] = Recent(_VECTOR_BYTES // (embedder.info.dim * 4))

    def of(self, keys: Collection[bytes]) -> dict[bytes, Vector]:
        """The vectors of texts; those that are not embedded yet are left out."""
        found, mark = self._kept.known(keys)
        if missing := [key for key in keys if key not in found]:
            loaded = self._records.load_vectors(missing)
            self._kept.keep(loaded, mark)
            found |= loaded
        return found

    def forget(self) -> None:
        """Forget all that is kept: some notes were erased."""
        self._kept.forget()
