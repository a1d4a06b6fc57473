"""Chat transcripts become messages with stable refs, and bad lines say where and why."""

import gzip
import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from biem.cli.demo import DIALOGUE
from biem.errors import InvalidInput
from biem.importers.record import BadLine, LeftOut, Record
from biem.importers.times import parse_time
from biem.importers.transcripts import TranscriptReader


def write(folder: Path, *lines: object, name: str = "chat.jsonl") -> str:
    path = folder / name
    path.write_bytes(b"".join(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines))
    return str(path)


def items(source: str, *, per_conversation: bool = False) -> list[dict[str, Any]]:
    found = list(TranscriptReader(source, per_conversation).read())
    assert all(isinstance(message, Record) for message in found), found
    return [dict(message.item) for message in found if isinstance(message, Record)]


def bad(source: str) -> BadLine:
    (line,) = (line for line in TranscriptReader(source).read() if isinstance(line, BadLine))
    return line


def test_a_message_takes_the_names_that_exports_use(tmp_path: Path) -> None:
    source = write(
        tmp_path,
        {"text": "hello", "speaker": "Ann", "at": "2025-03-14T15:09:26+08:00", "conversation": "c1", "ref": "m1"},
        {"content": "你好", "role": "user", "timestamp": 1_700_000_000, "session": "c2", "id": 7, "tags": ["a"]},
        {"content": [{"type": "text", "text": "one"}, {"type": "image_url"}, {"type": "text", "text": "two"}]},
        {"content": ["三", {"type": "image_url"}, "four"]},
    )
    first, second, third, fourth = items(source)
    assert (first["text"], first["speaker"], first["conversation"], first["ref"]) == ("hello", "Ann", "c1", "m1")
    assert first["at"] == datetime(2025, 3, 14, 7, 9, 26, tzinfo=UTC)
    assert (second["text"], second["speaker"], second["ref"], second["tags"]) == ("你好", "user", "7", ["a"])
    assert second["at"] == datetime.fromtimestamp(1_700_000_000, tz=UTC)
    assert (third["text"], third["conversation"], third["kind"]) == ("one\ntwo", "chat", "event")
    assert "at" not in third
    assert fourth["text"] == "三\nfour"


def test_a_whole_conversation_becomes_its_turns(tmp_path: Path) -> None:
    turns = [
        {"turn_id": "D1:1", "session": "s1", "timestamp": "2023-05-08T13:56:00", "speaker": "Mel", "text": "Look!"},
        {"turn_id": "D1:2", "session": "s1", "timestamp": "2023-05-08T13:56:00", "speaker": "Cal", "text": "Oh",
         "caption": "a red bike"},
        {"turn_id": "D1:3", "session": "s1", "timestamp": "2023-05-08T13:56:00", "speaker": "Mel", "text": "",
         "caption": "a dog"},
    ]  # fmt: skip
    source = write(tmp_path, {"id": "conv-1", "turns": turns})
    first, second, third = items(source)
    assert [item["text"] for item in (first, second, third)] == ["Look!", "Oh [a red bike]", "[a dog]"]
    assert first["ref"] == "conv-1/D1:1"
    assert first["metadata"] == {"session": "s1", "turn_id": "D1:1"}
    assert {item["conversation"] for item in (first, second, third)} == {"conv-1"}
    assert second["at"] - first["at"] == timedelta(microseconds=1)  # said later, although stamped alike
    assert third["at"] - first["at"] == timedelta(microseconds=2)
    assert items(source, per_conversation=True)[0]["ref"] == "D1:1"  # unique in its own scope


def test_messages_of_chat_apis_that_rightly_have_no_text_are_left_out(tmp_path: Path) -> None:
    # Given an agent's conversation as chat APIs have it: a picture, a tool call, its result, an answer
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    turns = [
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]},
        {"role": "user", "content": [{"type": "text", "text": "里斯本天气如何？"}]},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "18 °C", "tool_call_id": "c1"},
        {"role": "assistant", "content": "18 degrees", "tool_calls": [call]},
        {"role": "assistant", "content": ""},
    ]
    found = list(TranscriptReader(write(tmp_path, {"messages": turns})).read())

    # When it is read / Then only the empty answer is bad
    assert [entry.reason for entry in found if isinstance(entry, LeftOut)] == ["without text", "tool call"]
    assert [entry.text for entry in found if isinstance(entry, Record)] == ["里斯本天气如何？", "18 °C", "18 degrees"]
    assert [entry.reason for entry in found if isinstance(entry, BadLine)] == [
        'turn 6: "content" is empty; there is nothing to remember'
    ]


def test_the_kind_of_another_program_is_kept(tmp_path: Path) -> None:
    (item,) = items(write(tmp_path, {"text": "x", "kind": "sms", "metadata": {"lang": "en"}}))
    assert item["kind"] == "event"
    assert item["metadata"] == {"kind": "sms", "lang": "en"}


@pytest.mark.req("X30")
@pytest.mark.req("X36", partly="the key of an imported message")
def test_refs_come_from_content_and_place_alone(tmp_path: Path) -> None:
    lines = [
        {"text": "yes"},
        {"text": "yes"},
        {"text": "yes", "conversation": "other"},
        {"turns": [{"text": "yes"}] * 2},
    ]
    source = write(tmp_path, *lines)
    refs = [item["ref"] for item in items(source)]
    assert len(set(refs)) == len(refs) == 5
    (tmp_path / "again").mkdir()
    packed = Path(write(tmp_path / "again", *lines)).rename(tmp_path / "again" / "chat.jsonl.gz")
    packed.write_bytes(gzip.compress(packed.read_bytes()))
    assert [item["ref"] for item in items(str(packed))] == refs


def test_a_repaired_line_leaves_the_other_refs_alone(tmp_path: Path) -> None:
    broken = write(tmp_path, {"text": "a"}, b"{broken\n", {"text": "c"})
    before = [message.item["ref"] for message in TranscriptReader(broken).read() if isinstance(message, Record)]
    after = [item["ref"] for item in items(write(tmp_path, {"text": "a"}, {"text": "b"}, {"text": "c"}))]
    assert before == [after[0], after[2]]


def test_stdin_is_read_compressed_or_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = json.dumps({"text": "从标准输入"}).encode() + b"\n"
    for data in (plain, gzip.compress(plain), b"\xef\xbb\xbf" + plain):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(data))))
        assert [item["text"] for item in items("-")] == ["从标准输入"]


@pytest.mark.parametrize(
    ("line", "column", "words"),
    [
        (b'{"text": "x",}\n', 14, "expected one JSON object on one line"),
        (b"hello\n", 1, "expected one JSON object on one line"),
        (b'[{"text": "x"}]\n', 1, "not a list; put each element on a separate line"),
        (b"12\n", 1, "expected a JSON object, not a number"),
        (b'{"speaker": "Ann"}\n', 1, 'expected "text"'),
        (b'{"speaker": "Ann", "text": 5}\n', 20, '"text" must be a string, not a number'),
        (b'{"text": "  "}\n', 2, "empty"),
        (b'{"text": null}\n', 2, "empty"),
        (b'{"text": "x", "speaker": {}}\n', 15, '"speaker" must be a string, not an object'),
        (b'{"text": "x", "at": "yesterday"}\n', 15, "not a time: 'yesterday'; write it like 2025-03-14"),
        (b'{"text": "x", "at": NaN}\n', 15, "not a time"),
        (b'{"turns": 3}\n', 2, '"turns" must be a list of messages, not a number'),
        (b'{"id": "c", "turns": [{"text": "ok"}, {"txt": "x"}]}\n', 1, 'turn 2: expected "text"'),
        (b'{"text": "caf\xe9"}\n', 14, "not UTF-8 (byte 0xE9)"),
        (b"[" * 100_000 + b"\n", 1, "not readable as JSON"),
        (b'{"text": ' + b"1" * 5_000 + b"}\n", 1, "not readable as JSON"),
    ],
)
def test_a_bad_line_says_where_and_what_was_expected(tmp_path: Path, line: bytes, column: int, words: str) -> None:
    source = write(tmp_path, {"text": "fine"}, b"\n", line, {"text": "fine, too"})
    found = bad(source)
    assert (found.line, found.column) == (3, column)
    assert words in found.reason
    assert str(found).startswith(f"{source}:3:{column}: ")
    good = [message.item["text"] for message in TranscriptReader(source).read() if isinstance(message, Record)]
    assert good[0] == "fine"
    assert good[-1] == "fine, too"


def test_a_file_cut_off_in_its_middle_gives_what_it_had(tmp_path: Path) -> None:
    whole = b"".join(json.dumps({"text": f"{number} {number**9:x}"}).encode() + b"\n" for number in range(5_000))
    path = tmp_path / "chat.jsonl.gz"
    path.write_bytes(gzip.compress(whole)[:-2_000])
    found = list(TranscriptReader(str(path)).read())
    assert isinstance(found[-1], BadLine)
    assert "damaged or cut off" in found[-1].reason
    assert len(found) > 1_000


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"none\.jsonl: No such file"):
        list(TranscriptReader(str(tmp_path / "none.jsonl")).read())


def test_reading_is_lazy_and_knows_how_far_it_is(tmp_path: Path) -> None:
    reader = TranscriptReader(write(tmp_path, *({"text": "x" * 1_000} for _ in range(2_000))))
    messages = reader.read()
    next(messages)
    assert 0 < reader.bytes_read < reader.size / 2
    assert sum(1 for _ in messages) == 1_999
    assert reader.bytes_read == reader.size


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2025-03-14", datetime(2025, 3, 14, tzinfo=UTC)),
        ("2025-03-14T15:09:26Z", datetime(2025, 3, 14, 15, 9, 26, tzinfo=UTC)),
        (" 2025-03-14 23:09+08:00 ", datetime(2025, 3, 14, 15, 9, tzinfo=UTC)),
        (0, datetime(1970, 1, 1, tzinfo=UTC)),
        (1_700_000_000_000, datetime.fromtimestamp(1_700_000_000, tz=UTC)),
        ("0001-01-01", datetime(1, 1, 1, tzinfo=UTC)),
    ],
)
def test_times_are_read_as_people_and_programs_write_them(value: object, expected: datetime) -> None:
    assert parse_time(value, "--at") == expected


@pytest.mark.parametrize("value", ["", "14.3.2025", "2025-13-01", float("inf"), 1e300, True, None, []])
def test_what_is_no_time_is_answered_with_an_example(value: object) -> None:
    with pytest.raises(InvalidInput, match=r"--at is not a time: .*; write it like 2025-03-14"):
        parse_time(value, "--at")


def test_the_demo_dialogue_is_a_transcript_itself() -> None:
    turns = items(str(DIALOGUE))
    times = [turn["at"] for turn in turns]
    assert len(turns) >= 300
    assert times == sorted(times)
    assert timedelta(weeks=5) < times[-1] - times[0] < timedelta(weeks=7)
    assert len({turn["ref"] for turn in turns}) == len(turns)
    chinese = sum(any("\u4e00" <= c <= "\u9fff" for c in turn["text"]) for turn in turns)
    assert 0.25 < chinese / len(turns) < 0.75
