"""The notes of one scope: `memory.notes`."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from os import PathLike, fspath
from pathlib import Path
from uuid import UUID

from biem.domain.node import Receipt, StoreCount, new_id, require_time
from biem.domain.note import NoteFinding
from biem.domain.notes.library import (
    ANY_HOST,
    STATUSES,
    Library,
    LibraryStats,
    Note,
    NoteHit,
    NoteHits,
    NotePage,
    NotePassage,
    NoteVerdict,
    NoteVerdictStatus,
    ScanReport,
    SyncReport,
    unknown_library,
)
from biem.domain.scope import Scope
from biem.domain.text import require_count, require_names, require_path, require_string
from biem.errors import InvalidInput, NotFound
from biem.notes.related_chunks import RELATIONS, Relation, fitting, related
from biem.notes.system import NoteSystem
from biem.notes.tags import identity, is_idle
from biem.ports.notes.records import TagInfo, TagName

_MOST_HITS = 100
_FAR_FUTURE_DAYS = 3_000_000
"""Conditions may use any time that a datetime can represent."""
_MOST_TAGS = 10_000
_MOST_NAME = 100
_BUDGET = 1_000
_SPECIAL = r"\*?[]!# "
"""Signs that patterns of excluded files read as more than themselves."""


class Notebook:
    """Folders of Markdown files as knowledge of one scope. Files are only read, never written.

    A project searches its own libraries and those of its user; it changes its own.
    """

    def __init__(self, system: NoteSystem, scope: Scope) -> None:
        self._system = system
        self._scope = scope

    # -- libraries --------------------------------------------------------------------------------------------------

    def add(
        self,
        root: str | PathLike[str],
        *,
        name: str = "",
        exclude: Sequence[str] = (),
        any_host: bool = False,
    ) -> Library:
        """Register a folder as a library; `sync` reads it. The same folder and name again change nothing.

        A folder within a library that this scope reads, or above one, would answer twice, and one that mirrors
        memories would give each as a note, too: both are refused, unless the outer library excludes the inner folder.

        `name` defaults to the folder's. `exclude`: patterns as in `.gitignore`. `any_host`: every machine has this
        folder, as a shared mount; otherwise only this one reads it. Raises `InvalidInput`.
        """
        folder = _found(require_path(root, "the folder"))
        if folder is None or not folder.is_dir():
            raise InvalidInput(f"{fspath(root)} is no folder; create it, or give another")
        folder = folder.resolve()
        title = name or folder.name or "notes"
        require_string(title, "the name of a library")
        if len(title) > _MOST_NAME or not title.strip():
            raise InvalidInput(f"the name of a library has 1 to {_MOST_NAME} characters, not {len(title)}")
        require_names(exclude, "patterns of excluded files")
        host = ANY_HOST if any_host else self._system.host
        self._system.require_apart(self._scope, str(folder), exclude)
        library = self._system.records.add_library(
            Library(id=new_id(), scope=self._scope, name=title, root=str(folder), host=host, exclude=tuple(exclude))
        )
        self._system.searcher.changed()
        return library

    def libraries(self) -> list[Library]:
        """The libraries of this scope and, from a project, of its user; by name."""
        self._system.adopt()
        return self._system.records.libraries(self._scope.readable)

    def remove(self, name: str) -> int:
        """Forget a library and everything known of its files, which stay; returns how many chunks it had.

        Raises `NotFound`, and `InvalidInput` for the folder of the settings: it would be registered again at once.
        """
        library = self._own(name)
        if (library.scope, library.root) == self._system.default():
            raise InvalidInput(
                f"{library.root} is the folder of the settings, which is registered wherever it exists: move it away, "
                "or set BIEM_NOTES__ROOT to another, and remove the library then"
            )
        erased = self._system.records.remove_library(library)
        self._system.searcher.changed()
        self._system.purged(erased)
        return len(erased.chunks)

    def sync(
        self,
        name: str | None = None,
        *,
        full: bool = False,
        accept_deletions: bool = False,
        wait: bool = True,
        on_progress: Callable[[str, int, int], None] | None = None,
    ) -> SyncReport:
        """Read what changed in the files of one library of this scope, or of all, and index it.

        `full` reads every file, also those that look unchanged. Where more than half of twenty or more files are
        missing, nothing is deleted unless `accept_deletions`. With `wait` it returns when everything is indexed;
        notes are found by their words before. `on_progress` is called with "read" or "index", done and all. An
        interrupted sync goes on where it stopped. Raises `NotFound` and `StoreUnavailable`.
        """
        system = self._system
        system.adopt()
        libraries = [self._own(name)] if name is not None else system.records.libraries([self._scope])
        reports = []
        for library in libraries:
            report = system.scan(
                library,
                full=bool(full),
                accept_deletions=accept_deletions,
                on_progress=None if on_progress is None else lambda done, every: on_progress("read", done, every),
            )
            reports.append(report)
        system.searcher.changed()
        system.queue.wake()
        every = 0

        def tell(left: int) -> None:
            nonlocal every
            every = max(every, left)
            if on_progress:
                on_progress("index", every - left, every)

        pending = system.index_all(self._scope, tell) if wait else system.records.backlog([self._scope])
        return SyncReport(tuple(reports), pending)

    def watch(self, stopped: threading.Event, on_scan: Callable[[ScanReport], None] | None = None) -> None:
        """Keep the libraries of this scope up to date until `stopped` is set: scan at once, then after each change.

        Every `BIEM_SLEEP__NOTES_S` seconds all are scanned, in case an event was missed or a folder cannot be watched.
        Another
        process may watch the same library; then this one takes over when that one ends.
        """
        self._system.watch_until(stopped, self._scope, on_scan)

    def stats(self) -> list[LibraryStats]:
        """Counts of each library of this scope, the first files that are not searched, with the reason, and what to do
        where it is not up to date.
        """
        system = self._system
        found = [system.records.stats(library) for library in system.records.libraries([self._scope])]
        return [replace(each, advice=system.advice(each)) for each in found]

    # -- reading ----------------------------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        *,
        top_k: int | None = None,
        library: str | None = None,
        tags: Sequence[str] = (),
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> NoteHits:
        """The best chunks of notes for a query, best first; of the first five at most three are of one note.

        `library`: only this one. All `tags` must match; `since` ≤ the document's own date < `until`. Raises
        `InvalidInput`, `NotFound` and `StoreUnavailable`.
        """
        require_string(query, "the query")
        if not query.strip():
            raise InvalidInput("the query is empty; ask for something")
        limit = self._system.ranking.top_k if top_k is None else top_k
        require_count(limit, "top_k", _MOST_HITS)
        require_names(tags, "tags")
        now = self._system.clock.now()
        since = None if since is None else require_time(since, "since", now, _FAR_FUTURE_DAYS)
        until = None if until is None else require_time(until, "until", now, _FAR_FUTURE_DAYS)
        libraries = () if library is None else (self._named(library).id,)  # unknown: an error, though nothing is known
        if not self._system.searcher.is_used(self._scope):
            return NoteHits()
        return self._system.searcher.search(
            self._scope, query, top_k=limit, libraries=libraries, tags=tags, since=since, until=until
        )

    def get(self, path: str) -> NotePage:
        """The note of this path, or whose path ends in it, with its chunks.

        Raises `NotFound`, and `InvalidInput` if several paths end so.
        """
        require_string(path, "the path")
        records = self._system.records
        found = records.notes_at(self._scope.readable, path.strip("/"))
        if not found:
            raise NotFound(f"no note {path!r} in {self._scope}; `biem notes stats` lists the libraries")
        exact = [note for note in found if note.path == path.strip("/")] or found
        if len(exact) > 1:
            named = ", ".join(f"{note.library}: {note.path}" for note in exact[:5])
            raise InvalidInput(f"several notes end in {path!r} ({named}); give more of the path")
        passages = records.chunks_of(self._scope.readable, exact[0].id)
        return NotePage(exact[0], tuple(stored.chunk for stored in passages))

    def expand(
        self,
        hit: NoteHit | str,
        relation: Relation,
        *,
        query: str = "",
        budget_tokens: int = _BUDGET,
        top_k: int = 3,
    ) -> list[NotePassage]:
        """More of the note of a hit: its "siblings", the "parent" (the overview above it) or its "children".

        `hit`: it, or the id of its chunk. Nearest to `query` first, or to the hit itself; whole chunks only, within the
        budget. Raises `InvalidInput` and, for an id that no chunk has any more, `NotFound`.
        """
        if relation not in RELATIONS:
            raise InvalidInput(f"relation {relation!r} is unknown; choose one of {', '.join(RELATIONS)}")
        require_count(top_k, "top_k", _MOST_HITS)
        require_string(query, "the query")
        system, scopes = self._system, self._scope.readable
        with system.telemetry.span("biem.notes.related_chunks", relation=relation):
            own, note = (hit.chunk, hit.note) if isinstance(hit, NoteHit) else self._passage(hit)
            chunks = [stored.chunk for stored in system.records.chunks_of(scopes, note.id)]
            found = related(own, chunks, relation)
            pool = system.records.pool(scopes, [own.id, *(chunk.id for chunk in found)]) if found else []
            kept = system.records.load_vectors([each.sha for each in pool]) if pool else {}
            vectors = {each.id: kept[each.sha] for each in pool if each.sha in kept}
            question = system.embedder.embed([query], "query")[0] if query else vectors.get(own.id)
            return fitting(found, vectors, question, budget_tokens=budget_tokens, top_k=top_k)

    def _passage(self, chunk_id: str) -> tuple[NotePassage, Note]:
        require_string(chunk_id, "the hit")
        try:
            UUID(chunk_id)
            found = self._system.records.passages(self._scope.readable, [chunk_id])[chunk_id]
        except (KeyError, ValueError):
            raise NotFound(f"no note has the chunk {chunk_id!r:.60} now; search again") from None
        return found.chunk, found.note

    def lint(self, target: str | PathLike[str] | None = None) -> list[NoteFinding]:
        """What makes notes hard to find or to understand, by path and line; empty for good ones.

        `target`: a library, a folder or a file; by default every library of this scope on this machine. Files are read
        as they are now, whether indexed or not. Raises `InvalidInput` for anything else.
        """
        system = self._system
        named = [each for each in system.records.libraries([self._scope]) if target is None or each.name == target]
        if target is None or named:
            here = [each for each in named if each.host in (ANY_HOST, system.host)]
            if target is not None and not here:
                raise InvalidInput(f"the folder of library {target!r} is on {named[0].host}: run it there")
            return [finding for each in here for finding in system.lint(each.root, exclude=each.exclude)]
        path = _found(require_path(target, "the target"))
        if path is not None and path.is_file():
            return system.lint(str(path.parent), only=path.name)
        if path is not None and path.is_dir():
            return system.lint(str(path))
        raise InvalidInput(f"{fspath(target)!r} is no library, folder or file")

    # -- tags -------------------------------------------------------------------------------------------------------

    def tags(self, prefix: str = "", limit: int = 100) -> list[TagInfo]:
        """Tags of this scope whose name begins with `prefix`, those of most chunks first."""
        require_string(prefix, "the prefix")
        require_count(limit, "limit", _MOST_TAGS)
        return self._system.records.tag_list(self._scope, identity(prefix), limit)

    def rename_tag(self, old: str, new: str | None = None, *, undo: bool = False) -> None:
        """From now on the tag `old` counts as `new`, also where a file says `old` later; `undo` ends that.

        No content is embedded again, only the new tag. Raises `NotFound` and `InvalidInput`.
        """
        require_string(old, "the tag")
        if undo:
            if not self._system.records.restore_tag(self._scope, identity(old)):
                raise InvalidInput(f"the tag {old!r} stands for itself; there is nothing to undo")
            return
        require_string(new, "the new tag")
        assert new is not None
        shown = new.strip()
        if not shown or is_idle(shown) or identity(shown) == identity(old):
            raise InvalidInput(f"{new!r} is no other tag than {old!r}, or says nothing; choose another")
        self._system.records.rename_tag(self._scope, identity(old), TagName(identity(shown), shown))
        self._system.searcher.changed()
        self._system.encoder.tags()

    # -- what notes say of facts ------------------------------------------------------------------------------------

    def verdicts(self, *, status: NoteVerdictStatus | None = "open", limit: int = 100) -> list[NoteVerdict]:
        """Facts of this scope that a sentence of a note contradicts or confirms, surest first; status None: all.

        A background job compares facts with notes by rules: what it finds is a hint, and changes no memory. A recalled
        memory that a note contradicts says so.
        """
        require_count(limit, "limit", _MOST_TAGS)
        if status not in (None, *STATUSES):
            raise InvalidInput(f"status {status!r} is unknown; choose one of {', '.join(STATUSES)}")
        return list(self._system.facts().list(self._scope, status=status, limit=limit))

    def decide(self, verdict_id: str, believed: str) -> NoteVerdict:
        """Believe the "note", which archives the memory (`Memory.restore` takes that back), or the "memory".

        Returns the verdict as it was. Raises `NotFound` and `InvalidInput`.
        """
        decided = self._system.facts().decide(self._scope, verdict_id, believed)
        self._system.searcher.changed()
        return decided

    # -- erasing ----------------------------------------------------------------------------------------------------

    def erase(self, path: str) -> Receipt:
        """Destroy the records of one note of this scope; its path is excluded, so that no scan brings it back.

        The file stays. Returns the receipt, which lists every store and the file. Raises `NotFound`.
        """
        require_string(path, "the path")
        system = self._system
        found = [
            note for note in system.records.notes_at([self._scope], path.strip("/")) if note.path == path.strip("/")
        ]
        if not found:
            raise NotFound(f"no note has the path {path!r} in {self._scope}; give the whole path within its library")
        counts: list[StoreCount] = []
        for note in found:
            library = self._own(note.library)
            pattern = "/" + "".join(f"\\{c}" if c in _SPECIAL else c for c in note.path)
            system.records.exclude(library, pattern)
            erased = system.records.erase_note(library, note.path)
            left = system.records.pool([self._scope], erased.chunks)
            counts += [StoreCount("postgres.note_chunks", len(erased.chunks), len(left)), system.purged(erased)]
        receipt = Receipt(
            id=new_id(),
            target=found[0].id,
            erased_at=system.clock.now(),
            memories=0,
            stores=tuple(counts),
            kept_files=tuple(f"{note.root}/{note.path}" for note in found),
        )
        shown = {
            "id": receipt.id,
            "target": receipt.target,
            "erased_at": receipt.erased_at.isoformat(),
            "memories": 0,
            "stores": [{"store": each.store, "before": each.before, "after": each.after} for each in counts],
        }
        system.save_receipt(self._scope, shown)
        return receipt

    def _own(self, name: str) -> Library:
        """A library of exactly this scope."""
        return self._one_of(self._system.records.libraries([self._scope]), name)

    def _named(self, name: str) -> Library:
        """A library that this scope may read, its own first."""
        return self._one_of(sorted(self.libraries(), key=lambda each: each.scope != self._scope), name)

    def _one_of(self, libraries: Sequence[Library], name: str) -> Library:
        """The first library of this name. Raises `NotFound`, which names those that there are."""
        require_string(name, "the name of a library")
        for library in libraries:
            if library.name == name:
                return library
        raise NotFound(unknown_library(name, self._scope, [each.name for each in libraries]))


def _found(path: str) -> Path | None:
    """The file or folder of this path, which may begin with a `~`; None if there is none."""
    try:
        found = Path(path).expanduser()
        found.stat()
    except (OSError, RuntimeError):  # also a name that is too long, the folder of a user who does not exist
        return None
    return found
