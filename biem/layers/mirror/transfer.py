"""A scope as a folder of Markdown files without a mirror, with all that a memory has, and back."""

import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from biem.domain.mirror.root import ARCHIVE
from biem.domain.node import related_of
from biem.domain.observing.category import Category
from biem.domain.scope import Scope
from biem.domain.text import one_line
from biem.domain.transfer import FORMAT, VERSION, ExportReport, Row, TransferReport
from biem.engine.transfer.files import whole_folder
from biem.engine.transfer.importing import Importer
from biem.errors import ImportConflict, InvalidInput
from biem.layers.mirror.front import joined, rendered
from biem.layers.mirror.names import file_name, folder_of, free_path, key
from biem.layers.mirror.read import read
from biem.layers.mirror.render import TITLE_CHARS, metadata_of
from biem.layers.mirror.text import MirrorText
from biem.ports import Clock
from biem.ports.files import FileContent, Files
from biem.ports.transfer import ScopeLines

_TOLD_EVERY = 500
_IN_FRONT = ("id", "layer", "tags", "importance", "kind", "reason", "expires_at", "text")
_SPOOLED = 16 << 20
_LINE = re.compile(r"\bline (\d+)\b")


class MirrorTransfer:
    """Exports and imports folders of one file a memory. Thread-safe."""

    def __init__(
        self,
        *,
        lines: ScopeLines,
        importer: Importer,
        files: Files,
        categories: Mapping[str, Category],
        clock: Clock,
        most_bytes: int,
    ) -> None:
        self._lines = lines
        self._importer = importer
        self._files = files
        self._categories = categories
        self._clock = clock
        self._most_bytes = most_bytes

    def export(
        self, scope: Scope, folder: Path, *, overwrite: bool, on_progress: Callable[[int], None] | None
    ) -> ExportReport:
        """Write a new folder, whole or not at all. Raises `InvalidInput` and `StoreFull`."""
        taken: set[str] = set()
        with whole_folder(folder, overwrite=overwrite) as built:
            for number, row in enumerate(self._memories(scope), 1):
                path = free_path(_path(row, self._categories), row["id"], taken)
                taken.add(key(path))
                (built / path).parent.mkdir(parents=True, exist_ok=True)
                (built / path).write_bytes(_written(row, scope, number))
                if on_progress and number % _TOLD_EVERY == 0:
                    on_progress(number)
        return ExportReport("mirror", str(folder), len(taken), {"memory": len(taken)})

    def take(
        self,
        scope: Scope,
        folder: Path,
        *,
        on_conflict: str,
        dry_run: bool,
        on_progress: Callable[[int], None] | None,
    ) -> TransferReport:
        """Read a folder to its end, then store it. `InvalidInput` and `ImportConflict` name the file."""
        found = sorted(self._read(folder), key=lambda one: (one[0], one[1]))
        paths = [path for _, path, _, _ in found]
        origin = next((names for _, _, names, _ in found if names is not None), None) or _names(scope)
        with tempfile.SpooledTemporaryFile(_SPOOLED) as file:
            _line(file, {"type": "header", "format": FORMAT, "version": VERSION, "scope": origin, "filtered": True})
            for _, _, _, row in found:
                _line(file, {"type": "memory", **row})
            _line(file, {"type": "end", "lines": {"memory": len(found)} if found else {}})
            file.seek(0)
            try:
                return self._importer.take(
                    scope,
                    file,  # type: ignore[arg-type]
                    on_conflict=on_conflict,
                    dry_run=dry_run,
                    on_progress=on_progress,
                )
            except InvalidInput as error:
                kind = ImportConflict if isinstance(error, ImportConflict) else InvalidInput
                raise kind(_LINE.sub(lambda found: _named(paths, int(found[1])), str(error))) from None

    def _memories(self, scope: Scope) -> Iterator[Row]:
        for section, row in self._lines.read(scope, None):
            if section != "memory":
                return
            yield row

    def _read(self, folder: Path) -> Iterator[tuple[int, str, Mapping[str, str] | None, Row]]:
        walk = self._files.walk(str(folder), obey=False)
        for skipped in walk.skipped:
            raise InvalidInput(f"{skipped.path}: {skipped.reason}")
        for stat in walk.files:
            content = self._files.read(str(folder), stat.path, self._most_bytes)
            if not isinstance(content, FileContent):
                raise InvalidInput(f"{stat.path}: {content.reason if content else 'it was changed meanwhile'}")
            text = read(stat.path, content.data)
            if text.problem:
                raise InvalidInput(f"{stat.path}: line {text.line}: {text.problem}")
            if text.id is None:
                raise InvalidInput(
                    f"{stat.path}: it names no id; a folder of files that biem did not write is a mirror: `biem mirror "
                    "add`"
                )
            yield _row(stat.path, text, text.id, self._clock.now())


def _written(row: Row, scope: Scope, number: int) -> bytes:
    metadata = row["metadata"]
    own = metadata.get("front")
    state = {name: value for name, value in row.items() if name not in _IN_FRONT}
    front = {
        "id": row["id"],
        "type": row["layer"],
        "scope": "project" if scope.project else "global",
        "category": _string(metadata.get("category")),
        "title": _title(row),
        "tags": row["tags"],
        "created_at": row["created_at"],
        "updated_at": row["revised_at"] or row["created_at"],
        "accessed_at": row["accessed_at"],
        "access_count": row["access_count"],
        "importance": float(row["importance"]),
        "related": related_of(metadata),
        "kind": row["kind"],
        "reason": row["reason"],
        "status": "archived" if row["status"] == "archived" else "active",
        "expires_at": row["expires_at"],
        "revision": row["revision"],
        **(own if isinstance(own, dict) else {}),
        "state": json.dumps({"place": number, "in": _names(scope), **state}, ensure_ascii=False, sort_keys=True),
    }
    return joined(rendered(front), f"\n{row['text']}\n").encode()


def _row(path: str, text: MirrorText, memory_id: str, now: datetime) -> tuple[int, str, Mapping[str, str] | None, Row]:
    """The place of a file in its export, its path, the scope it came from, and the memory to store."""
    try:
        state = json.loads(str(text.front.values["state"].plain)) if "state" in text.front.values else {}
        place, names = int(state.pop("place", 0)), state.pop("in", None)
        row = _fresh(text.at or now) | state
        metadata = dict(row["metadata"])
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidInput(f"{path}: its `state` cannot be read ({error}): leave that line as it was") from None
    said = dict(text.fields)
    if not metadata.get("title") and said.get("title") == _title({"text": said["text"], "metadata": {}}):
        said.pop("title", None)
    row["metadata"] = metadata_of(metadata, said)
    row |= {name: said[name] for name in _IN_FRONT if name in said and name != "expires_at"}
    row["id"] = memory_id
    row["expires_at"] = said.get("expires_at")
    return place, path, names if isinstance(names, dict) else None, row


def _fresh(moment: datetime) -> Row:
    """What a memory has that a file without `state` does not say."""
    at = moment.isoformat()
    return {
        "kind": "knowledge", "layer": "long_term", "tags": [], "reason": "", "importance": 3.0, "source": "file",
        "speaker": "", "conversation": "", "ref": None, "metadata": {}, "origin": "file", "trust": "normal",
        "on_expiry": "archive", "at": at, "created_at": at, "fact": True, "status": "pending", "archived_at": None,
        "archive_reason": "", "valid_from": at, "valid_to": None, "superseded_by": None, "initial_energy": 0.5,
        "energy_anchor": 0.5, "anchor_at": at, "boosted_at": None, "access_count": 0, "useful_count": 0,
        "accessed_at": None, "useful_at": None, "formed": True, "due_at": None, "revision": 1, "revised_at": None,
    }  # fmt: skip


def _path(row: Row, categories: Mapping[str, Category]) -> str:
    category = _string(row["metadata"].get("category"))
    folder = folder_of(category, row["layer"], categories)
    name = file_name(datetime.fromisoformat(row["at"]), category or row["kind"], _title(row))
    return f"{ARCHIVE if row['status'] == 'archived' else ''}{folder}/{name}"


def _title(row: Mapping[str, Any]) -> str:
    return _string(row["metadata"].get("title")) or one_line(row["text"].lstrip("# \t\n"), TITLE_CHARS)


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _names(scope: Scope) -> dict[str, str]:
    return {"tenant": scope.tenant, "user": scope.user, "project": scope.project}


def _line(file: IO[bytes], fields: Mapping[str, Any]) -> None:
    file.write(json.dumps(fields, ensure_ascii=False, allow_nan=False).encode() + b"\n")


def _named(paths: list[str], number: int) -> str:
    """The file of a line; the first line is the header."""
    return paths[number - 2] if 2 <= number < len(paths) + 2 else f"line {number}"
