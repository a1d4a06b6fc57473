"""Files that no one of good will writes: each is refused with its line, and what is stored is what stood before."""

import io
import json
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import biem
from biem.errors import ImportConflict
from tests.support.life_workloads import ONLY_SLEEP, embedder
from tests.support.servers import Testbed
from tests.support.transfers import exported, lines

Row = dict[str, Any]
FOREIGN = "01890a5d-ac96-774b-bcce-b302099a8057"


@pytest.fixture(scope="module")
def opened(testbed: Testbed) -> Iterator[biem.Memory]:
    """Connecting takes as long as a test."""
    with biem.connect(testbed.settings(sleep=ONLY_SLEEP), embedder=embedder()) as memory:
        yield memory


@pytest.fixture(scope="module")
def told(opened: biem.Memory) -> list[Row]:
    """The lines of a good file: two memories with a conflict that is decided, and links."""
    memory = opened.scope(user=uuid.uuid4().hex)
    for n, firm in enumerate(("Acme", "Globex")):
        memory.remember(f"Ann works at {firm}", at=memory.now().replace(hour=n), wait=True)
    [pair] = memory.conflicts()
    memory.resolve(pair.id, "keep_new")
    return lines(exported(memory))


def written(rows: list[Row]) -> io.BytesIO:
    """A file of these lines."""
    return io.BytesIO(b"".join(json.dumps(row).encode() + b"\n" for row in rows))


def changed(rows: list[Row], section: str, **fields: Any) -> list[Row]:
    """The same with other fields in the first line of a type."""
    place = next(place for place, row in enumerate(rows) if row["type"] == section)
    return [*rows[:place], rows[place] | fields, *rows[place + 1 :]]


WRONG: dict[str, tuple[str, Row]] = {
    "no text": ("memory", {"text": ""}),
    "text of another type": ("memory", {"text": ["a"]}),
    "huge text": ("memory", {"text": "x" * 10_000_000}),
    "NUL": ("memory", {"text": "a\0b"}),
    "lone surrogate": ("memory", {"text": "a\ud800b"}),
    "id": ("memory", {"id": "'; DROP TABLE memories"}),
    "kind": ("memory", {"kind": "order"}),
    "trust": ("memory", {"trust": "sacred"}),
    "origin": ("memory", {"origin": "USER\n"}),
    "importance": ("memory", {"importance": 9}),
    "energy": ("memory", {"energy_anchor": 1.5}),
    "energy of text": ("memory", {"energy_anchor": "1"}),
    "count": ("memory", {"access_count": -1}),
    "huge count": ("memory", {"access_count": 10**30}),
    "time without offset": ("memory", {"at": "2026-05-01T00:00:00"}),
    "time out of the calendar": ("memory", {"anchor_at": "0001-01-01T00:00:00+00:00"}),
    "time of a number": ("memory", {"created_at": 5}),
    "future": ("memory", {"at": "9999-12-31T23:59:59+00:00"}),
    "tags": ("memory", {"tags": "abc"}),
    "metadata": ("memory", {"metadata": []}),
    "deep metadata": ("memory", {"metadata": {"a": "x" * 100_000}}),
    "status": ("memory", {"status": "archived"}),
    "itself": ("memory", {"superseded_by": "same"}),
    "unknown field": ("memory", {"ns": "x"}),
    "unknown type": ("memory", {"type": "scopes"}),
    "link to nothing": ("link", {"target": FOREIGN}),
    "link to itself": ("link", {"target": "same"}),
    "weight": ("link", {"weight": 2}),
    "link type": ("link", {"link": "owns"}),
    "conflict with nothing": ("conflict", {"newer": FOREIGN}),
    "decision": ("conflict", {"resolution": None}),
    "winner": ("conflict", {"supersessions": [{"loser": FOREIGN, "winner": FOREIGN, "ended_at": "x"}]}),
    "merged into nothing": ("conflict", {"merged": FOREIGN}),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_value_is_refused_with_its_line(opened: biem.Memory, told: list[Row], name: str) -> None:
    memory = opened.scope(user=uuid.uuid4().hex)
    section, fields = WRONG[name]
    place = next(place for place, row in enumerate(told) if row["type"] == section)
    own = told[place].get("id") or told[place].get("source")
    fields = {key: own if value == "same" else value for key, value in fields.items()}
    with pytest.raises(biem.InvalidInput, match=f"^line {place + 1}: ") as raised:
        memory.import_(written(changed(told, section, **fields)))
    assert len(str(raised.value)) < 1_000
    # Then what stood before it is stored, and nothing after it
    known = [row["text"] for row in lines(exported(memory)) if row["type"] == "memory"]
    assert known == [row["text"] for row in told[:place] if row["type"] == "memory"]
    # And the good file still comes in whole
    report = memory.import_(written(told))
    assert report.created + report.already_there == report.memories == 2


BROKEN: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "empty": (lambda _: b"", "ends before"),
    "another format": (lambda _: b'{"text": "hello"}\n', "line 1: this is no export"),
    "another encoding": (lambda data: data.replace(b"Acme", "公司".encode("gbk")), "line 2: not UTF-8"),
    "Latin-1": (lambda data: data.replace(b"Acme", b"Acm\xe9"), "line 2: not UTF-8"),
    "cut off": (lambda data: data[:-60], "not JSON|ends before"),
    "without its last line": (lambda data: b"".join(data.splitlines(True)[:-1]), "ends before its last line"),
    "without a line": (
        lambda data: b"".join(data.splitlines(True)[:2] + data.splitlines(True)[3:]),
        "no memory of|missing",
    ),
    "with more": (lambda data: data + data, "more after the last line"),
    "later version": (lambda data: data.replace(b'"version": 3', b'"version": 4'), "line 1: the file has version 4"),
    "no version": (lambda data: data.replace(b'"version": 3', b'"version": true'), "line 1: the file has version True"),
    "no scope": (lambda data: data.replace(b'"tenant"', b'"tenants"'), "line 1: the first line names no scope"),
    "NaN": (lambda data: data.replace(b'"importance": 3.0', b'"importance": NaN', 1), "line 2: not JSON"),
    "a bomb": (lambda data: data.splitlines(True)[0] + b"[" * 100_000 + b"\n", "line 2: not JSON"),
    "a list": (lambda data: data.splitlines(True)[0] + b"[1]\n", "line 2: not an object"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_says_where(opened: biem.Memory, told: list[Row], name: str) -> None:
    memory = opened.scope(user=uuid.uuid4().hex)
    spoil, reason = BROKEN[name]
    whole = written(told).getvalue()
    assert spoil(whole) != whole
    with pytest.raises(biem.InvalidInput, match=reason):
        memory.import_(io.BytesIO(spoil(whole)))
    report = memory.import_(io.BytesIO(whole))
    assert report.created + report.already_there == report.memories == 2


def test_a_byte_order_mark_is_no_harm(opened: biem.Memory, told: list[Row]) -> None:
    marked = b"\xef\xbb\xbf" + written(told).getvalue()
    assert opened.scope(user=uuid.uuid4().hex).import_(io.BytesIO(marked)).created == 2


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-be", "utf-16-le", "utf-32"])
def test_a_file_that_a_shell_saved_in_another_encoding_is_read(
    opened: biem.Memory, told: list[Row], codec: str
) -> None:
    # Given an export as PowerShell saves what it redirects, with Chinese text in it
    file = written(changed(told, "memory", text="安在环球公司工作 🦉")).read().decode()
    memory = opened.scope(user=uuid.uuid4().hex)
    saved = ("\ufeff" * (codec == "utf-16-be") + file.replace("\n", "\r\n")).encode(codec)
    assert memory.import_(io.BytesIO(saved)).created == 2
    assert "安在环球公司工作 🦉" in {node.text for node in memory.list().items}
    # And one that is damaged, or cut within a character, is refused with its line and what to do
    for broken in (saved[:-3], saved[: len(saved) // 2 // 4 * 4] + b"\x00\xd8\x00\xd8" + saved[-200:]):
        with pytest.raises(biem.InvalidInput, match=r"line \d"):
            memory.import_(io.BytesIO(broken))


def test_what_is_no_file_of_bytes_is_refused(opened: biem.Memory) -> None:
    with pytest.raises(biem.InvalidInput, match="binary mode"):
        opened.import_(io.StringIO("{}"))  # type: ignore[arg-type]
    with pytest.raises(biem.InvalidInput, match="as_of"):
        opened.export(io.BytesIO(), as_of=opened.now())


def test_successors_in_a_circle_are_refused(opened: biem.Memory, told: list[Row]) -> None:
    memory = opened.scope(user=uuid.uuid4().hex)
    one, two = (row["id"] for row in told if row["type"] == "memory")
    circle = [row | {"superseded_by": two if row.get("id") == one else one} for row in told[1:3]]
    with pytest.raises(ImportConflict, match="lead back"):
        memory.import_(written([told[0], *circle, {"type": "end", "lines": {"memory": 2}}]))
    assert len(memory.list().items) == 0


def test_a_successor_that_never_comes_is_left_out(opened: biem.Memory, told: list[Row]) -> None:
    memory = opened.scope(user=uuid.uuid4().hex)
    lonely = told[1] | {"superseded_by": FOREIGN}
    memory.import_(written([told[0], lonely, {"type": "end", "lines": {"memory": 1}}]))
    [node] = memory.list().items
    assert node.superseded_by is None


def test_a_forged_scope_takes_nothing_of_another_one(opened: biem.Memory, told: list[Row]) -> None:
    # Given a victim, and a file that claims to be of the attacker's scope and to have the victim's ids
    victim, attacker = opened.scope(user=uuid.uuid4().hex), opened.scope(user=uuid.uuid4().hex)
    victim.import_(written(told))
    mine = lines(exported(victim))
    before = exported(victim)
    names = {"tenant": "default", "user": attacker.bound_to.user, "project": ""}
    forged = [mine[0] | {"scope": names}, mine[1] | {"text": "I am yours"}, *mine[2:]]
    with pytest.raises(ImportConflict, match="another scope"):
        attacker.import_(written(forged))
    report = attacker.import_(written(forged), on_conflict="skip")
    # Then nothing came, nothing is gone, and links between the victim's memories were not made
    assert (report.created, report.skipped) == (0, 2)
    assert exported(victim) == before
    assert [row["type"] for row in lines(exported(attacker))] == ["header", "end"]
