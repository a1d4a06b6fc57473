"""Stores what the readers of other systems' files find: in batches, once each, with a report."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from biem.domain.scope import Scope
from biem.domain.text import counted, cut_bytes
from biem.errors import InvalidInput
from biem.importers.record import BadLine, Entry, LeftOut, Record
from biem.ports import Records

_BATCH = 500
_LISTED = 10
"""Bad lines named in the report."""
_ENDS = ("\n\n", "\n", ". ", "。", " ")
"""Where a text that is too long is cut, best first."""


@dataclass(slots=True, kw_only=True)
class ImportReport:
    """What an import did, or with `dry_run` would do: `read` = `stored` + `already_there` + refused ones in `bad`."""

    dry_run: bool = False
    files: int = 0
    read: int = 0
    """Memories that the files hold; a text that is too long is several."""
    stored: int = 0
    """Those that are new."""
    already_there: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    """Parts of the files that are not imported, by reason."""
    formats: dict[str, int] = field(default_factory=dict)
    """Memories by the format they were read from."""
    bad: int = 0
    """Lines that cannot be imported, with `skip_bad`."""
    first_bad: list[BadLine] = field(default_factory=list)
    conversations: set[str] = field(default_factory=set)
    size: int | None = None
    """Bytes of the files on the disk; None if unknown."""
    bytes_read: int = 0


class Source(Protocol):
    """Files being read."""

    size: int | None
    bytes_read: int
    files: int

    def entries(self) -> Iterator[Entry]:
        """What they hold, lazily."""


class RecordImport:
    """One import. Its memories are known by their refs in the database: there is no state file."""

    def __init__(
        self,
        remember: Callable[[Scope, Iterable[Mapping[str, Any]]], object],
        check: Callable[..., object],
        records: Records,
        scope: Scope,
        *,
        max_text_bytes: int,
        per_conversation: bool = False,
        skip_bad: bool = False,
        dry_run: bool = False,
        on_progress: Callable[[ImportReport], None] | None = None,
    ) -> None:
        """`remember(scope, items)` stores mappings of `Memory.remember`'s arguments in one transaction; `check` raises
        what it would raise for one of them, and stores nothing.
        """
        self._remember = remember
        self._check = check
        self._records = records
        self._scope = scope
        self._most = max_text_bytes
        self._per_conversation = per_conversation
        self._skip_bad = skip_bad
        self._on_progress = on_progress
        self._planned: set[str] = set()
        """Refs that a dry run would have stored."""
        self.report = ImportReport(dry_run=dry_run)

    def run(self, source: Source) -> ImportReport:
        """Store everything, in order. Memories stored before an error stay."""
        batch: list[Record] = []
        self.report.size = source.size
        self._progress()
        for entry in source.entries():
            self.report.bytes_read, self.report.files = source.bytes_read, source.files
            if isinstance(entry, LeftOut):
                self.report.skipped[entry.reason] = self.report.skipped.get(entry.reason, 0) + entry.count
            elif isinstance(entry, BadLine):
                batch = self._store(batch)
                self._refuse(entry)
            else:
                for record in self._parts(entry):
                    if batch and (len(batch) == _BATCH or self._apart(batch[0], record)):
                        batch = self._store(batch)
                    batch.append(record)
        self._store(batch)
        self.report.bytes_read, self.report.files = source.bytes_read, source.files
        return self.report

    def _apart(self, one: Record, other: Record) -> bool:
        """Whether two messages need separate batches."""
        return self._per_conversation and one.conversation != other.conversation

    def _parts(self, record: Record) -> list[Record]:
        """The record, or if its text is too long, its parts, each with its own ref."""
        if not record.divisible or len(record.text.encode()) <= self._most:
            return [record]
        return [
            replace(record, text=text, ref=f"{record.ref}#{number}", metadata={**record.metadata, "part": number})
            for number, text in enumerate(divided(record.text, self._most), start=1)
        ]

    def _store(self, batch: list[Record], known: set[str] | None = None) -> list[Record]:
        """Write a batch and return an empty one; if a record in it is refused, halve it until the record is found.

        `known` are the refs that were there before the batch.
        """
        if not batch:
            return []
        scope = self._scope_of(batch[0])
        refs = {record.ref for record in batch}
        if known is None:
            known = self._records.known_refs(scope, list(refs)) | (refs & self._planned)
        try:
            if self.report.dry_run:
                for record in batch:
                    self._check(**arguments(record))
                self._planned |= refs
            else:
                self._remember(scope, map(arguments, batch))
        except InvalidInput as error:
            if len(batch) == 1:
                self.report.read += 1
                self._refuse(
                    BadLine(batch[0].file, batch[0].line, min(batch[0].line, 1), _reason(batch[0], error)), error
                )
                return []
            half = len(batch) // 2
            self._store(batch[:half], known)
            return self._store(batch[half:], known | {record.ref for record in batch[:half]})
        self._count(batch, len(refs - known))
        return []

    def _count(self, batch: Sequence[Record], created: int) -> None:
        report = self.report
        report.read += len(batch)
        report.stored += created
        report.already_there += len(batch) - created
        for name, count in Counter(record.format for record in batch).items():
            report.formats[name] = report.formats.get(name, 0) + count
        report.conversations.update(record.conversation for record in batch)
        self._progress()

    def _progress(self) -> None:
        if self._on_progress:
            self._on_progress(self.report)

    def _scope_of(self, record: Record) -> Scope:
        if not self._per_conversation or not record.conversation:
            return self._scope
        return replace(self._scope, project=record.conversation)

    def _refuse(self, line: BadLine, cause: InvalidInput | None = None) -> None:
        if not self._skip_bad:
            before = self.report.stored + self.report.already_there
            verb = "would be" if self.report.dry_run else "is" if before == 1 else "are"
            told = f"{counted(before, 'earlier message')} {verb} stored"
            error = type(cause or InvalidInput(""))(
                f"{line}; {told}; repair it, or leave bad lines out with skip_bad=True"
            )
            raise error from cause
        self.report.bad += 1
        if self.report.bad <= _LISTED:
            self.report.first_bad.append(line)


def arguments(record: Record) -> dict[str, Any]:
    """The arguments of `Memory.remember`, with the origin of the record."""
    return {"origin": "import", "source": record.format} | record.item


def divided(text: str, most_bytes: int) -> Iterator[str]:
    """Pieces of a text, none larger, cut between paragraphs, lines, sentences or words where that is possible."""
    while text:
        piece = cut_bytes(text, most_bytes)
        if len(piece) < len(text):
            cuts = (place + len(end) for end in _ENDS if (place := piece.rfind(end, len(piece) // 2)) > 0)
            piece = piece[: next(cuts, len(piece))]
        if piece.strip():
            yield piece.strip()
        text = text[len(piece) :]


def _reason(record: Record, error: InvalidInput) -> str:
    """The reason without the position in a batch, which the caller does not know."""
    said = str(error).partition("item 0: ")[2].rpartition("; 0 items")[0] or str(error)
    return f"{record.place}: {said}" if record.place else said
