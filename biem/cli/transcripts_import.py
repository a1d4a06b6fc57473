"""`biem import`: imports chat transcripts; idempotent, and resumable after a crash.

Imported messages are recognised by their refs in the database: there is no state file.
"""

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from biem.cli.output import Interrupted, Output, Ticker
from biem.cli.session import NO_WORKER, of
from biem.cli.transcripts import BadLine, TranscriptMessage, TranscriptReader
from biem.domain.node import ID_TIME, new_id
from biem.errors import InvalidInput

if TYPE_CHECKING:
    from biem.memory import Memory

_BATCH = 500
_LISTED = 10
"""Bad lines named in the summary."""


@dataclass(slots=True)
class Import:
    """One run: counts of stored messages and of bad lines."""

    memory: "Memory"
    per_conversation: bool
    skip_bad: bool
    stored: int = 0
    created: int = 0
    bad: int = 0
    first_bad: list[BadLine] = field(default_factory=list)
    conversations: set[str] = field(default_factory=set)
    _started: str = field(default_factory=lambda: new_id()[:ID_TIME])

    def file(self, source: str, ticker: Ticker, before: int) -> int:
        """Store one file in batches; returns its size. `before` bytes belong to earlier files."""
        reader = TranscriptReader(source, self.per_conversation)
        batch: list[TranscriptMessage] = []
        for message in reader.read():
            if isinstance(message, BadLine):
                self._store(batch, source)
                batch = []
                self._refuse(message)
            elif batch and (len(batch) == _BATCH or self._apart(batch[0], message)):
                self._store(batch, source)
                batch = [message]
            else:
                batch.append(message)
            ticker.update(before + reader.bytes_read, self.stored)
        self._store(batch, source)
        ticker.update(before + reader.size, self.stored)
        return reader.size

    def scope_of(self, conversation: str) -> "Memory":
        """The memory that stores a conversation."""
        return self.memory.scope(project=conversation or None) if self.per_conversation else self.memory

    def wait(self, ticker: Ticker, timeout_s: float) -> bool:
        """Wait until everything of this run is indexed; false if `timeout_s` was not enough."""
        deadline = time.monotonic() + timeout_s

        def progress(pending: int) -> None:
            ticker.total = max(ticker.total or 0, pending)
            ticker.update(ticker.total - pending, int(ticker.total) - pending)

        memories = (
            [self.scope_of(name) for name in sorted(self.conversations)] if self.per_conversation else [self.memory]
        )
        return all(memory.flush(max(0.0, deadline - time.monotonic()), progress) for memory in memories)

    def _apart(self, one: TranscriptMessage, other: TranscriptMessage) -> bool:
        """Whether two messages need separate batches."""
        return self.per_conversation and one.conversation != other.conversation

    def _store(self, batch: list[TranscriptMessage], source: str) -> None:
        """Write a batch; if a message in it is refused, halve it until the message is found."""
        if not batch:
            return
        try:
            memory = self.scope_of(batch[0].conversation)
            if len(batch) == 1:
                ids = [memory.remember(**batch[0].item)]
            else:
                ids = memory.remember_many(message.item for message in batch)
        except InvalidInput as error:
            if len(batch) == 1:
                self._refuse(BadLine(source, batch[0].line, 1, str(error)), error)
                return
            half = len(batch) // 2
            self._store(batch[:half], source)
            self._store(batch[half:], source)
            return
        self.stored += len(ids)
        self.created += sum(memory_id[:ID_TIME] >= self._started for memory_id in ids)
        self.conversations.update(message.conversation for message in batch)

    def _refuse(self, line: BadLine, cause: InvalidInput | None = None) -> None:
        if not self.skip_bad:
            safe = f"{self.stored} earlier messages are stored"
            error = type(cause or InvalidInput(""))(
                f"{line}; {safe}; repair it, or leave bad lines out with --skip-bad"
            )
            raise error from cause
        self.bad += 1
        if self.bad <= _LISTED:
            self.first_bad.append(line)


def import_files(
    context: typer.Context,
    files: Annotated[list[str], typer.Argument(metavar="FILE…", help=".jsonl, .jsonl.gz, or - for stdin.")],
    scope_per_conversation: Annotated[
        bool, typer.Option("--scope-per-conversation", help="Each conversation becomes its own project.")
    ] = False,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Skip bad lines and exit with 2.")] = False,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until everything is indexed.")] = True,
    timeout_s: Annotated[float, typer.Option("--timeout-s", min=0, help="How long to wait for indexing.")] = 3600.0,
) -> None:
    """Import chat transcripts, one JSON object a line. Run it again at any time: nothing is written twice."""
    session = of(context)
    out = session.out
    total = sum(_size(name) for name in files)
    if not wait:
        session.changes |= NO_WORKER
    with session.memory() as memory:
        run = Import(memory, scope_per_conversation, skip_bad)
        try:
            with out.progress("stored", total or None) as ticker:
                before = 0
                for name in files:
                    before += run.file(name, ticker, before)
            with out.progress("indexed") as ticker:
                indexed = wait and run.wait(ticker, timeout_s)
            if wait and not indexed:
                out.note("not everything is indexed yet; it is stored and found by its words, and indexing goes on")
        except KeyboardInterrupt:
            raise Interrupted(
                f"at least {run.stored} messages are stored; the same command again goes on from there"
            ) from None
        finally:
            _list_bad(out, run)
    summary = {
        "files": len(files),
        "messages": run.stored,
        "created": run.created,
        "already_there": run.stored - run.created,
        "conversations": len(run.conversations),
        "bad": run.bad,
        "first_bad": run.first_bad,
        "indexed": indexed,
    }
    out.result(summary, lambda: out.line(_sentence(run, indexed=indexed, wait=wait)))
    if run.bad:
        raise typer.Exit(InvalidInput.exit_code)


def _size(name: str) -> int:
    """Size of a file in bytes, 0 if it is no file; opening it raises the error."""
    path = Path(name)
    return path.stat().st_size if path.is_file() else 0


def _list_bad(out: Output, run: Import) -> None:
    for line in run.first_bad:
        out.note(str(line))
    if run.bad > len(run.first_bad):
        out.note(f"and {run.bad - len(run.first_bad)} more bad lines")


def _sentence(run: Import, *, indexed: bool, wait: bool) -> str:
    parts = [f"{run.created} imported"]
    if there := run.stored - run.created:
        parts.append(f"{there} {'was' if there == 1 else 'were'} there already")
    if run.bad:
        parts.append(f"{run.bad} bad lines left out")
    parts.append("all indexed" if indexed else "indexing goes on" if wait else "not waiting for the index")
    return ", ".join(parts)
