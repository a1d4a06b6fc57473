"""The file of a backup: what was written is read again, and anything else is refused with words."""

import io
import json
import os
import tracemalloc
import zipfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from copy import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from biem.adapters.postgres.backup.file import FORMAT, Manifest, opened, written
from biem.errors import InvalidInput

LINES = st.lists(st.binary(max_size=40).map(lambda raw: raw.replace(b"\n", b" ") + b"\n"), max_size=20)
IN_A_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def write(path: Path, chunks: list[bytes]) -> Manifest:
    heard: list[int] = []
    with written(path) as writer:
        table = writer.table("memories", ["id"], chunks, heard.append)
        manifest = Manifest(format=FORMAT, taken_at="now", migrations={1: "x"}, tables=[table], sequences={"s": 7})
        writer.manifest(manifest)
    assert heard[-1] == len(chunks)
    return manifest


@IN_A_FOLDER
@given(LINES)
def test_what_was_written_is_read(tmp_path: Path, chunks: list[bytes]) -> None:
    path = tmp_path / "b"
    manifest = write(path, chunks)
    with opened(path) as reader:
        assert reader.manifest == manifest
        assert b"".join(reader.chunks(manifest.tables[0])) == b"".join(chunks)


@IN_A_FOLDER
@given(st.data())
def test_a_byte_that_changed_is_noticed_or_does_not_matter(tmp_path: Path, data: st.DataObject) -> None:
    # Given a backup of which one byte changed, or the end is missing
    path = tmp_path / "b"
    content = [b"Ann likes tea\n", "安喜欢喝茶\n".encode()]
    write(path, content)
    raw = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(raw) - 1))
    if data.draw(st.booleans()):
        raw[at] ^= data.draw(st.integers(1, 255))
    else:
        del raw[at:]
    path.write_bytes(raw)
    # Then it is refused as a backup, or all of its content is right
    with suppress(InvalidInput), opened(path) as reader:
        assert b"".join(reader.chunks(reader.manifest.tables[0])) == b"".join(content)


@IN_A_FOLDER
@given(st.binary(max_size=300))
def test_any_other_file_is_refused_with_words(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "x").write_bytes(raw)
    with pytest.raises(InvalidInput, match="is no backup"), opened(tmp_path / "x"):
        pass


@IN_A_FOLDER
@given(st.one_of(st.binary(max_size=60), st.just(b'{"format": 1}'), st.just(b"[]")))
def test_a_zip_that_is_no_backup_is_refused_with_words(tmp_path: Path, manifest: bytes) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("manifest.json", manifest)
    (tmp_path / "x").write_bytes(packed.getvalue())
    with pytest.raises(InvalidInput), opened(tmp_path / "x"):
        pass


def test_a_later_format_is_refused(tmp_path: Path) -> None:
    with written(tmp_path / "b") as writer:
        writer.manifest(Manifest(format=FORMAT + 1, taken_at="", migrations={}, tables=[], sequences={}))
    with pytest.raises(InvalidInput, match="has format 2"), opened(tmp_path / "b"):
        pass


def hostile(path: Path, members: dict[str, Iterable[bytes]], comment: bytes = b"", *, level: int = 6) -> None:
    """An archive with these members, streamed: what it grows to is in no memory."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
        for name, chunks in members.items():
            with archive.open(name, "w") as member:
                for chunk in chunks:
                    member.write(chunk)
        archive.comment = comment


def manifest(sha256: str = "0" * 64, **table: Any) -> bytes:
    """The manifest of one table."""
    said = {"name": "memories", "columns": ["id"], "rows": 1, "sha256": sha256, **table}
    return json.dumps(
        {"format": FORMAT, "taken_at": "now", "migrations": {}, "tables": [said], "sequences": {}}
    ).encode()


MEGABYTE = b" " * (1 << 20)
ROW = (b"%0200d\n" % 7) * 5_000
HOSTILE: dict[str, Callable[[Path], None]] = {
    "a manifest that grows": lambda path: hostile(
        path, {"tables/memories.copy": [b"x\n"], "manifest.json": [MEGABYTE] * 300}
    ),
    "a row that never ends": lambda path: hostile(
        path,
        {"tables/memories.copy": [os.urandom(1 << 20).replace(b"\n", b"")] * 80, "manifest.json": [manifest()]},
        level=1,  # nothing compresses it
    ),
    "a table that grows": lambda path: hostile(
        path, {"tables/memories.copy": [b"\n" * (1 << 20)] * 300, "manifest.json": [manifest()]}
    ),
    "a long list of members": lambda path: hostile(
        path, {**{f"tables/t{n}.copy": [] for n in range(20_000)}, "manifest.json": [manifest()]}
    ),
    "a long comment": lambda path: hostile(path, {"manifest.json": [manifest()]}, comment=b"c" * 60_000),
    "a member of another folder": lambda path: hostile(
        path, {"tables/memories.copy": [], "../../etc/passwd": [b"x"], "manifest.json": [manifest()]}
    ),
    "a name that is a path": lambda path: hostile(
        path, {"tables/../memories.copy": [], "manifest.json": [manifest(name="../memories")]}
    ),
    "no member of a table": lambda path: hostile(path, {"manifest.json": [manifest()]}),
    "fewer than no rows": lambda path: hostile(
        path, {"tables/memories.copy": [], "manifest.json": [manifest(rows=-1)]}
    ),
}


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE)
def test_a_file_made_to_do_harm_is_refused_in_little_memory(make: Callable[[Path], None], tmp_path: Path) -> None:
    # Given a small file that would become large, or is of another form
    path = tmp_path / "b"
    make(path)
    # When it is opened / Then it is refused, and what was held meanwhile is bounded
    tracemalloc.start()
    try:
        with pytest.raises(InvalidInput), opened(path):
            pass
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 12 << 20


def test_members_that_share_their_bytes_are_refused(tmp_path: Path) -> None:
    # Given an archive whose list names the same bytes for many members
    path = tmp_path / "b"
    names = [f"t{n:02d}" for n in range(40)]
    tables = [{"name": name, "columns": ["id"], "rows": 1, "sha256": "0" * 64} for name in names]
    said = {"format": FORMAT, "taken_at": "now", "migrations": {}, "tables": tables, "sequences": {}}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("tables/t00.copy", ROW)
        archive.writestr("manifest.json", json.dumps(said))
        first = archive.getinfo("tables/t00.copy")
        for name in names[1:]:
            twin = copy(first)
            twin.filename = twin.orig_filename = f"tables/{name}.copy"
            archive.filelist.append(twin)
    # When it is opened / Then it is refused
    with pytest.raises(InvalidInput), opened(path):
        pass


def test_a_folder_or_a_pipe_is_no_backup(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", Path("/dev/zero"), tmp_path / "nothing"):
        with pytest.raises(InvalidInput, match="no backup"), opened(path):
            pass
