"""Formats are recognised by content, files of any encoding and packing are read, and hostile ones are refused."""

import gzip
import io
import json
import random
import struct
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.domain.text import storable
from biem.errors import InvalidInput
from biem.importers.json_stream import BrokenJson, elements
from biem.importers.record import BadLine, Entry, Record
from biem.importers.source import ImportSource
from tests.support.work import calls_of
from tests.unit.importers.files import chat, found, long_chat, node, records, said, write
from tests.unit.importers.test_chats import SESSION, event, turn
from tests.unit.importers.test_notes import GRAPH, MEMORIES

CLAUDE = [{"uuid": "c", "chat_messages": [turn("m", "human", "hi")]}]
KNOWN: list[tuple[str, tuple[Any, ...]]] = [
    ("chatgpt", ([long_chat("c", 2)],)),
    ("chatgpt", (long_chat("c", 2),)),
    ("claude", (CLAUDE,)),
    ("claude", ([{"conversations_memory": "tea"}],)),
    ("claude-code", tuple(SESSION)),
    ("claude-code", (SESSION[2],)),
    ("mem0", (MEMORIES,)),
    ("mem0", ({"results": MEMORIES},)),
    ("mcp-memory", tuple(GRAPH)),
    ("mcp-memory", (GRAPH[2],)),
    ("jsonl", ({"text": "hi"}, {"speaker": "Ann", "content": "ho"})),
    ("jsonl", ({"id": "c", "turns": [{"text": "hi"}]},)),
]


@pytest.mark.parametrize(("name", "values"), KNOWN)
@pytest.mark.parametrize("packing", ["plain", "gz", "zip"])
def test_a_format_is_recognised_by_its_content(
    tmp_path: Path, name: str, values: tuple[Any, ...], packing: str
) -> None:
    path = Path(write(tmp_path / "no-name", *values))
    if packing == "gz":
        path.write_bytes(gzip.compress(path.read_bytes()))
    elif packing == "zip":
        with zipfile.ZipFile(tmp_path / "z", "w") as archive:
            archive.write(path, "inner")
        path = tmp_path / "z"
    read = records(str(path))
    assert read
    assert {record.format for record in read} == {name}


@pytest.mark.parametrize(
    ("content", "seen"),
    [
        (b'{"name": "x",\n"version": 1}', "JSON objects with the keys name, version"),
        (b'[{"a": 1, "b": {"c": 2}}]', "a JSON list with the keys a, b"),
        (b'[{"role": "user", "content": "hi"}]', "the keys content, role; put each message on a separate line (jq -c"),
        (b"[1, 2]", "a JSON list without objects"),
        (b"[]", "a JSON list without objects"),
        (b"[" * 1_000_000, "a JSON list without objects"),
        (
            b'{"type": "header", "format": "biem-export"}\n{"type": "memory"}',
            "an export of biem, which is taken back alone",
        ),
        (b"dear diary", "text that begins with 'dear diary'"),
        (b"<html># no note</html>", "text that begins with '<html>"),
        (b"\x89PNG\r\n\x1a\n\0\0", "binary data that begins with 89 50 4e 47"),
    ],
)
def test_unknown_content_is_refused_with_what_was_seen(tmp_path: Path, content: bytes, seen: str) -> None:
    (tmp_path / "conversations.json").write_bytes(content)
    with pytest.raises(InvalidInput, match=r"Known formats: jsonl .* chatgpt .*markdown") as refused:
        found(str(tmp_path / "conversations.json"))
    assert seen in str(refused.value)
    with pytest.raises(InvalidInput, match=r"conversations\.json: "):
        found(str(tmp_path))


def test_a_format_can_be_named(tmp_path: Path) -> None:
    assert [r.text for r in found(write(tmp_path / "x", []), format="chatgpt")[0]] == []
    write(tmp_path / "mixed" / "a.json", [long_chat("c", 2)])
    write(tmp_path / "mixed" / "b.json", MEMORIES)
    read, left, _ = found(str(tmp_path / "mixed"), format="mem0")
    assert {r.format for r in read} == {"mem0"}
    assert left["file of another format"] == 1
    with pytest.raises(InvalidInput, match="format 'song' is unknown; choose one of jsonl, chatgpt"):
        found(str(tmp_path), format="song")
    with pytest.raises(InvalidInput, match="stdin is read as jsonl"):
        found("-", format="chatgpt")
    with pytest.raises(InvalidInput, match="none: No such file"):
        found(str(tmp_path / "none"))


# -- encodings --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "codec", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "gbk", "gb18030"]
)
def test_encodings_of_windows_and_china_are_read(tmp_path: Path, codec: str) -> None:
    text = json.dumps([chat(node("a", None, said("a", "user", "下周三去苏州" * 9)), current="a")], ensure_ascii=False)
    line = json.dumps({"text": "我对花生过敏", "speaker": "林晓"}, ensure_ascii=False) + "\n"
    for name, content in (("c.json", text), ("t.jsonl", line * 3), ("n.md", "# 标题\n\n对花生过敏的人\n")):
        (tmp_path / name).write_bytes(content.encode(codec))
    assert [r.text for r in records(str(tmp_path / "c.json"))] == ["下周三去苏州" * 9]
    assert [r.text for r in records(str(tmp_path / "t.jsonl"))] == ["我对花生过敏"] * 3
    assert [r.text for r in records(str(tmp_path / "n.md"))] == ["n > 标题\n对花生过敏的人"]


def test_another_encoding_is_refused_with_its_first_byte(tmp_path: Path) -> None:
    text = json.dumps([long_chat("c", 2, words="très beau, déjà vu à Orléans, naïve")], ensure_ascii=False)
    (tmp_path / "c.json").write_bytes(text.encode("latin-1"))
    read, _, bad = found(str(tmp_path / "c.json"))
    assert read == []
    assert f"(byte 0xE8 at position {text.index('è')})" in str(bad[0])
    assert "convert it" in str(bad[0])
    (tmp_path / "t.jsonl").write_bytes(b'{"text": "good"}\n{"text": "caf\xe9"}\n{"text": "good, too"}\n')
    read, _, bad = found(str(tmp_path / "t.jsonl"))  # one line is wrong, not the file
    assert [r.text for r in read] == ["good", "good, too"]
    assert [(line.line, line.column) for line in bad] == [(2, 14)]


# -- broken and hostile files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("damage", [b"", b'{"mapping": nul', b"\0", b'{"a": NaN}]'])
def test_a_file_that_breaks_off_gives_what_it_had_and_says_where(tmp_path: Path, damage: bytes) -> None:
    whole = json.dumps([long_chat(f"c{n}", 4) for n in range(5)]).encode()
    (tmp_path / "c.json").write_bytes(whole[: whole.index(b'{"title": "Lisbon"', 4 * len(whole) // 5 - 99)] + damage)
    read, _, bad = found(str(tmp_path / "c.json"))
    assert len(read) == 16
    assert len(bad) == 1
    assert "the JSON breaks off after element 4, before byte" in str(bad[0])


def test_a_damaged_archive_says_so(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "e.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", json.dumps([long_chat("c", 200)]))
    data = bytearray((tmp_path / "e.zip").read_bytes())
    data[len(data) // 2] ^= 0xFF
    (tmp_path / "bad.zip").write_bytes(data)
    assert "damaged or cut off" in str(found(str(tmp_path / "bad.zip"))[2][0])
    flags = data.index(b"PK\x01\x02") + 8
    data[flags : flags + 2] = struct.pack("<H", 1)
    (tmp_path / "locked.zip").write_bytes(data)
    assert "it is encrypted" in str(found(str(tmp_path / "locked.zip"))[2][0])
    packed = gzip.compress(json.dumps([long_chat("c", 200)]).encode())
    (tmp_path / "c.gz").write_bytes(packed[:-200])
    assert "damaged or cut off" in str(found(str(tmp_path / "c.gz"))[2][0])


@pytest.mark.parametrize("packing", ["zip", "gz"])
def test_a_bomb_is_refused(tmp_path: Path, packing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("biem.importers.files._FREE", 1 << 20)
    bomb = b"[" + b" " * (4 << 20)
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(bomb))
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", bomb)
    with pytest.raises(InvalidInput, match="over 200 times as many"):
        found(str(tmp_path / f"bomb.{packing}"))


def test_each_file_of_an_archive_costs_the_same_however_many_there_are(tmp_path: Path) -> None:
    # Given archives of 40 and of 160 files / When all are read
    calls = []
    for count in (40, 160):
        path = tmp_path / f"{count}.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for number in range(count):
                archive.writestr(f"{number}.md", f"# Tea\n\nTin {number} has tea")

        def read(path: Path = path) -> None:
            assert [record.text for record in records(str(path))]

        calls.append(calls_of(read))
    # Then four times as many cost four times as much
    assert calls[1] <= 1.5 * 4 * calls[0]


def test_a_directory_of_too_many_files_is_refused_before_it_is_taken_apart(tmp_path: Path) -> None:
    # Given a zip file of 5 MB with a directory of 100,001 entries
    entry = struct.pack("<4s6H3L5H2L", b"PK\1\2", 20, 20, 0, 0, 0, 33, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0) + b"a"
    file = struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, 0, 0, 33, 0, 0, 0, 1, 0) + b"a"
    count, begin = 100_001, len(file)
    ends = begin + len(entry) * count
    whole = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, count, count, ends - begin, begin)
    last = struct.pack("<4sLQL", b"PK\6\7", 0, ends, 1) + struct.pack(
        "<4s4H2LH", b"PK\5\6", 0, 0, *[2**16 - 1] * 2, *[2**32 - 1] * 2, 0
    )
    path = tmp_path / "many.zip"
    path.write_bytes(file + entry * count + whole + last)

    # When it is read / Then it is refused, and takes a few times its size in memory
    tracemalloc.start()
    try:
        with pytest.raises(InvalidInput, match=r"100,001 files; at most 100,000"):
            found(str(path))
        assert tracemalloc.get_traced_memory()[1] < 4 * path.stat().st_size
    finally:
        tracemalloc.stop()


def test_a_file_below_more_folders_than_python_calls_within_each_other_is_read(tmp_path: Path) -> None:
    inner = tmp_path
    for _ in range(1_200):
        inner /= "d"
        inner.mkdir()
    (inner / "tea.md").write_text("# Tea\n\nThe tea is in the tin")
    try:
        assert ["The tea is in the tin" in record.text for record in records(str(tmp_path))] == [True]
    finally:
        (inner / "tea.md").unlink()
        for folder in (inner, *inner.parents):  # what clears temporary folders calls itself for each
            if folder == tmp_path:
                break
            folder.rmdir()


def test_nesting_without_end_is_refused_and_not_parsed() -> None:
    deep = b'[{"a": 1}, ' + b'{"a":[' * 1_000_000
    read: list[object] = []
    with pytest.raises(BrokenJson, match="after element 1: nested more than 200 levels deep"):
        read.extend(elements(io.BytesIO(deep)))
    assert read == [{"a": 1}]


class Dribble:
    """A stream that gives a few bytes at a time."""

    def __init__(self, data: bytes, most: int) -> None:
        self._data = io.BytesIO(data)
        self._most = most
        self._random = random.Random(most)

    def read(self, size: int = -1, /) -> bytes:
        return self._data.read(min(size, self._random.randint(1, self._most)))


ATOMS = st.sampled_from(["\ud800", "\udc00", "\\", '"', "u", "d83d", "你", "\U0001f600", "x", "\n", "\\u", "\0"])


@given(st.lists(st.lists(ATOMS, max_size=9).map("".join), max_size=5), st.integers(min_value=1, max_value=60))
def test_escapes_are_read_as_the_standard_parser_does_with_lone_surrogates_replaced(
    texts: list[str], most: int
) -> None:
    document = json.dumps(texts).encode()
    expected = [storable(text.replace("\0", "NUL")) for text in json.loads(document)]
    assert [text.replace("\0", "NUL") for text in elements(Dribble(document, most))] == expected


KEYS = st.sampled_from(["a", "results", "id"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(max_size=5) | st.floats(-9, 9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)  # fmt: skip


@given(VALUES)
def test_elements_are_those_of_the_whole_document(value: object) -> None:
    document = json.dumps(value).encode()
    expected = value if isinstance(value, list) else [value]
    assert list(elements(io.BytesIO(document))) == expected
    if isinstance(value, dict):
        under = value.get("results")
        assert list(elements(io.BytesIO(document), "results")) == (under if isinstance(under, list) else [])


NAMES = st.sampled_from(
    ["mapping", "current_node", "message", "parent", "author", "role", "content", "parts", "create_time", "a", "b",
     "id", "uuid", "chat_messages", "sender", "text", "created_at", "type", "name", "observations", "from", "to",
     "memory", "results", "sessionId", "timestamp", "metadata", "recipient", "content_type", "user", "entity", "title"]
)  # fmt: skip
ODD = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | NAMES | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=25,
)


@pytest.mark.parametrize("name", ["chatgpt", "claude", "claude-code", "mem0", "mcp-memory", "markdown", "jsonl"])
@given(values=st.lists(st.dictionaries(NAMES, ODD, max_size=8), min_size=1, max_size=3))
def test_no_reader_breaks_on_odd_values(
    tmp_path_factory: pytest.TempPathFactory, name: str, values: list[dict[str, object]]
) -> None:
    path = tmp_path_factory.mktemp("odd") / "x"
    lines = name in ("claude-code", "mcp-memory", "jsonl")
    read, _, _ = found(write(path, *values) if lines else write(path, values), format=name)
    assert all(record.text.strip() and 0 < len(record.ref) <= 512 for record in read)
    assert all(record.at is None or record.at.tzinfo for record in read)


# -- bounded memory ---------------------------------------------------------------------------------------------------


def peak(entries: ImportSource) -> tuple[int, int]:
    """How many records there are, and the most bytes that were held meanwhile."""
    tracemalloc.start()
    try:
        count = sum(isinstance(entry, Record) for entry in entries.entries())
        return count, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def export(path: Path, name: str, size: int) -> str:
    """An export of `size` messages, written piece by piece."""
    with path.open("w", encoding="utf-8") as file:
        if name == "chatgpt":
            for number in range(size // 20):
                file.write(("[" if number == 0 else ",") + json.dumps(long_chat(f"c{number}", 20)))
            file.write("]")
        elif name == "mem0":
            for number in range(size):
                file.write(
                    ("[" if number == 0 else ",") + json.dumps({"id": str(number), "memory": f"fact {number} " * 99})
                )
            file.write("]")
        else:
            for number in range(size):
                file.write(json.dumps(event(str(number), "user", "words " * 99)) + "\n")
    return str(path)


@pytest.mark.parametrize("name", ["chatgpt", "mem0", "claude-code"])
def test_five_times_as_many_messages_take_no_more_memory(tmp_path: Path, name: str) -> None:
    few, low = peak(ImportSource([export(tmp_path / "few", name, 400)]))
    many, high = peak(ImportSource([export(tmp_path / "many", name, 2_000)]))
    assert (few, many) == (400, 2_000)
    assert high < low * 1.2 + 100_000


def test_an_unread_entry_is_not_parsed(tmp_path: Path) -> None:
    source = ImportSource([export(tmp_path / "x", "chatgpt", 20_000)])
    entries = source.entries()
    first: Entry = next(entries)
    assert not isinstance(first, BadLine)
    assert source.size
    assert 0 < source.bytes_read < source.size / 4
