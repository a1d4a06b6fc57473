"""Whether the libraries of notes can be read, and their chunks are in the vector index."""

from collections import Counter
from collections.abc import Callable, Iterator

from biem.domain.diagnosis import Depth, Finding, Limits, Tally
from biem.domain.text import counted
from biem.ports.clock import Clock
from biem.ports.notes.index import NoteIndex
from biem.ports.notes.records import NoteRecords

_LATE_S = 600.0
"""Pending for longer, a note waits for something that does not happen."""
WATCH_SILENCE_S = 300.0
"""A watcher says every minute that it is alive."""


class NoteCheck:
    """Libraries that are held or unreadable, notes that are not indexed, rows without a chunk, chunks without a row."""

    needs = frozenset({"postgres", "milvus"})

    def __init__(
        self,
        records: NoteRecords,
        index: NoteIndex,
        *,
        unreadable: Callable[[str], bool],
        host: str,
        clock: Clock,
        limits: Limits,
    ) -> None:
        """`unreadable`: whether a folder of this machine, `host`, cannot be read."""
        self._records = records
        self._index = index
        self._unreadable = unreadable
        self._host = host
        self._clock = clock
        self._limits = limits

    def look(self, depth: Depth, seen: Counter[str], *, mend: bool) -> Iterator[Finding]:
        """At most seven findings; none where there are no libraries."""
        libraries = self._records.libraries()
        if not libraries:
            return
        seen["libraries"] += len(libraries)
        lost = [each for each in libraries if each.host in ("", self._host) and self._unreadable(each.root)]
        if lost:
            yield Finding(
                "note_library_unreadable",
                "warning",
                f"{counted(len(lost), 'folder')} of notes cannot be read; what is known stays searchable",
                "mount the folder, or `biem notes remove` the library",
                len(lost),
                tuple(each.root for each in lost[: self._limits.samples]),
            )
        held = [each for each in libraries if each.state == "held"]
        if held:
            yield Finding(
                "note_library_held",
                "warning",
                f"{counted(len(held), 'library')} without most of the files, so no note was deleted",
                "bring the files back, or `biem notes sync LIBRARY --accept-deletions`",
                len(held),
                tuple(each.name for each in held[: self._limits.samples]),
            )
        now = self._clock.now()
        stale = [
            each
            for each in libraries
            if each.watched_at is not None and (now - each.watched_at).total_seconds() > WATCH_SILENCE_S
        ]
        if stale:
            yield Finding(
                "note_watcher_stale",
                "warning",
                f"the watcher of {counted(len(stale), 'library')} died; changes of files are found by scans only",
                "start `biem notes watch` again",
                len(stale),
                tuple(each.name for each in stale[: self._limits.samples]),
            )
        yield from self._notes()
        yield from self._rows(depth, seen, mend=mend)

    def _notes(self) -> Iterator[Finding]:
        failed = self._records.failed(self._limits.page)
        if failed:
            yield Finding(
                "note_failed",
                "warning",
                f"{counted(len(failed), 'note')} could not be indexed: found by words only",
                "correct the files by the reasons in `biem notes stats`; a changed file is tried again",
                len(failed),
                tuple(failed[: self._limits.samples]),
            )
        if late := self._records.overdue(_LATE_S):
            yield Finding(
                "note_pending",
                "warning",
                f"{counted(late, 'note')} waiting for more than {_LATE_S / 60:.0f} minutes to be indexed",
                "see that a process with workers runs, or run `biem notes sync`",
                late,
            )

    def _rows(self, depth: Depth, seen: Counter[str], *, mend: bool) -> Iterator[Finding]:
        missing, spare = Tally(self._limits.samples), Tally(self._limits.samples)
        if not self._index.exists():
            if first := self._records.indexed("", 1):
                missing.add(first)
                if mend:
                    self._records.forget_index()
        else:
            for lost, extra in self._pages(depth, seen):
                missing.add(lost)
                spare.add(extra)
                if mend:
                    self._records.index_again(lost)
                    self._index.purge(extra)
        if missing.count:
            yield Finding(
                "note_not_indexed",
                "error",
                f"{counted(missing.count, 'chunk')} of notes missing in the vector index: found by words only",
                "`biem diagnose --fix` indexes them again, `biem reindex` rebuilds all",
                missing.count,
                tuple(missing.samples),
                "queued for the workers" if mend else "",
            )
        if spare.count:
            yield Finding(
                "row_without_note",
                "warning",
                f"{counted(spare.count, 'row')} of the vector index without a chunk of a note",
                "`biem diagnose --fix` removes them",
                spare.count,
                tuple(spare.samples),
                "removed" if mend else "",
            )

    def _pages(self, depth: Depth, seen: Counter[str]) -> Iterator[tuple[list[str], list[str]]]:
        """Chunks without a row and rows without a chunk, page by page; without `full` the first pages only."""
        after, size = "", self._limits.page
        left = None if depth.full else self._limits.sample_pages
        while left is None or left > 0:
            left = None if left is None else left - 1
            page = self._records.indexed(after, size)
            seen["chunks"] += len(page)
            until = page[-1] if len(page) == size else ""
            rows = self._index.between(after, until, 4 * size)
            lost = sorted(set(page) - set(rows) - self._index.present(sorted(set(page) - set(rows))))
            extra = sorted(set(rows) - set(page))
            yield lost, sorted(set(extra) - self._records.existing(extra))
            if not until:
                return
            after = until
