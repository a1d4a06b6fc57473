"""Everything that the notes of all scopes of one connection share."""

import logging
import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import PurePath
from shlex import quote
from typing import TYPE_CHECKING

from biem.domain.node import Hit, Hits, StoreCount, new_id
from biem.domain.note import NoteFinding, ParsedNote, SkippedNote
from biem.domain.notes.library import ANY_HOST, Library, LibraryStats, NoteHits, ScanReport
from biem.domain.policies.notes import LibraryPolicy, NoteRankPolicy
from biem.domain.scope import Scope
from biem.domain.text import counted
from biem.errors import BiemError, InvalidInput, StoreUnavailable
from biem.notes.encode import NoteEncoder
from biem.notes.folder_watcher import BUSY_S, FolderWatcher
from biem.notes.scan import collisions
from biem.notes.search.searcher import NoteSearcher, RankedPool
from biem.notes.sync import Parse, Progress, Scanner
from biem.ports import Clock, Embedder, JobQueue
from biem.ports.files import FileContent, Files
from biem.ports.notes.index import NoteIndex
from biem.ports.notes.records import ErasedNotes, NoteRecords
from biem.telemetry import Telemetry

if TYPE_CHECKING:
    from biem.notes.verdicts import FactCheck

logger = logging.getLogger("biem.notes")

_GUIDES = 3
"""Best memories whose names may raise notes."""
_SURE = 0.5
"""Confidence of a recall from which its memories raise notes."""
_MOST_HITS = 100
RAW = "raw"
"""The name of the library that the settings define."""
_WITHDRAWN_AT_ONCE = 1_000
_POLL_S = 0.05
_LOOK_S = 1.0
"""How soon a watching process notices that it is to end."""
_STOPPED_S = 10.0
_SCANNED_S = 600.0
"""How long a caller waits for another scan of the same library."""
_STALLED_S = 30.0
"""How long a caller waits for another process that indexes its notes without any progress."""


@dataclass(slots=True, eq=False)
class NoteSystem:
    """The parts of notes, and operations on all scopes. Only bootstrap builds it."""

    records: NoteRecords
    index: NoteIndex
    files: Files
    scanner: Scanner
    encoder: NoteEncoder
    searcher: NoteSearcher
    facts: "Callable[[], FactCheck]"
    """Compares facts with notes; loaded at the first call."""
    queue: JobQueue
    """Wakes the thread that indexes."""
    embedder: Embedder
    clock: Clock
    policy: LibraryPolicy
    ranking: NoteRankPolicy
    telemetry: Telemetry
    host: str
    """The name of this machine."""
    default: Callable[[], tuple[Scope, str] | None]
    """Scope and folder of the library that the settings define; None where the folder does not exist."""
    parse: Parse
    judge: Callable[[ParsedNote | SkippedNote], Sequence[NoteFinding]]
    """What makes a note hard to find or to understand."""
    most_bytes: int
    """Larger files are not read."""
    save_receipt: Callable[[Scope, Mapping[str, object]], None]
    build_watcher: Callable[..., FolderWatcher[Library]]
    scan_s: float
    """Seconds between scans of all libraries; 0: none."""
    watching: bool
    """Whether this process watches the folders of all scopes while it runs."""
    watcher: FolderWatcher[Library] | None = None

    def start(self) -> None:
        """Begin to index in the background, and to watch folders, if this process does."""
        self.queue.start(self.encoder)
        if self.watching:
            self.watcher = self.watch(None, self.queue.wake)
            self.watcher.start()

    def rest(self, timeout_s: float) -> None:
        """Stop indexing and watching."""
        if self.watcher is not None:
            self.watcher.stop(timeout_s)
        self.encoder.stop()
        self.queue.stop(timeout_s)
        self.encoder.give_back()

    # -- searching --------------------------------------------------------------------------------------------------

    def begin(
        self,
        scope: Scope,
        query: str,
        *,
        top_k: int,
        tags: Sequence[str],
        since: datetime | None,
        until: datetime | None,
    ) -> Callable[[Sequence[Hit]], NoteHits]:
        """Search the notes for a query while its memories are searched.

        Returns what waits for the notes; its argument are the memories, best first, which have a say in their order.
        There are none where the scope has none, or they cannot be read.
        """
        limit = min(top_k, _MOST_HITS)
        find = partial(self._find, scope, query, tags=tags, since=since, until=until, read=limit)
        if self.searcher.knows_none(scope):
            return lambda guides: NoteHits()  # noqa: ARG005
        running = self.searcher.submit(find)

        def told(guides: Sequence[Hit]) -> NoteHits:
            try:
                found = running.result()
                if found is None:
                    return NoteHits()
                return self.searcher.told(found, top_k=limit, guides=_named_in(guides))
            except StoreUnavailable as error:
                logger.warning("recall continues without notes: %s", error)
                return NoteHits(degraded=("notes",))

        return told

    def _find(
        self,
        scope: Scope,
        query: str,
        *,
        tags: Sequence[str],
        since: datetime | None,
        until: datetime | None,
        read: int,
    ) -> RankedPool | None:
        """The ranked notes for a query; None where the scope has none."""
        if not self.searcher.is_used(scope):
            return None
        return self.searcher.find(scope, query, tags=tags, since=since, until=until, read=read)

    def mark(self, scope: Scope, hits: list[Hit]) -> None:
        """Note in `why` of memories which note contradicts them; without notes this costs nothing."""
        if not hits or self.searcher.knows_none(scope) or not self.searcher.is_used(scope):
            return
        try:
            if not self.searcher.is_contradicted(scope, self.facts().any_contradicted):
                return
            found = self.facts().contradicted(scope.readable, [hit.node.id for hit in hits])
        except StoreUnavailable as error:
            logger.warning("recall continues without what notes say of it: %s", error)
            return
        hits[:] = [
            replace(hit, why={**hit.why, "note_disagrees": found[hit.node.id]}) if hit.node.id in found else hit
            for hit in hits
        ]

    # -- scanning ---------------------------------------------------------------------------------------------------

    def ours(self, scopes: Sequence[Scope] | None) -> list[Library]:
        """The libraries whose folders are on this machine; None: of all scopes."""
        return [each for each in self.records.libraries(scopes) if each.host in (ANY_HOST, self.host)]

    def require_apart(self, scope: Scope, root: str, exclude: Sequence[str]) -> None:
        """Raise `InvalidInput` for a new folder of this machine whose files would be read twice, or are memories."""
        known = self.ours(scope.readable)
        if any(library.scope == scope and library.root == root for library in known):
            return
        if self._mirrored(root, exclude):
            raise InvalidInput(f"{root} has the files that mirror memories, which are found already; give another")
        for library in known:
            if library.root == root:
                raise InvalidInput(
                    f"{root} is library {library.name!r} of {library.scope}, which is searched from here"
                )
        for library in known:
            if inner := _within(root, library.root, library.exclude):
                raise InvalidInput(
                    f"{root} is a part of library {library.name!r}, which has its notes already; to make it a "
                    f"separate library, add {library.name!r} anew with `--exclude /{inner}/`"
                )
            if inner := _within(library.root, root, exclude):
                raise InvalidInput(
                    f"library {library.name!r} is a part of {root}: remove it first, or exclude `/{inner}/` here"
                )

    def require_unread(self, root: str) -> None:
        """Raise `InvalidInput` for a folder of this machine that is to mirror memories, where files would be read as
        notes of any scope.
        """
        self.adopt()
        for library in self.ours(None):
            inner = _within(root, library.root, library.exclude)
            if inner:
                raise InvalidInput(
                    f"{root} is a part of a library of notes, which would read mirrored memories as notes, too: give "
                    f"another folder, or add the library anew with `--exclude /{inner}/`"
                )
            if root == library.root or _within(library.root, root, ()):
                raise InvalidInput(
                    f"{root} has a library of notes, which would read mirrored memories as notes, too, and whose files "
                    "would become memories: give another folder"
                )

    def adopt(self) -> None:
        """Register the folder of the settings, if it exists."""
        found = self.default()
        if found is not None:
            scope, root = found
            if any((each.name, each.root) == (RAW, root) for each in self.ours([scope])):
                return
            if self._mirrored(root, ()):
                logger.warning("%s is no library of notes: it has the files that mirror memories", root)
                return
            self.records.add_library(Library(id=new_id(), scope=scope, name=RAW, root=root, host=self.host))
            self.searcher.changed()

    def _mirrored(self, root: str, exclude: Sequence[str]) -> bool:
        """Whether a folder of this machine has files that mirror memories of any scope, where a library reads them."""
        return any(
            folder == root or _within(root, folder, ()) or _within(folder, root, exclude)
            for folder in self.records.mirrored(self.host)
        )

    def scan_all(self, scope: Scope | None = None) -> Mapping[str, int]:
        """The job `notes`: scan the libraries of a scope, or of all, and wake who indexes; returns what changed."""
        self.adopt()
        total: Counter[str] = Counter()
        for library in self.ours(None if scope is None else [scope]):
            if library.state != "paused":
                report = self.scanner.scan(library)
                total.update({name: getattr(report, name) for name in ("new", "changed", "moved", "deleted", "held")})
        if total["new"] or total["changed"] or total["moved"] or total["deleted"]:
            self.searcher.changed()
        total["again"] = self.records.withdraw(_WITHDRAWN_AT_ONCE)
        if self.records.backlog():
            self.queue.wake()
        return {name: count for name, count in total.items() if count}

    def watch(
        self,
        scopes: Sequence[Scope] | None,
        index: Callable[[], object],
        on_scan: Callable[[ScanReport], None] | None = None,
    ) -> FolderWatcher[Library]:
        """A watcher of the libraries of these scopes, or of all, that is not started yet.

        `index` is called after a scan that left notes to be indexed.
        """

        def libraries() -> list[Library]:
            self.adopt()
            return [each for each in self.ours(scopes) if each.state != "paused"]

        def scan(library: Library, changed: frozenset[str]) -> float:
            found = [each for each in self.records.libraries([library.scope]) if each.id == library.id]
            if not found:  # removed meanwhile
                return 0.0
            report = self.scanner.scan(found[0], changed=changed)
            if on_scan and not report.busy:
                on_scan(report)
            if report.altered:
                self.searcher.changed()
                index()
            return BUSY_S if report.busy else 0.0

        def alive(library: Library, is_watched: bool) -> None:
            self.records.watched(library, alive=is_watched)

        return self.build_watcher(folders=libraries, scan=scan, alive=alive, look_s=self.policy.look_s)

    def watch_until(
        self, stopped: threading.Event, scope: Scope, on_scan: Callable[[ScanReport], None] | None = None
    ) -> None:
        """Watch the libraries of a scope, scan all by time, and index what is pending, until `stopped` is set."""
        changed = threading.Event()
        watcher = self.watch([scope], changed.set, on_scan)
        watcher.start()
        due = 0.0
        try:
            while not stopped.is_set():
                try:
                    if time.monotonic() >= due:
                        due = time.monotonic() + (self.scan_s or math.inf)
                        self.scan_all(scope)
                        changed.set()
                    if changed.wait(_LOOK_S):
                        changed.clear()
                        if left := self.index_all(scope, stopped=stopped):
                            logger.warning("%s found by words only until indexed", counted(left, "note"))
                            changed.set()
                            stopped.wait(self.policy.backoff_s)
                except StoreUnavailable as error:
                    logger.warning("notes are watched again later: %s", error)
                    stopped.wait(self.policy.backoff_s)
        finally:
            watcher.stop(_STOPPED_S)

    def scan(self, library: Library, *, full: bool, accept_deletions: bool, on_progress: Progress | None) -> ScanReport:
        """Scan one library on behalf of a caller, after another scan of it that is under way."""
        if library.host not in (ANY_HOST, self.host):
            reason = f"its folder is on {library.host}: run it there"
            return ScanReport(library=library.name, outcome="elsewhere", reason=reason)
        scan = partial(
            self.scanner.scan, library, full=full, accept_deletions=accept_deletions, on_progress=on_progress
        )
        deadline = time.monotonic() + _SCANNED_S
        while (report := scan()).busy and time.monotonic() < deadline:
            time.sleep(_POLL_S)
        return report

    def advice(self, stats: LibraryStats) -> str:
        """What keeps a library from being up to date, and what to do; empty if nothing does."""
        library = stats.library
        if library.host not in (ANY_HOST, self.host):
            return f"its folder is on {library.host}: `biem notes sync` reads it there"
        try:
            self.files.top(library.root)
        except StoreUnavailable as error:
            return f"{error}; what is known of its notes stays searchable"
        if library.state == "held":
            return (
                "most of its files are missing, so nothing was deleted: bring them back, or run "
                f"`biem notes sync {quote(library.name)} --accept-deletions`"
            )
        if library.scanned_at is None:
            return "it was not read to its end yet: run `biem notes sync`"
        if stats.pending_chunks:
            return (
                f"{counted(stats.pending_chunks, 'chunk')} found by words only, until `biem notes sync` or a process "
                "with workers indexes the rest"
            )
        return "" if any(stats.files.values()) else "no Markdown file was found in it"

    def index_all(
        self,
        scope: Scope,
        on_progress: Callable[[int], None] | None = None,
        *,
        stopped: threading.Event | None = None,
    ) -> int:
        """Index until nothing of this scope is pending; returns how many notes are, after an outage.

        `on_progress` is called with the number still pending. Others may index the same notes meanwhile.
        """
        left = self.records.backlog([scope])
        deadline = time.monotonic() + _STALLED_S
        while left and not (stopped and stopped.is_set()):
            if on_progress:
                on_progress(left)
            try:
                done = self.encoder()
            except BiemError as error:
                logger.warning("notes are not indexed yet: %s", error)
                return left
            before, left = left, self.records.backlog([scope])
            if done or left != before:
                deadline = time.monotonic() + _STALLED_S
            elif time.monotonic() > deadline:
                break
            else:
                time.sleep(_POLL_S)
        if on_progress:
            on_progress(left)
        return left

    def lint(self, root: str, *, exclude: Sequence[str] = (), only: str = "") -> list[NoteFinding]:
        """Findings of the files of a folder, or of the one named `only`. Raises `StoreUnavailable` for the folder."""
        walk = self.files.walk(root, exclude)
        paths = [file.path for file in walk.files if not only or file.path == only]
        found = [NoteFinding(each.path, 1, each.rule, each.reason) for each in walk.skipped if not only]
        for path in paths:
            content = self.files.read(root, path, self.most_bytes)
            if content is not None:
                found += self.judge(self.parse(content) if isinstance(content, FileContent) else content)
        return sorted([*found, *(collisions(paths) if not only else ())], key=lambda one: (one.path, one.line))

    # -- rebuilding -------------------------------------------------------------------------------------------------

    def rebuild(self) -> int:
        """Fill the index again from PostgreSQL, with the vectors kept there; returns how many notes were indexed."""
        if not self.records.libraries() and not self.index.exists():
            return 0
        self.index.open()
        self.index.drop()
        self.index.open()
        count = self.records.forget_index()
        while self.encoder():
            pass
        return count

    def late_rows(self, ids: Sequence[str]) -> int:
        """Remove rows of chunks that do not exist any more; returns how many there were."""
        late = self.index.count(ids)
        if late:
            self.index.purge(ids)
        return late

    # -- erasing ----------------------------------------------------------------------------------------------------

    def erase_scope(self, scope: Scope) -> list[StoreCount]:
        """Destroy all notes of a scope in every store; nothing is listed for a scope that never had any."""
        erased = self.records.erase_scope(scope)
        self.searcher.changed()
        return self.cleared(scope, erased) if any(erased.before.values()) else []

    def cleared(self, scope: Scope, erased: ErasedNotes) -> list[StoreCount]:
        """Remove rows of an erased scope from the index; returns the counts of every store."""
        after = self.records.remains(scope)
        counts = [StoreCount(f"postgres.{name}", count, after[name]) for name, count in erased.before.items()]
        return [*counts, self.purged(erased)]

    def purged(self, erased: ErasedNotes) -> StoreCount:
        """Remove rows of erased chunks and tags from the index, and count them before and after."""
        self.searcher.forget()
        try:
            before = self.index.count(erased.chunks) + self.index.count_tags(erased.tags)
            self.index.purge(erased.chunks, erased.tags)
            left = self.index.count(erased.chunks) + self.index.count_tags(erased.tags)
        except StoreUnavailable:
            return StoreCount("milvus.notes", None, None)
        return StoreCount("milvus.notes", before, left)


def _within(inner: str, outer: str, exclude: Sequence[str]) -> str:
    """The path of a folder below another one; empty if it lies elsewhere, is hidden, or excluded by a path or name."""
    if inner == outer or not PurePath(inner).is_relative_to(outer):
        return ""
    path = PurePath(inner).relative_to(outer)
    excluded = {pattern.strip("/") for pattern in exclude}
    if any(part.startswith(".") for part in path.parts):
        return ""
    parts = {*path.parts, *(each.as_posix() for each in (path, *path.parents))}
    return "" if excluded & parts else path.as_posix()


def _named_in(hits: Sequence[Hit]) -> set[str]:
    """What the best memories of a recall name; nothing where it is doubtful that they are about the question."""
    if isinstance(hits, Hits) and hits.confidence < _SURE:
        return set()
    return {name for hit in hits[:_GUIDES] for name in (*hit.node.entities, *hit.node.tags)}
