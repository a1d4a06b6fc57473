"""Whether the vector index matches the records, page by page of ids; the records are the source of truth.

    active, of our model      a row must be there          else it is indexed once more
    archived, or no memory    no row may be there          else a job removes it
    pending, or with a job    both are valid: a worker is processing it

The records are read first. A memory is indexed before it becomes active, and every erasure and archive has a job until
the row is removed; so a row found faulty twice in this order is a fault, also while others write.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from uuid import UUID

from biem.domain.diagnosis import Depth, Finding, Limits, Tally
from biem.domain.text import counted
from biem.ports.diagnosis import IndexInspection, KnownRows, RecordsInspection, Repairs

_LAST = "ffffffff-ffff-ffff-ffff-ffffffffffff"
_PROBE = 500


class RowCheck:
    """Compares memories with the rows of our collection."""

    needs = frozenset({"postgres", "milvus"})

    def __init__(
        self,
        records: RecordsInspection,
        index: IndexInspection,
        repairs: Repairs,
        *,
        collection: str,
        model: str,
        random: Random,
        limits: Limits,
    ) -> None:
        self._records = records
        self._index = index
        self._repairs = repairs
        self._collection = collection
        self._model = model
        self._random = random
        self._limits = limits

    def look(self, depth: Depth, seen: Counter[str], *, mend: bool) -> Iterator[Finding]:
        """At most two findings: memories without a row, rows without a memory."""
        if not any(collection.name == self._collection for collection in self._index.collections()):
            yield from self._no_collection()
            return
        lost, orphans = Tally(self._limits.samples), Tally(self._limits.samples)
        queued = cleared = 0
        for page, after, until in self._pages(depth):
            seen["memories"] += len(page)
            missing, spare = self._compare(page, after, until, seen)
            lost.add(missing)
            orphans.add(list(spare))
            if mend:
                queued += self._repairs.reencode(missing)
                cleared += self._repairs.clear(spare)
            if depth.on_progress:
                depth.on_progress(until or _LAST, seen["memories"])
        if lost.count:
            yield Finding(
                "memory_not_indexed",
                "error",
                f"{counted(lost.count, 'active memory')} missing in the vector index: found by no meaning",
                "`biem diagnose --fix` indexes them again, `biem reindex` rebuilds all",
                lost.count,
                tuple(lost.samples),
                f"{queued} queued for the workers" if queued else "",
            )
        if orphans.count:
            yield Finding(
                "row_without_memory",
                "warning",
                f"{counted(orphans.count, 'row')} of the vector index without a live memory: they displace others",
                "`biem diagnose --fix` removes them",
                orphans.count,
                tuple(orphans.samples),
                f"{cleared} queued for removal by the workers" if cleared else "",
            )

    def _no_collection(self) -> Iterator[Finding]:
        """Without a collection every memory is missing; one finding reports it."""
        first = self._records.page("", 1)
        if first:
            yield Finding(
                "collection_missing",
                "error",
                f"Milvus has no collection {self._collection}: no memory is found by meaning",
                "run `biem reindex`; or, when the embedder was changed, `biem reembed`",
            )

    def _pages(self, depth: Depth) -> Iterator[tuple[list[KnownRows], str, str]]:
        """Pages of memories with the range of ids that each covers; the last range is open, for rows beyond."""
        size = self._limits.page
        after = depth.after
        if depth.full:
            while True:
                page = self._records.page(after, size)
                until = page[-1].id if len(page) == size else ""
                yield page, after, until
                if not until:
                    return
                after = until
        bounds = self._records.bounds()
        if bounds is None:
            yield [], "", ""
            return
        lowest, highest = (UUID(bound).int for bound in bounds)
        starts = sorted(self._random.randint(lowest, highest) for _ in range(max(0, self._limits.sample_pages - 2)))
        last = ""
        for start in ("", *(str(UUID(int=start)) for start in starts)):
            if start < last:  # the page before was the last one
                continue
            page = self._records.page(start, size)
            if len(page) < size:
                yield page, start, ""
                return
            last = page[-1].id
            yield page, start, last
        yield [], bounds[1], ""

    def _compare(
        self, page: Sequence[KnownRows], after: str, until: str, seen: Counter[str]
    ) -> tuple[list[str], dict[str, str]]:
        """In one range of ids: memories without a row, and rows without a live memory with their scopes."""
        rows = self._index.between(self._collection, after, until, 2 * self._limits.page)
        seen["rows"] += len(rows)
        expected = [known.id for known in page if self._needs_row(known) and known.id not in rows]
        live = {known.id for known in page if known.status != "archived"}
        suspects = [memory_id for memory_id in rows if memory_id not in live]
        missing = self._recheck_missing(expected) if expected else []
        return missing, self._recheck_orphans(suspects, rows) if suspects else {}

    def _needs_row(self, known: KnownRows) -> bool:
        return known.status == "active" and known.model == self._model and not known.queued

    def _recheck_missing(self, ids: Sequence[str]) -> list[str]:
        """Checked again, the records first."""
        known = self._records.known(ids)
        wanted = [memory_id for memory_id in ids if self._needs_row(known[memory_id])]
        there = self._present(wanted)
        return [memory_id for memory_id in wanted if memory_id not in there]

    def _recheck_orphans(self, ids: Sequence[str], rows: Mapping[str, str]) -> dict[str, str]:
        known = self._records.known(ids)
        left = [i for i in ids if known[i].status in ("archived", "gone") and not known[i].queued]
        there = self._present(left)
        return {memory_id: rows[memory_id] for memory_id in left if memory_id in there}

    def _present(self, ids: Sequence[str]) -> set[str]:
        found: set[str] = set()
        for start in range(0, len(ids), _PROBE):
            found |= self._index.present(self._collection, ids[start : start + _PROBE])
        return found
