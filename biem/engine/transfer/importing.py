"""Takes back a file that `Exporter` wrote. It may be cut off, changed by hand, or hostile: nothing in it is
believed.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from biem.domain.policies.writing import WritePolicy
from biem.domain.scope import Scope
from biem.domain.text import counted
from biem.domain.transfer import ON_CONFLICT, Row, TransferReport
from biem.engine.remember.writer import Writer
from biem.engine.transfer.files import json_lines, opened
from biem.engine.transfer.lines import Line, Lines, header
from biem.errors import ImportConflict, InvalidInput
from biem.ports import Analyzer, JobQueue
from biem.ports.transfer import Imports, Present
from biem.telemetry import Telemetry

Progress = Callable[[int], None]
_BATCH, _BATCH_BYTES = 500, 4 * 2**20
_MOST_TOLD = 100
_CUT_AT_ONCE = 1_000


class Importer:
    """Adds the lines of a file to a scope, several hundred a transaction. Repeated, it adds nothing twice."""

    def __init__(
        self,
        imports: Imports,
        *,
        writer: Writer,
        analyzer: Analyzer,
        queue: JobQueue,
        policy: WritePolicy,
        telemetry: Telemetry,
    ) -> None:
        self._imports = imports
        self._writer = writer
        self._analyzer = analyzer
        self._queue = queue
        self._policy = policy
        self._telemetry = telemetry

    def take(
        self,
        scope: Scope,
        source: str | Path | BinaryIO,
        *,
        on_conflict: str,
        dry_run: bool,
        on_progress: Progress | None,
    ) -> TransferReport:
        """Read a file to its end. `InvalidInput` names the line; what stood before it may be stored, and stays."""
        if on_conflict not in ON_CONFLICT:
            raise InvalidInput(f"on_conflict {on_conflict!r} is unknown; choose one of {', '.join(ON_CONFLICT)}")
        with self._telemetry.span("biem.import") as span, opened(source) as file:
            run = _Run(self._imports, scope, on_conflict == "skip", dry_run, on_progress)
            try:
                self._read(run, file)
            except ImportConflict:  # tells its line
                raise
            except InvalidInput as error:
                run.store()
                raise InvalidInput(f"{error}; {run.told()}") from None
            finally:
                if run.counts.created and not dry_run:
                    self._queue.wake()
            span.add(lines=sum(run.lines.values()), created=run.counts.created)
        return replace(run.counts, lines=dict(run.lines), equal_facts=tuple(run.equal), dry_run=dry_run)

    def _read(self, run: "_Run", file: BinaryIO) -> None:
        lines: Lines | None = None
        ended = False
        for place, fields, size in json_lines(file):
            try:
                if ended:
                    raise InvalidInput("there is more after the last line")
                if lines is None:
                    options = {"writer": self._writer, "analyzer": self._analyzer, "policy": self._policy}
                    lines = Lines(run.scope, header(fields), **options)  # type: ignore[arg-type]
                elif isinstance(fields, dict) and fields.get("type") == "end":
                    run.finish(fields)
                    ended = True
                elif isinstance(fields, dict):
                    run.add(lines.read(place, fields), size)
                else:
                    raise InvalidInput("not an object")
            except ImportConflict:
                raise
            except InvalidInput as error:
                raise InvalidInput(f"line {place}: {error}") from None
        if not ended:
            raise InvalidInput("the file ends before its last line: get the whole file and import it again")


@dataclass
class _Run:
    """One import: the lines of one type that wait to be stored, and what became of those before."""

    imports: Imports
    scope: Scope
    skip: bool
    dry_run: bool
    on_progress: Progress | None
    counts: TransferReport = field(default_factory=lambda: TransferReport(0, 0, 0, 0, (), {}))
    lines: Counter[str] = field(default_factory=Counter)
    equal: list[tuple[str, str]] = field(default_factory=list)
    _waiting: list[Line] = field(default_factory=list)
    _bytes: int = 0
    _stored: int = 0
    _skipped: set[str] = field(default_factory=set)
    _awaited: set[str] = field(default_factory=set)
    """Successors that did not come yet."""

    def add(self, line: Line, size: int) -> None:
        """Store what waits when it is enough or of another type."""
        if self._waiting and (
            line.section != self._waiting[0].section or len(self._waiting) == _BATCH or self._bytes > _BATCH_BYTES
        ):
            self.store()
        self._waiting.append(line)
        self._bytes += size

    def finish(self, fields: Mapping[str, Any]) -> None:
        """The last line: all of the file has come."""
        self.store()
        if fields.get("lines") != dict(self.lines):
            raise InvalidInput("the number of lines is not that of the last line: some are missing or were added")
        for start in range(0, len(self._awaited) * (not self.dry_run), _CUT_AT_ONCE):
            self.imports.cut(self.scope, sorted(self._awaited)[start : start + _CUT_AT_ONCE])

    def told(self) -> str:
        """How far it came."""
        return f"{counted(self._stored, 'line before is', 'lines before are')} {'valid' if self.dry_run else 'stored'}"

    def store(self) -> None:
        """Store what waits."""
        waiting, self._waiting, self._bytes = self._waiting, [], 0
        if not waiting:
            return
        if waiting[0].section == "memory":
            self._store_memories(waiting)
        else:
            self._store_others(waiting)
        self._stored += len(waiting)
        self.lines[waiting[0].section] += len(waiting)
        if self.on_progress:
            self.on_progress(self._stored)

    def _store_memories(self, waiting: list[Line]) -> None:
        fresh = self._fresh(waiting)
        created = len(fresh)
        for line in waiting:
            self._awaited.discard(line.row["id"])
        self._awaited |= {row["superseded_by"] for row in fresh if row["superseded_by"]} - {row["id"] for row in fresh}
        if fresh and not self.dry_run:
            added = self.imports.add_memories(self.scope, fresh)
            for line in waiting:
                if line.row["id"] in added.circles:
                    raise ImportConflict(f"line {line.number}: its successors lead back to it; {self.told()}")
            created = len(added.created)
        skipped = sum(line.row["id"] in self._skipped for line in waiting)
        self.counts = replace(
            self.counts,
            memories=self.counts.memories + len(waiting),
            created=self.counts.created + created,
            skipped=self.counts.skipped + skipped,
            already_there=self.counts.already_there + len(waiting) - created - skipped,
        )

    def _fresh(self, waiting: list[Line]) -> list[Row]:
        """The memories that are not there; raises for one that differs from what is there, or leaves it out."""
        rows = [line.row for line in waiting]
        facts = [row["fact_key"] for row in rows if row["fact_key"]]
        there = self.imports.present(
            self.scope, [row["id"] for row in rows], [row["ref"] for row in rows if row["ref"]], facts
        )
        by_id = {each.id: each for each in there}
        by_ref = {each.ref: each for each in there if each.here and each.ref is not None}
        by_fact = {each.fact_key: each.id for each in there if each.here and each.fact_key is not None}
        fresh: list[Row] = []
        for line in waiting:
            row = line.row
            same = by_id.get(row["id"]) or by_ref.get(row["ref"])
            if same is not None:
                self._compare(line, same)
                continue
            if row["fact_key"] and row["superseded_by"] is None:
                if row["fact_key"] in by_fact:
                    self.equal += [(row["id"], by_fact[row["fact_key"]])][: _MOST_TOLD - len(self.equal)]
                    row["fact_key"] = None
                else:
                    by_fact[row["fact_key"]] = row["id"]
            fresh.append(row)
            by_id[row["id"]] = _as_present(row)
            by_ref |= {row["ref"]: by_id[row["id"]]} if row["ref"] else {}
        return fresh

    def _compare(self, line: Line, there: Present) -> None:
        mine = _as_present(line.row)
        if there.here and replace(there, ref=mine.ref, fact_key=mine.fact_key) == mine:
            return
        if self.skip:
            self._skipped.add(line.row["id"])
            return
        if not there.here:
            what = f"the id {there.id} belongs to a memory of another scope"
        elif there.id != mine.id:
            what = f"the ref {mine.ref!r} already names memory {there.id}"
        else:
            what = f"memory {there.id} is there with another text, time or speaker"
        raise ImportConflict(
            f"line {line.number}: {what}; {self.told()}; leave such memories out with on_conflict=skip"
        )

    def _store_others(self, waiting: list[Line]) -> None:
        kept = [line for line in waiting if self._skipped.isdisjoint(line.memories)]
        if kept and kept[0].section == "item" and not self.skip:
            self._require_same_items(kept)
        if not kept or self.dry_run:
            return
        ids = sorted({each for line in kept for each in line.memories})
        missing = set(self.imports.add(self.scope, kept[0].section, [line.row for line in kept], ids))
        for line in kept:
            if not missing.isdisjoint(line.memories):
                gone = sorted(missing.intersection(line.memories))[0]
                raise ImportConflict(
                    f"line {line.number}: {gone} is no memory of the file or the scope, or was destroyed a moment ago: "
                    f"then import the file again; {self.told()}"
                )

    def _require_same_items(self, waiting: list[Line]) -> None:
        """Raise for an item whose key has another value in the scope; `skip` leaves that one as it is."""
        others = set(self.imports.other_items(self.scope, [line.row for line in waiting]))
        for line in waiting:
            if (tuple(line.row["namespace"]), line.row["key"]) in others:
                raise ImportConflict(
                    f"line {line.number}: the item {line.row['key']!r:.60} is there with another value; {self.told()}; "
                    "leave such items as they are with on_conflict=skip"
                )


def _as_present(row: Row) -> Present:
    return Present(
        id=row["id"],
        here=True,
        sha=row["evidence_sha"],
        kind=row["kind"],
        at=datetime.fromisoformat(row["at"]),
        created_at=datetime.fromisoformat(row["created_at"]),
        speaker=row["speaker"],
        conversation=row["conversation"],
        revision=row["revision"],
        ref=row["ref"],
        fact_key=row["fact_key"],
    )
