"""Storing texts: one, many, or the files of other systems."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from os import PathLike
from typing import TYPE_CHECKING, Any

from biem.domain.text import require_path
from biem.engine.remember.await_indexed import await_indexed
from biem.engine.remember.importing import ImportReport, RecordImport
from biem.memory.bound import BoundMemory

if TYPE_CHECKING:
    from biem.domain.observing.unit import Unit


class WriteMethods(BoundMemory):
    """`remember`, `remember_many`, `observe` and `import_file`."""

    def remember(
        self,
        text: str,
        *,
        kind: str | None = None,
        tags: Sequence[str] = (),
        reason: str = "",
        importance: float = 3.0,
        source: str = "",
        speaker: str = "",
        conversation: str = "",
        at: datetime | None = None,
        ref: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        layer: str = "short_term",
        origin: str | None = None,
        trust: str | None = None,
        expires_at: datetime | None = None,
        ttl: timedelta | None = None,
        on_expiry: str = "archive",
        wait: bool = False,
    ) -> str:
        """Store a text; returns the memory's id once it is durable, usually within a millisecond or two.

        From then on `recall` finds it, by its words at once and by meaning when a worker has indexed it (`wait=True`
        waits for that; `NotIndexed` tells why it did not happen within a minute).

        `kind`: knowledge, skill, emotion, task, event; by default a text with a speaker, conversation or chat source is
        an `event` (a message), any other is `knowledge` (a fact). A fact repeated in one scope is the same memory;
        messages never are, unless they have the same `ref`, your own id. `importance`: 1–5. `at`: when it was said,
        default now. `layer`: core, session, short_term, long_term.

        `origin`: where the text comes from: user, assistant, tool, web, file, import, system or a name of your own;
        default `user`, or `assistant` for that `source`. `trust`: trusted, normal or untrusted; default by origin
        (`BIEM_WRITE__TRUST_BY_ORIGIN`). From `expires_at`, or when `ttl` has passed, the memory is hidden, and then
        archived or, with `on_expiry="erase"`, destroyed.

        Raises `InvalidInput`, `RefConflict` and `StoreUnavailable`; after the last the text may be stored or not: with
        a `ref`, repeating the call cannot store it twice.
        """
        memory_id = self._system.writer.remember(
            self.bound_to,
            text,
            kind=kind,
            tags=tags,
            reason=reason,
            importance=importance,
            source=source,
            speaker=speaker,
            conversation=conversation,
            at=at,
            ref=ref,
            metadata=metadata,
            layer=layer,
            origin=origin,
            trust=trust,
            expires_at=expires_at,
            ttl=ttl,
            on_expiry=on_expiry,
        )
        self._shared.wrote.set()
        if wait:
            await_indexed(self._system.records, [memory_id], self._shared.closed)
        return memory_id

    def remember_many(
        self,
        items: Iterable[Mapping[str, Any]],
        *,
        wait: bool = False,
        on_progress: Callable[[int], None] | None = None,
    ) -> list[str]:
        """Store many texts, each a mapping of `remember`'s arguments; returns their ids in order.

        Several hundred are written per transaction; `on_progress` is called with the number stored so far. An invalid
        item raises `InvalidInput` with its position; items stored before it stay. `wait` raises `NotIndexed` when none
        of them was indexed for a minute.
        """
        ids = self._system.writer.remember_many(self.bound_to, items, on_progress)
        self._shared.wrote.set()
        if wait:
            await_indexed(self._system.records, ids, self._shared.closed)
        return ids

    def observe(self, text: str, *, store: bool = False, model: bool = False) -> tuple["Unit", ...]:
        """What a message of the user states for later, recognised by rules: habits, orders, decisions, tasks, facts.

        Small talk, questions, quotations and statements about others give nothing. With `store` each unit becomes a
        memory: the user's habits, orders and general knowledge at the user's own level, all else in this scope;
        repeating that stores nothing twice. With `model` the language model, if one is configured, may propose
        statements in addition, never for the layer core; that takes as long as it answers. Pass the user's own words
        only. Raises `InvalidInput`.
        """
        observer = self._system.layers().observer
        units = observer.observe(self.bound_to, text, model=model)
        if not store or not units:
            return units
        stored = observer.store(self.bound_to, units)
        self._shared.wrote.set()
        return stored

    def import_file(
        self,
        path: str | PathLike[str] | Sequence[str],
        *,
        format: str | None = None,  # noqa: A002  the word of the command line, too
        dry_run: bool = False,
        per_conversation: bool = False,
        skip_bad: bool = False,
        on_progress: Callable[[ImportReport], None] | None = None,
    ) -> ImportReport:
        """Store what files of other systems hold: transcripts, ChatGPT, Claude, Claude Code, mem0, Markdown, MCP.

        `path`: a file, an archive or a folder, or several. The format is recognised by content, or named. Original
        times are kept, and an import that was interrupted can be repeated: nothing is stored twice. `dry_run` stores
        nothing and counts what would be stored. `per_conversation` gives each conversation its own project. Without
        `skip_bad` the first line that cannot be read raises `InvalidInput`, and what precedes it is stored.
        `on_progress` gets the report, which goes on changing, after each batch.
        """
        from biem.importers.source import ImportSource  # noqa: PLC0415  a recall loads no parsers

        writer = self._system.writer
        given = path if isinstance(path, Sequence) and not isinstance(path, str) else [path]
        sources = [require_path(one, "path") for one in given]
        run = RecordImport(
            lambda scope, items: writer.remember_many(scope, items, None),
            writer.draft,
            self._system.records,
            self.bound_to,
            max_text_bytes=self._system.policies.write.max_text_bytes,
            per_conversation=per_conversation,
            skip_bad=skip_bad,
            dry_run=dry_run,
            on_progress=on_progress,
        )
        try:
            return run.run(ImportSource(sources, format, per_conversation))
        finally:
            self._shared.wrote.set()
