"""Checks of the servers: reachable, clocks in step, suitable for this version."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from biem.domain.diagnosis import Depth, Finding, Limits
from biem.domain.text import counted
from biem.errors import BiemError
from biem.ports import Clock, EmbedderInfo
from biem.ports.diagnosis import Disk, IndexInspection, PlaceInspection, SchemaInspection

_FIRST_WITH_BM25 = (2, 5)
_STORES = {"postgres": "PostgreSQL", "redis": "Redis", "milvus": "Milvus"}
_WITHOUT = {
    "postgres": "nothing can be remembered or recalled",
    "redis": "recall works without the canvas and the newest texts",
    "milvus": "recall finds by words only",
}


class ServerCheck:
    """Whether each server answers. `starts` tells for each how to start it."""

    needs: frozenset[str] = frozenset()

    def __init__(self, places: Sequence[PlaceInspection], starts: Mapping[str, str]) -> None:
        self._places = places
        self._starts = starts

    def look(self, depth: Depth, seen: Counter[str], *, mend: bool) -> Iterator[Finding]:  # noqa: ARG002
        """One finding for each server that is down."""
        for place in self._places:
            seen["servers"] += 1
            try:
                place.reach()
            except BiemError as error:
                yield Finding(
                    f"{place.name}_unreachable",
                    "error",
                    f"{_STORES[place.name]} cannot be used, so {_WITHOUT[place.name]}: {error}",
                    self._starts[place.name],
                    blocks=place.name,
                )


class ClockCheck:
    """Whether the servers' clocks agree with this machine's: leases follow PostgreSQL's, energies this one's."""

    needs: frozenset[str] = frozenset()

    def __init__(self, places: Sequence[PlaceInspection], clock: Clock, limits: Limits) -> None:
        self._places = places
        self._clock = clock
        self._limits = limits

    def look(self, depth: Depth, seen: Counter[str], *, mend: bool) -> Iterator[Finding]:  # noqa: ARG002
        """One finding for each server whose clock differs; half the round trip is subtracted."""
        for place in self._places:
            try:
                before = self._clock.now()
                theirs = place.now()
                after = self._clock.now()
            except BiemError:
                continue
            if theirs is None:
                continue
            skew_s = (theirs - (before + (after - before) / 2)).total_seconds()
            if abs(skew_s) > self._limits.skew_s + (after - before).total_seconds() / 2:
                yield Finding(
                    f"clock_of_{place.name}",
                    "warning",
                    f"the clock of {_STORES[place.name]} is {abs(skew_s):.0f} s "
                    f"{'ahead of' if skew_s > 0 else 'behind'} this machine's: memories seem older or younger than "
                    "they are",
                    "let all machines set their clocks by NTP",
                )


class SchemaCheck:
    """Whether the database has this version's schema."""

    needs = frozenset({"postgres"})

    def __init__(self, schema: SchemaInspection) -> None:
        self._schema = schema

    def look(self, depth: Depth, seen: Counter[str], *, mend: bool) -> Iterator[Finding]:  # noqa: ARG002
        """A finding when migrations are missing, which a role that may change the schema can apply, or some are
        unknown.
        """
        if missing := self._schema.missing():
            yield Finding(
                "schema_behind",
                "error",
                f"the database lacks {len(missing)} migrations of this version",
                "run `biem backup FILE`, then `biem migrate`",
                len(missing),
                tuple(missing),
                blocks="postgres",
            )
        if later := self._schema.later():
            yield Finding(
                "schema_ahead",
                "warning",
                f"a later version applied {len(later)} migrations to the database that this one does not know",
                "install that version, or `biem restore` a backup made before it; during a rollout this is temporary",
                len(later),
                tuple(later),
            )


class DiskCheck:
    """Whether the disk of the embedded servers is nearly full."""

    needs: frozenset[str] = frozenset()

    def __init__(self, disk: Disk, limits: Limits) -> None:
        self._disk = disk
        self._limits = limits

    def look(self, depth: Depth, seen: Counter[str], *, mend: bool) -> Iterator[Finding]:  # noqa: ARG002
        """One finding when little space is left."""
        free, total = self._disk.space()
        if free < self._limits.free_bytes or free < total * self._limits.free_share:
            yield Finding(
                "disk_nearly_full",
                "error",
                f"{free / 1e9:.1f} GB of {total / 1e9:.1f} GB are free on the disk of the embedded servers",
                "free some space, or move the folder and set BIEM_HOME",
            )


class IndexCheck:
    """Whether the vector index supports search by words, and whether its collection fits this embedder."""

    needs = frozenset({"milvus"})

    def __init__(self, index: IndexInspection, collection: str, info: EmbedderInfo) -> None:
        self._index = index
        self._collection = collection
        self._info = info

    def look(self, depth: Depth, seen: Counter[str], *, mend: bool) -> Iterator[Finding]:  # noqa: ARG002
        """Findings about the server's version, our collection, and collections of other models."""
        version = self._index.version()
        there = {collection.name: collection for collection in self._index.collections()}
        seen["collections"] += len(there)
        ours = there.pop(self._collection, None)
        if version is not None and version < _FIRST_WITH_BM25:
            told = ".".join(map(str, version))
            yield Finding(
                "milvus_without_bm25",
                "warning",
                f"Milvus {told} cannot search by words: PostgreSQL does it instead, slower and without ranking over "
                "the whole collection",
                "upgrade Milvus to 2.5 or later, then run `biem reindex`",
            )
        elif ours is not None and not ours.lexical:
            yield Finding(
                "collection_without_bm25",
                "warning",
                f"collection {ours.name} was made by an older Milvus and has no index of words",
                "run `biem reindex`",
            )
        if ours is not None and ours.dim != self._info.dim:
            yield Finding(
                "wrong_dimension",
                "error",
                f"collection {ours.name} holds {ours.dim}-dimensional vectors, {self._info.id} makes {self._info.dim}",
                "set BIEM_EMBEDDER__* to the model that filled it, or BIEM_MILVUS_COLLECTION to another name and run "
                "`biem reindex`",
                blocks="milvus",
            )
        left = [collection for collection in there.values() if collection.rows]
        if left:
            yield Finding(
                "other_collections",
                "note",
                f"{counted(sum(collection.rows or 0 for collection in left), 'row')} in collections of other models",
                "if no program uses them any more, and no move to one of them is unfinished: `biem reembed --drop-old`",
                len(left),
                tuple(collection.name for collection in left),
            )
