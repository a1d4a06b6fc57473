"""Scans a library: compares its files with the records, one transaction a file.

Changed and new files are read and cut, chunks of the same key stay; a file whose content vanished elsewhere was moved;
vanished files are deleted, unless most vanished and an unmounted disk is the likelier reason. Nothing is embedded
here: new chunks are pending until `biem.notes.encode` comes to it.
"""

import hashlib
import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from typing import Protocol

from biem.domain.note import FileStat, ParsedNote, SkippedNote, StoredChunks
from biem.domain.notes.library import Library, ScanReport
from biem.domain.policies.notes import LibraryPolicy
from biem.errors import BiemError, NotFound, StoreUnavailable
from biem.notes.note_rows import drafted
from biem.notes.scan import FileChanges, compare, is_suspicious, moves
from biem.ports import Analyzer, Clock
from biem.ports.files import FileContent, Files, Walk
from biem.ports.jobs import Exclusive
from biem.ports.notes.index import NoteIndex
from biem.ports.notes.known_files import NO_FILES, KnownFiles
from biem.ports.notes.records import ExclusionsChanged, NoteChange, NoteRecords, StoredChunksChanged
from biem.telemetry import Telemetry

logger = logging.getLogger("biem.notes")


class Parse(Protocol):
    """Reads and cuts a file; what is stored of it spares work."""

    def __call__(self, content: FileContent, stored: StoredChunks | None = None) -> ParsedNote | SkippedNote:
        """The note, or why there is none."""


Progress = Callable[[int, int], None]
"""Called with the number of files done, and of all that are to be read."""

_READ_AT_ONCE = 32
_EARLY = 8
"""Edited files that are stored during the walk; more are read several at once, after it."""
_LOOK_AFTER = 64
"""Files of a walk after which it is seen whether some of them were edited."""


class _Unreadable(Exception):
    """The folder cannot be scanned, for the reason that the error says."""


@dataclass(slots=True)
class _Run:
    """One scan under way."""

    library: Library
    known: KnownFiles
    report: ScanReport
    removed: list[str]
    """Ids of chunks whose rows are to leave the index."""
    same: list[FileStat] = field(default_factory=list)
    """Files of which only size, time or inode are others than known."""
    early: set[str] = field(default_factory=set)
    """Paths of the files that were stored during the walk."""
    has_skipped: bool = False
    """Whether a file is skipped that was not, or that has changed."""
    told: int = 0
    """How many files had changed when searches were last made to see it."""

    def add(self, **counts: int) -> None:
        """Add to the counts of the report."""
        self.report = replace(
            self.report, **{name: getattr(self.report, name) + count for name, count in counts.items()}
        )


class Scanner:
    """Scans libraries; one process at a time scans each. Thread-safe."""

    def __init__(
        self,
        *,
        records: NoteRecords,
        index: NoteIndex,
        files: Files,
        parse: Parse,
        analyzer: Analyzer,
        exclusive: Exclusive,
        clock: Clock,
        policy: LibraryPolicy,
        most_bytes: int,
        max_lexeme_bytes: int,
        telemetry: Telemetry,
        stored: Callable[[], None] = lambda: None,
        working: Callable[[], AbstractContextManager[None]] = nullcontext,
        deferring: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """`most_bytes`: larger files are skipped; of each chunk `max_lexeme_bytes` of index terms are kept.

        `stored` is called when all that changed is stored: it can be found, though a scan still tidies up then.
        `working` is entered around a scan, which pauses for calls of other threads, also where a caller waits for it.
        Commits inside `deferring` do not wait for the disk.
        """
        self._records = records
        self._index = index
        self._files = files
        self._parse = parse
        self._analyzer = analyzer
        self._exclusive = exclusive
        self._clock = clock
        self._policy = policy
        self._most_bytes = most_bytes
        self._max_lexeme_bytes = max_lexeme_bytes
        self._telemetry = telemetry
        self._stored = stored
        self._working = working
        self._deferring = deferring

    def scan(
        self,
        library: Library,
        *,
        full: bool = False,
        accept_deletions: bool = False,
        changed: Collection[str] = (),
        on_progress: Progress | None = None,
    ) -> ScanReport:
        """Bring the records of a library's files up to date. `full` reads every file.

        `changed` are the paths that events named since the last scan: where each is a known file that is still there,
        the others are not looked at. A folder that cannot be read changes nothing: the report says why. Raises
        `StoreUnavailable` for PostgreSQL.
        """
        with self._working(), self._telemetry.span("biem.notes.scan") as span:
            with self._exclusive.hold(library.scope, f"notes:{library.id}") as granted:
                if not granted:
                    reason = "another process is scanning it"
                    return ScanReport(library=library.name, outcome="busy", busy=True, reason=reason)
                report = self._scan_as_it_is(library, full, accept_deletions, frozenset(changed), on_progress)
            span.add(files=report.files, read=report.read, changed=report.altered, reason=report.reason)
        return report

    def _scan_as_it_is(
        self, known: Library, full: bool, accept: bool, changed: frozenset[str], on_progress: Progress | None
    ) -> ScanReport:
        """Scan a library as it is now; anew after each erasure of one of its notes, so that none is stored again."""
        report = ScanReport(library=known.name)
        while True:
            library = next((each for each in self._records.libraries([known.scope]) if each.id == known.id), None)
            if library is None:
                return replace(report, outcome="removed", reason=f"library {known.name!r} was removed meanwhile")
            run = _Run(library, NO_FILES, report, [])
            try:
                return self._scan(run, full, accept, changed, on_progress)
            except ExclusionsChanged:
                report = replace(run.report, unchanged=0, read=0, skipped=0)

    def _scan(
        self, run: _Run, full: bool, accept: bool, changed: frozenset[str], on_progress: Progress | None
    ) -> ScanReport:
        library, started = run.library, self._clock.now()
        full = full or self._is_due_in_full(library, started)
        try:
            with _reading_folder():  # before any row is read
                if self._files.top(library.root) != library.root:  # it was registered without links
                    raise StoreUnavailable(f"{library.root} leads to another folder now: add that one as a library")
            edited = None if full or not changed else self._edited(run, changed)
            walk = edited or self._walked(run)
            run.report = replace(run.report, files=len(walk.files) + len(walk.skipped))
            changes = compare(walk, run.known, scanned_ns=_nanoseconds(library.scanned_at), full=full)
            changes = replace(changes, changed=tuple(file for file in changes.changed if file.path not in run.early))
            idle = sum(run.known.is_skipped(file.path) for file in changes.unchanged)
            run.add(unchanged=len(changes.unchanged) - idle, skipped=idle)
            moved = self._moved(run, changes)
            for skipped in walk.skipped:
                self._skip(run, FileStat(skipped.path, 0, 0, 0), skipped.reason)
            self._read_all(run, changes, moved, on_progress)
            vanished = [file.stat.path for file in changes.vanished if file.stat.path not in moved.values()]
            self._delete(run, vanished, len(run.known), accept=accept)
            self._tell(run)
            self._close(run, None if edited else started, full=full)
        except _Unreadable as error:
            logger.warning("library %s is not scanned: %s", library.name, error)
            return replace(run.report, outcome="unreadable", reason=str(error))
        except NotFound as error:  # the library was removed meanwhile
            return replace(run.report, outcome="removed", reason=str(error))
        finally:  # last: a search for the new chunks would wait for the index during a removal
            self._purge(run.removed)
        return run.report

    def _tell(self, run: _Run) -> None:
        """Make searches see what is stored, if there is more of it than before."""
        if run.report.altered > run.told:
            run.told = run.report.altered
            self._stored()

    def _edited(self, run: _Run, changed: frozenset[str]) -> Walk | None:
        """The files that changed, if each is known and still there; else a file or a folder came, went or moved."""
        library = run.library
        if library.scanned_at is None or library.state != "active":
            return None
        known = self._records.files(library, changed)
        files = self._files.stats(library.root, known) if changed <= known.keys() else ()
        if len(files) < max(1, len(known)):
            return None
        run.known = known
        return Walk(files)

    def _walked(self, run: _Run) -> Walk:
        """All files, and the known ones among them. The first edited ones are stored meanwhile: a walk through a large
        folder takes longer than reading a file.
        """
        library, found = run.library, list[FileStat | SkippedNote]()
        with ThreadPoolExecutor(1, thread_name_prefix="biem-notes-known") as pool:  # PostgreSQL works during the walk
            known = pool.submit(self._records.files, library)
            with _reading_folder():
                walk = self._files.each(library.root, library.exclude)
            looked, is_early = 0, True
            while part := list(islice(walk, _LOOK_AFTER)):
                found += part
                if is_early and known.done():
                    run.known = known.result()
                    is_early = self._take_edited(run, found[looked:])
                    looked = len(found)
        run.known = known.result()
        return Walk.of(found)

    def _take_edited(self, run: _Run, found: Iterable[FileStat | SkippedNote]) -> bool:
        """Store the edited files among these; False once there are as many as are stored early."""
        for file in found:
            if isinstance(file, SkippedNote) or run.known.has(file) or file.path not in run.known:
                continue
            content = self._read(run.library, file)
            if isinstance(content, FileContent):
                run.add(read=1)
                run.same += self._take(run, content, None)
                run.early.add(file.path)
                self._tell(run)
                if len(run.early) == _EARLY:
                    return False
        return True

    def _is_due_in_full(self, library: Library, now: datetime) -> bool:
        last = library.full_at
        return last is not None and abs((now - last).total_seconds()) >= self._policy.full_s

    # -- moved files ------------------------------------------------------------------------------------------------

    def _moved(self, run: _Run, changes: FileChanges) -> dict[str, str]:
        """Former path of each new file whose content vanished elsewhere."""
        sizes = {file.stat.size for file in changes.vanished if file.sha256}
        candidates = [file for file in changes.new if file.size in sizes]
        if not candidates:
            return {}
        hashes = {
            stat.path: hashlib.sha256(content.data).digest()
            for stat, content in self._contents(run.library, candidates)
            if isinstance(content, FileContent)
        }
        return moves(changes.vanished, hashes)

    # -- reading ----------------------------------------------------------------------------------------------------

    def _contents(
        self, library: Library, files: Sequence[FileStat]
    ) -> Iterator[tuple[FileStat, FileContent | SkippedNote | None]]:
        """The files' contents, in order; a few are read ahead."""
        with ThreadPoolExecutor(self._policy.readers, thread_name_prefix="biem-notes-read") as pool:
            for start in range(0, len(files), _READ_AT_ONCE):
                part = files[start : start + _READ_AT_ONCE]
                yield from zip(part, pool.map(lambda file: self._read(library, file), part), strict=True)

    def _read(self, library: Library, file: FileStat) -> FileContent | SkippedNote | None:
        return self._files.read(library.root, file.path, self._most_bytes)

    def _read_all(self, run: _Run, changes: FileChanges, moved: dict[str, str], on_progress: Progress | None) -> None:
        files = [*changes.new, *changes.changed]
        for done, (file, content) in enumerate(self._contents(run.library, files), 1):
            if isinstance(content, SkippedNote):
                self._skip(run, file, content.reason)
            elif content is not None:  # else it changed while it was read: the next scan sees it
                run.add(read=1)
                run.same += self._take(run, content, moved.get(file.path))
            if on_progress:
                on_progress(done, len(files))
        self._records.touch(run.library, run.same)

    def _take(self, run: _Run, content: FileContent, moved_from: str | None) -> Iterable[FileStat]:
        """Store a file; returns its stat instead if only that has changed."""
        path, sha = content.stat.path, hashlib.sha256(content.data).digest()
        before = run.known.get(path)
        if before is not None and before.sha256 == sha:
            run.add(unchanged=1)
            return [] if before.stat == content.stat else [content.stat]
        stored = None if before is None else self._records.stored_chunks(run.library, path)
        change = self._put(run, content, sha, stored, moved_from)
        if change is None:
            return []
        run.removed += change.removed
        kind = "moved" if moved_from else "new" if before is None else "changed"
        run.add(
            **{kind: 1},
            chunks_added=change.added,
            chunks_kept=change.kept,
            chunks_removed=len(change.removed),
        )
        return []

    def _put(
        self, run: _Run, content: FileContent, sha: bytes, stored: StoredChunks | None, moved_from: str | None
    ) -> NoteChange | None:
        """Read and store a file; None if it was skipped."""
        parsed = self._parsed(content, stored)
        if isinstance(parsed, SkippedNote):
            self._skip(run, content.stat, parsed.reason)
            return None
        draft = drafted(parsed, content.stat, sha, self._analyzer.lexemes, self._max_lexeme_bytes, stored)
        # A new file that is lost with the server is new to the next scan. One that replaces chunks must be on the disk
        # before their rows leave the index.
        is_new = moved_from is None and content.stat.path not in run.known
        try:
            with self._deferring() if is_new else nullcontext():
                return self._records.put(run.library, draft, moved_from)
        except StoredChunksChanged:  # erased meanwhile: all are read again
            return self._put(run, content, sha, None, moved_from)

    def _parsed(self, content: FileContent, stored: StoredChunks | None) -> ParsedNote | SkippedNote:
        path = content.stat.path
        try:
            with self._telemetry.span("biem.notes.parse", bytes=len(content.data)):
                return self._parse(content, stored)
        except BiemError:
            raise
        except Exception as error:  # one file must not stop the others
            logger.exception("note %s cannot be read", path)
            return SkippedNote(path, "unreadable", f"reading it failed ({type(error).__name__}); report this file")

    def _skip(self, run: _Run, stat: FileStat, reason: str) -> None:
        before = run.known.get(stat.path)
        run.add(skipped=1)
        if before is not None and before.skipped and before.stat == stat:
            return
        run.has_skipped = True
        run.removed += self._records.skip(run.library, stat, reason)

    # -- the end ----------------------------------------------------------------------------------------------------

    def _delete(self, run: _Run, vanished: Sequence[str], known: int, *, accept: bool) -> None:
        library = run.library
        if is_suspicious(len(vanished), known) and not accept:
            run.add(held=len(vanished))
            run.report = replace(
                run.report,
                outcome="held",
                reason=f"{len(vanished)} of {known} files are missing, so nothing was deleted; if that is right, run "
                f"`biem notes sync {library.name} --accept-deletions`",
            )
            logger.warning("library %s is held: %s", library.name, run.report.reason)
            if library.state == "active":
                self._records.set_state(library, "held")
            return
        if vanished:
            gone = self._records.delete(library, vanished)
            run.removed += gone
            run.add(deleted=len(vanished), chunks_removed=len(gone))
        if library.state == "held":
            self._records.set_state(library, "active")

    def _purge(self, removed: Sequence[str]) -> None:
        """Remove rows from the index; where it is down, the sweep of erased ids does it later."""
        if removed:
            try:
                self._index.purge(removed)
            except StoreUnavailable as error:
                logger.warning("rows of removed chunks stay in the index for now: %s", error)

    def _close(self, run: _Run, started: datetime | None, *, full: bool) -> None:
        """Record the scan, unless it changed nothing at all. One that looked at some files only has no time: by that
        of the last complete one, files are read again that a later write may have left alike.
        """
        report, library = run.report, run.library
        is_worth_it = report.altered or report.read or run.has_skipped or full or library.scanned_at is None
        if started is not None and is_worth_it:
            self._records.scanned(library, report.counts, started, full=full or library.full_at is None)
        if is_worth_it:
            self._records.count_tags(library)


@contextmanager
def _reading_folder() -> Iterator[None]:
    """Distinguishes a folder that cannot be read from a store that does not answer."""
    try:
        yield
    except StoreUnavailable as error:
        raise _Unreadable(str(error)) from error


def _nanoseconds(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp() * 1e9)
