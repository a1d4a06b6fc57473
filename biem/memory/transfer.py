"""Export, import and moves between scopes."""

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Unpack

from biem.domain.scope import Scope
from biem.domain.transfer import ExportReport, MoveReport, TransferReport
from biem.engine.query.request import Conditions, conditions
from biem.errors import InvalidInput
from biem.memory.bound import BoundMemory
from biem.ports import Filter


class TransferMethods(BoundMemory):
    """`export`, `import_` and `move`."""

    def export(
        self,
        out: str | Path | BinaryIO,
        format: str = "jsonl",  # noqa: A002 - the word of the command line
        *,
        overwrite: bool = False,
        on_progress: Callable[[int], None] | None = None,
        **where: Unpack[Conditions],
    ) -> ExportReport:
        """Write this scope to a file, or into a stream of bytes, as of one instant.

        `jsonl` holds all that cannot be computed again (docs/export.md) and is taken back by `import_`; `markdown` is a
        folder to be read. With conditions (those of `recall` but `as_of`), only the memories that meet them and what
        joins these.
        A file appears when it is complete, with mode 600; an existing one is replaced with `overwrite` only.
        `on_progress` is called with the number of lines.
        """
        system = self._system
        met = _met(system.clock.now(), where)
        exporter = system.transfer.exporter
        return exporter.export(self.bound_to, out, format, met, overwrite=overwrite, on_progress=on_progress)

    def import_(
        self,
        source: str | Path | BinaryIO,
        *,
        on_conflict: str = "error",
        dry_run: bool = False,
        on_progress: Callable[[int], None] | None = None,
    ) -> TransferReport:
        """Take back a file that `export` wrote, also memories erased since; memories that are there stay as they are.

        Repeated, after an interruption at any moment or in full, it stores nothing twice. In another scope than the
        file's, the memories get ids of their own, the same each time. A memory with the id or `ref` of a different one
        raises `ImportConflict`, or is left out with `on_conflict="skip"`. `InvalidInput` names the line; what stood
        before it stays. `dry_run` checks all of the file and stores nothing.
        """
        report = self._system.transfer.importer.take(
            self.bound_to, source, on_conflict=on_conflict, dry_run=dry_run, on_progress=on_progress
        )
        self._shared.wrote.set()
        return report

    def move(
        self,
        to: Scope,
        *,
        ids: Sequence[str] | None = None,
        every: bool = False,
        on_progress: Callable[[int, int], None] | None = None,
        **where: Unpack[Conditions],
    ) -> MoveReport:
        """Move memories of this scope to another one of the tenant: by `ids`, by conditions (those of `recall` but
        `as_of`), or `every` one. They keep their ids and times.

        At no instant is a memory in both scopes or in none. Up to a thousand move in one transaction; more in slices,
        of which `on_progress` hears how many moved and of how many. After an interruption the same call goes on: links
        between slices are made as soon as both ends are there. What a memory was merged from or into goes
        along, and so do revisions, notes, and the links, conflicts and facts of moved memories only; what joined them
        with others is removed and counted in `MoveReport.cut`. Found by words at once, by meaning when indexed again.
        Raises `NotFound` for an unknown id and `RefConflict` for a `ref` that the target has.
        """
        if (ids is not None, every, bool(where)).count(True) != 1:
            raise InvalidInput("say what to move: ids, conditions, or every=True")
        system = self._system
        met = _met(system.clock.now(), where)
        report = system.transfer.mover.move(self.bound_to, to, ids, met, on_progress)
        self._shared.wrote.set()
        return report


def _met(now: datetime, where: Conditions) -> Filter | None:
    """The conditions given, None without any; `as_of` is for reading: what is taken along has all its revisions."""
    if where.get("as_of") is not None:
        raise InvalidInput("as_of chooses what is read; a memory is taken along with all its revisions: leave it out")
    return conditions(now, **where) if where else None
