"""The file of a backup: what was written is read again, and anything else is refused with words."""

import io
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from biem.adapters.archive import FORMAT, Manifest, opened, written
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
