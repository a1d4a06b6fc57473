"""Builds notes: libraries of Markdown files, their scan, their index and their search.

What reads files is imported when a folder is read: most programs only ask.
"""

import platform
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from biem.adapters.jobs.thread import InProcessQueue, LateQueue, NoQueue
from biem.adapters.milvus.notes import MilvusNotes
from biem.adapters.postgres.database import Database
from biem.adapters.postgres.notes import PostgresNotes
from biem.bootstrap.groups import Ground, Life
from biem.bootstrap.servers import Servers, home_of
from biem.config import Settings
from biem.domain.diagnosis import Limits
from biem.domain.note import FileStat, NoteFinding, ParsedNote, SkippedNote, StoredChunks
from biem.domain.policies.notes import NotePolicy
from biem.domain.scope import Scope
from biem.engine.recall.rerank import BoundedReranker
from biem.lazy import lazy
from biem.notes.encode import NoteEncoder
from biem.notes.folder_watcher import F, FolderWatcher
from biem.notes.search.searcher import NoteSearcher
from biem.notes.sync import Scanner
from biem.notes.system import NoteSystem
from biem.ports import Analyzer, Clock, EmbedderInfo, JobQueue
from biem.ports.files import FileContent, Files, Walk
from biem.ports.jobs import Exclusive

if TYPE_CHECKING:
    from biem.engine.admin.diagnosis import NoteCheck
    from biem.notes.verdicts import FactCheck

_BYTES_PER_MB = 1 << 20
_POLL_S = 30.0
"""How often an idle process looks for notes whose lease has ended."""


def build_notes(ground: Ground, *, life: Life, stack: ExitStack) -> NoteSystem:
    """The notes of all scopes; connections close with `stack`."""
    stores, policies = ground.stores, ground.policies
    index = note_index(ground.settings, ground.where, ground.embedder.info)
    stack.callback(index.close)
    records = PostgresNotes(
        stores.database,
        clock=ground.clock,
        decay_per_hour=policies.energy.decay_per_hour,
        model=ground.embedder.info.id,
    )
    files, most_bytes = LateFiles(), int(policies.notes.max_file_mb * _BYTES_PER_MB)
    reader = LateReader(
        ground.analyzer, policies.note_cut, most_bytes=most_bytes, most_tokens=ground.embedder.info.max_tokens
    )
    searcher = build_note_searcher(ground, records=records, index=index)
    stack.callback(searcher.close)
    return NoteSystem(
        records=records,
        index=index,
        files=files,
        scanner=Scanner(
            records=records,
            index=index,
            files=files,
            parse=reader.parse,
            analyzer=ground.analyzer,
            exclusive=stores.exclusive,
            clock=ground.clock,
            policy=policies.notes,
            most_bytes=most_bytes,
            max_lexeme_bytes=policies.write.max_lexeme_bytes,
            telemetry=ground.telemetry,
            stored=searcher.changed,
            working=partial(ground.priority.working, unhurried=True),
            deferring=stores.database.deferring,
        ),
        encoder=build_note_encoder(ground, records=records, index=index),
        searcher=searcher,
        facts=build_fact_check(ground, life=life, records=records, index=index),
        queue=build_note_queue(ground),
        embedder=ground.embedder,
        clock=ground.clock,
        policy=policies.notes,
        ranking=policies.note_ranking,
        telemetry=ground.telemetry,
        host=platform.node(),
        default=default_library(ground.settings),
        parse=reader.parse,
        judge=reader.judge,
        most_bytes=most_bytes,
        save_receipt=stores.records.save_receipt,
        build_watcher=partial(build_watcher, stores.exclusive),
        scan_s=policies.sleep.periods()["notes"],
        watching=policies.notes.watch and ground.settings.queue == "thread",
    )


def build_fact_check(
    ground: Ground, *, life: Life, records: PostgresNotes, index: MilvusNotes
) -> "Callable[[], FactCheck]":
    """Compares facts with notes; built at the first call."""

    @cache
    def built() -> "FactCheck":
        from biem.adapters.postgres.notes.verdicts import PostgresNoteVerdicts
        from biem.engine.conflicts.passages import passages
        from biem.notes.verdicts import FactCheck

        decay, model = ground.policies.energy.decay_per_hour, ground.embedder.info.id
        return FactCheck(
            verdicts=PostgresNoteVerdicts(
                ground.stores.database, clock=ground.clock, decay_per_hour=decay, model=model
            ),
            records=records,
            index=index,
            rules=ground.rules,
            sentences=passages,
            embedder=ground.embedder,
            policy=ground.policies.note_verdicts,
            telemetry=ground.telemetry,
            praise=lambda scope, memory, turn: life.feedback.learn(scope, [memory], turn=turn),
            archive=life.lifecycle.archive,
        )

    return built


def build_watcher(
    exclusive: Exclusive,
    *,
    folders: Callable[[], Sequence[F]],
    scan: Callable[[F, frozenset[str]], float],
    alive: Callable[[F, bool], None],
    look_s: float,
    kind: str = "notes",
) -> FolderWatcher[F]:
    """Watches folders; what notices changes is imported here."""
    from biem.adapters.files.folder_events import SystemFolderEvents

    return FolderWatcher(
        kind=kind,
        events=SystemFolderEvents(),
        exclusive=exclusive,
        folders=folders,
        scan=scan,
        alive=alive,
        look_s=look_s,
    )


def build_note_encoder(ground: Ground, *, records: PostgresNotes, index: MilvusNotes) -> NoteEncoder:
    """Indexes pending notes, after memories."""
    return NoteEncoder(
        records=records,
        index=index,
        embedder=ground.embedder,
        memories_wait=ground.stores.records.encode_due,
        policy=ground.policies.notes,
        telemetry=ground.telemetry,
        working=partial(ground.priority.working, unhurried=True),
        give_way=ground.priority.give_way,
        deferring=ground.stores.database.deferring,
    )


def build_note_searcher(ground: Ground, *, records: PostgresNotes, index: MilvusNotes) -> NoteSearcher:
    """Answers queries from notes; under the profile `angel` by the formula of that design alone."""
    ranking, rerank = ground.policies.note_ranking, ground.policies.rerank
    reranker = None
    if ground.stores.reranker is not None:
        reranker = BoundedReranker(
            ground.stores.reranker, rerank, lambda texts: ground.telemetry.span("biem.notes.rerank", texts=texts)
        )
    return NoteSearcher(
        records=records,
        index=index,
        embedder=ground.embedder,
        analyzer=ground.analyzer,
        clock=ground.clock,
        policy=ranking.as_designed if ground.policies.recall.profile == "angel" else ranking,
        tag_weights=ground.policies.note_cut.tag_weights,
        rerank=None if reranker is None else reranker.scores,
        reranked=0 if reranker is None else rerank.top_n,
        telemetry=ground.telemetry,
        calling=ground.priority.calling,
    )


def build_note_queue(ground: Ground) -> JobQueue:
    """A separate thread, started when there are notes to index: a library must not delay messages."""
    if ground.settings.queue != "thread":
        return NoQueue()
    encode = ground.policies.encode
    return LateQueue(
        InProcessQueue(
            poll_s=_POLL_S,
            backoff_s=encode.backoff_s,
            backoff_max_s=encode.backoff_max_s,
            around=partial(ground.priority.working, unhurried=True),
            name="biem-notes",
        )
    )


def note_index(settings: Settings, where: Servers, info: EmbedderInfo) -> MilvusNotes:
    """The index of notes of one embedder; it connects when called."""
    return MilvusNotes(
        where.milvus_uri,
        token=where.milvus_token,
        ca=where.milvus_ca,
        prefix=settings.milvus_collection,
        info=info,
        index_type=settings.milvus_index,
        timeout_s=settings.policies.recall.search_timeout_s,
    )


def note_check(
    *,
    settings: Settings,
    where: Servers,
    info: EmbedderInfo,
    clock: Clock,
    database: Database,
    limits: Limits,
    stack: ExitStack,
) -> "NoteCheck":
    """Looks for faults of libraries and of the index of their notes."""
    from biem.engine.admin.diagnosis import NoteCheck

    index = note_index(settings, where, info)
    stack.callback(index.close)
    decay = settings.policies.energy.decay_per_hour
    return NoteCheck(
        PostgresNotes(database, clock=clock, decay_per_hour=decay, model=info.id),
        index,
        unreadable=lambda root: not Path(root).is_dir(),
        host=platform.node(),
        clock=clock,
        limits=limits,
    )


def default_library(settings: Settings) -> Callable[[], tuple[Scope, str] | None]:
    """Scope and folder of the library `raw`; None while the folder does not exist."""
    root = settings.notes.root
    folder = Path(root).expanduser() if root else home_of(settings) / "raw"
    scope = Scope(settings.tenant, settings.user, settings.project)
    return lambda: (scope, str(folder.resolve())) if folder.is_dir() else None


class LateFiles:
    """The port `Files` on folders of this machine."""

    @lazy
    def _files(self) -> Files:
        from biem.adapters.files.tree import FolderFiles

        return FolderFiles()

    def top(self, root: str) -> str:
        """See `Files.top`."""
        return self._files.top(root)

    def walk(self, root: str, exclude: Sequence[str] = (), *, obey: bool = True) -> Walk:
        """See `Files.walk`."""
        return self._files.walk(root, exclude, obey=obey)

    def stats(self, root: str, paths: Collection[str]) -> tuple[FileStat, ...]:
        """See `Files.stats`."""
        return self._files.stats(root, paths)

    def read(self, root: str, path: str, most: int) -> FileContent | SkippedNote | None:
        """See `Files.read`."""
        return self._files.read(root, path, most)


class LateReader:
    """Bytes of a file to a note, and its faults. Thread-safe where its analyzer is."""

    def __init__(self, analyzer: Analyzer, policy: NotePolicy, *, most_bytes: int, most_tokens: int) -> None:
        """`most_tokens`: what the embedder reads; no chunk is longer."""
        self._analyzer = analyzer
        tokens = max(32, min(policy.max_chunk_tokens, most_tokens))
        self._policy = replace(policy, max_file_bytes=most_bytes, max_chunk_tokens=tokens)

    def parse(self, content: FileContent, stored: StoredChunks | None = None) -> ParsedNote | SkippedNote:
        """The note of a file, or why there is none."""
        from biem.notes.reader import NoteReader

        return NoteReader(self._analyzer, self._policy).read(content.stat.path, content.data, stored)

    def judge(self, note: ParsedNote | SkippedNote) -> list[NoteFinding]:
        """What makes it hard to find or to understand."""
        from biem.notes.lint import lint

        return lint(note)
