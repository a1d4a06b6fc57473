"""A scope written to a file: all of it as JSON lines that can be taken back, or as Markdown to be read."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from biem.domain.scope import Scope
from biem.domain.transfer import FORMAT, FORMATS, VERSION, ExportReport
from biem.engine.transfer.files import path_of, whole_file, whole_folder
from biem.engine.transfer.markdown import MarkdownFolder
from biem.errors import InvalidInput
from biem.ports.index import Filter
from biem.ports.transfer import ScopeLines
from biem.telemetry import Telemetry

Progress = Callable[[int], None]
_TOLD_EVERY = 500


class Exporter:
    """Writes what a scope holds at one instant, with bounded memory."""

    def __init__(self, scope_lines: ScopeLines, telemetry: Telemetry) -> None:
        self._scope_lines = scope_lines
        self._telemetry = telemetry

    def export(
        self,
        scope: Scope,
        out: str | Path | BinaryIO,
        format: str,  # noqa: A002 - the word of the option
        where: Filter | None,
        *,
        overwrite: bool,
        on_progress: Progress | None,
    ) -> ExportReport:
        """Write a new file, a new folder, or into a stream of bytes that stays open."""
        if format not in FORMATS:
            raise InvalidInput(f"format {format!r} is unknown; choose one of {', '.join(FORMATS)}")
        path = path_of(out, "write", "out")
        counts: Counter[str] = Counter()
        with self._telemetry.span("biem.export") as span:
            if format == "markdown":
                self._markdown(scope, path, where, counts, overwrite=overwrite, on_progress=on_progress)
            elif path is not None:
                with whole_file(path, overwrite=overwrite) as file:
                    self._lines(file, scope, where, counts, on_progress)
            else:
                self._lines(cast(BinaryIO, out), scope, where, counts, on_progress)
            span.add(memories=counts["memory"])
        return ExportReport(format, "" if path is None else str(out), counts["memory"], dict(counts))

    def _lines(
        self, file: IO[bytes], scope: Scope, where: Filter | None, counts: Counter[str], on_progress: Progress | None
    ) -> None:
        names = {"tenant": scope.tenant, "user": scope.user, "project": scope.project}
        first = {"type": "header", "format": FORMAT, "version": VERSION, "scope": names, "filtered": where is not None}
        file.write(_line(first))
        for section, row in self._read(scope, where, counts, on_progress):
            file.write(_line({"type": section, **row}))
        file.write(_line({"type": "end", "lines": dict(counts)}))
        file.flush()

    def _markdown(
        self,
        scope: Scope,
        path: Path | None,
        where: Filter | None,
        counts: Counter[str],
        *,
        overwrite: bool,
        on_progress: Progress | None,
    ) -> None:
        if path is None:
            raise InvalidInput("Markdown is written into a folder; give its path (--out, or the first argument)")
        with whole_folder(path, overwrite=overwrite) as folder:
            written = MarkdownFolder(folder, scope)
            for section, row in self._read(scope, where, counts, on_progress):
                if section != "memory":
                    counts.clear()
                    break
                written.add(row)
            counts["memory"] = written.finish()

    def _read(
        self, scope: Scope, where: Filter | None, counts: Counter[str], on_progress: Progress | None
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        done = 0
        for section, row in self._scope_lines.read(scope, where):
            counts[section] += 1
            done += 1
            yield section, row
            if on_progress and done % _TOLD_EVERY == 0:
                on_progress(done)
        if on_progress:
            on_progress(done)


def _line(fields: dict[str, Any]) -> bytes:
    """One line with sorted keys; the value of an item keeps its own order."""
    everywhere = fields["type"] != "item"
    fields = dict(sorted(fields.items()))
    text = json.dumps(fields, ensure_ascii=False, allow_nan=False, sort_keys=everywhere, separators=(",", ":"))
    return text.encode() + b"\n"
