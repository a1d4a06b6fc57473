"""For any input, no parser breaks, and none takes for ever: text, transcripts, settings, questions, models.

Texts are put together from what the parsers look for, which plain random text hardly ever holds. Other parsers have
their own fuzz tests: times (`test_times.py`), a model's answers (`test_reasoner.py`), the rules that compare two
statements (`test_contradiction_rules.py`), scopes, ids and clean text.
"""

import copy
import json
import string
import time
import zipfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar, cast

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from biem.adapters.analyzers import RuleAnalyzer
from biem.adapters.contradiction import build
from biem.adapters.postgres.backup import file as archives
from biem.adapters.reasoner import parsing
from biem.adapters.reasoner.parsing import ModelReply
from biem.config import load_settings
from biem.domain.conflict import Statement
from biem.domain.node import KINDS, LAYERS, parse_id
from biem.domain.policies.writing import WritePolicy
from biem.domain.times.events import happening
from biem.domain.times.windows import windows
from biem.engine.aim.snapshot_file import read
from biem.engine.query.question import is_asked, sentences_of
from biem.engine.remember.hot_write_behind import HotFeed
from biem.engine.remember.writer import Writer
from biem.errors import BiemError, ConfigError, InvalidInput
from biem.importers.record import BadLine, Record
from biem.importers.times import parse_time
from biem.importers.transcripts import TranscriptReader
from biem.ports import JobQueue, Records
from biem.telemetry import Telemetry
from tests.support.fakes import HeldClock
from tests.unit.engine.aim.test_snapshot_file import SAVED

ANALYZER = RuleAnalyzer()
RULES = build()
NOW = datetime(2026, 5, 4, 9, 0, tzinfo=UTC)
T = TypeVar("T")


def accepted(reading: Callable[[], T], refusal: type[BiemError], words: str) -> T | None:
    """What was read, or None when it was refused in our words; nothing else may happen."""
    refused = ""
    try:
        return reading()
    except refusal as error:
        refused = str(error)
    assert words in refused
    return None


FRAGMENTS = st.sampled_from(
    ["10M", "$", "¥", "1,000", "3.5", "二十", "%", "http://", "a@b.c", "#", "`x`", "\"", "“", "」",
     "(", ")", "[", "]", "{", "}", "<", "=", ":=", "是", "不", "没", "not ", "n't", " is ",
     "means ", "Li Ming", "O'Brien", "McDonald", "王小明", "先生", "\n", "\t", "\x00", "\u200b",
     "\u202e", "\u0301", "\ud800", "👍🏽", "İ", "ß", "ﬁ", "１２", "١", "2024-02-30", "12:60", "5月",
     "last ", "week", "昨天", "-", "--", "...", "。", "？", "!", ";", "\\", "/", "'", "%s", "{}",
     "$(x)", " ", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
     "9999999999999999999999999999999999999999"]
)  # fmt: skip
TEXTS = st.text(max_size=80) | st.lists(FRAGMENTS, max_size=25).map("".join)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=8,
)
MESSAGE_KEYS = ("text", "content", "speaker", "role", "at", "timestamp", "time", "conversation", "session", "ref", "id",
                "turn_id", "turns", "messages", "kind", "tags", "reason", "importance", "metadata")  # fmt: skip


class TestText:
    @given(TEXTS)
    def test_any_text_is_analysed_into_what_a_database_can_hold(self, text: str) -> None:
        terms = ANALYZER.lexemes(text)
        found = ANALYZER.analyze(text)
        words = [*terms, *ANALYZER.keywords(text, 10), *found.entities, *found.fields.numbers, *found.fields.names]
        words += [*found.fields.definitions, *found.fields.symbols]
        assert all("\0" not in word and word.encode() for word in words)
        assert not any(character.isspace() for term in terms for character in term)
        assert -1.0 <= found.sentiment <= 1.0

    @given(TEXTS)
    def test_any_question_is_cut_into_a_few_sentences(self, text: str) -> None:
        sentences = sentences_of(text, lambda piece: len(set(ANALYZER.lexemes(piece))))
        assert len(sentences) <= 8
        assert all(sentences)
        assert all(is_asked(f"{sentence}？") for sentence in sentences if "\n" not in sentence)

    @given(TEXTS, TEXTS)
    def test_any_two_statements_are_compared(self, one: str, other: str) -> None:
        verdict = RULES.compare(Statement(one), Statement(other), None)
        assert verdict is None or 0.0 <= verdict.confidence <= 1.0

    @pytest.mark.parametrize(
        "reading",
        [
            lambda text: ANALYZER.lexemes(text),
            lambda text: ANALYZER.analyze(text),
            lambda text: ANALYZER.keywords(text, 10),
            lambda text: windows(text, NOW),
            lambda text: happening(text, NOW),
            lambda text: sentences_of(text, len),
            lambda text: parsing.topics(ModelReply(text)),
            lambda text: parsing.judgement(ModelReply(text)),
        ],
        ids=["lexemes", "fields", "keywords", "times", "events", "question", "topics", "judgement"],
    )
    @settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(unit=st.lists(FRAGMENTS, min_size=1, max_size=3).map("".join))
    def test_a_hostile_repetition_takes_no_longer_than_its_length(
        self, reading: Callable[[str], object], unit: str
    ) -> None:
        """A regular expression that goes back and forth would take minutes; thirty times as long is far from that."""

        def took(length: int) -> float:
            """The least CPU time of three: the first may load a dictionary, and memory may be collected in another."""
            text = (unit * length)[:length]
            times = []
            for _ in range(3):
                began = time.process_time()
                reading(text)
                times.append(time.process_time() - began)
            return min(times)

        short = max(took(500), 0.001)
        assert took(4_000) < 30 * 8 * short


class TestTranscripts:
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        lines=st.lists(
            st.binary(max_size=60)
            | TEXTS.map(lambda text: text.encode(errors="surrogatepass"))
            | JSON.map(lambda value: json.dumps(value).encode())
            | st.dictionaries(st.sampled_from(MESSAGE_KEYS), JSON, max_size=6).map(lambda v: json.dumps(v).encode())
            | st.lists(st.dictionaries(st.sampled_from(MESSAGE_KEYS), JSON, max_size=4), max_size=3).map(
                lambda turns: json.dumps({"id": "c", "turns": turns}).encode()
            ),
            max_size=5,
        )
    )
    @example(lines=[b"\x1f\x8b" + b"\0" * 20])
    @example(lines=[b"[" * 100_000, b"9" * 5_000, b'{"text": "x", "at": ' + b"9" * 4_000 + b"}"])
    def test_each_line_of_any_file_is_a_message_or_says_why_not(self, lines: list[bytes], tmp_path: Path) -> None:
        file = tmp_path / "chat.jsonl"
        file.write_bytes(b"\n".join(lines))
        for found in TranscriptReader(str(file)).read():
            if isinstance(found, BadLine):
                assert found.line >= 1
                assert found.column >= 1
                assert found.reason
                continue
            assert isinstance(found, Record)
            assert found.item["text"].strip()
            item = dict(found.item)
            accepted(lambda item=item: WRITER.draft(**item), InvalidInput, "")  # type: ignore[misc]

    @given(JSON | st.integers() | st.floats())
    def test_any_value_is_an_aware_time_or_none(self, value: object) -> None:
        moment = accepted(lambda: parse_time(value, "at"), InvalidInput, "at is not a time")
        assert moment is None or moment.tzinfo is not None


class Nowhere:
    """Ports that `draft` does not use."""


WRITER = Writer(
    records=cast(Records, Nowhere()),
    hot=cast(HotFeed, Nowhere()),
    queue=cast(JobQueue, Nowhere()),
    analyzer=ANALYZER,
    clock=HeldClock(),
    policy=WritePolicy(),
    telemetry=Telemetry(),
)


class TestCallers:
    @given(
        text=JSON,
        details=st.dictionaries(
            st.sampled_from(["kind", "tags", "reason", "importance", "source", "speaker", "conversation", "ref",
                             "metadata", "layer", "at"]),
            JSON,
            max_size=5,
        ),
    )  # fmt: skip
    def test_any_argument_is_taken_within_its_limits_or_refused(self, text: object, details: dict[str, Any]) -> None:
        policy = WritePolicy()
        draft = accepted(lambda: WRITER.draft(text, **details), InvalidInput, "")
        if draft is None:
            return
        assert len(draft.text.encode()) <= policy.max_text_bytes
        assert len(draft.tags) <= policy.max_tags
        assert draft.kind in KINDS
        assert draft.layer in LAYERS
        assert 1 <= draft.importance <= 5
        json.dumps(draft.metadata, allow_nan=False).encode()
        (draft.text + draft.reason + draft.speaker + draft.source + draft.conversation + (draft.ref or "")).encode()

    @pytest.mark.parametrize(
        ("name", "length"),
        [("text", 300_000), ("reason", 4_001), ("ref", 513), ("speaker", 257), ("conversation", 257), ("source", 257)],
    )
    def test_what_is_too_long_is_refused_with_its_limit(self, name: str, length: int) -> None:
        with pytest.raises(InvalidInput, match="at most"):
            WRITER.draft(**cast(dict[str, Any], {"text": "short", name: "x" * length}))

    @given(st.text() | st.integers() | st.none())
    def test_any_id_is_canonical_or_refused(self, value: object) -> None:
        found = accepted(lambda: parse_id(value), InvalidInput, "")  # type: ignore[arg-type]
        assert found is None or len(found) == 36


NAMES = st.sampled_from(
    ["BIEM_POSTGRES_DSN", "BIEM_REDIS_URL", "BIEM_MILVUS_URI", "BIEM_MILVUS_INDEX", "BIEM_POSTGRES_POOL",
     "BIEM_QUEUE", "BIEM_ENCODE__BATCH", "BIEM_RECALL__STRICT_WORDS", "BIEM_CONCEPTS__BANNED",
     "BIEM_ENERGY__DECAY_PER_HOUR", "BIEM_TRACES", "BIEM_EMBEDDER", "BIEM_EMBEDDER__THREADS", "BIEM_REASONER__URL",
     "BIEM_TENANT", "POSTGRES_HOST", "POSTGRES_PORT", "POSTGRES_PASSWORD", "MILVUS_HOST", "DISABLE_MEMORY",
     "BIEM_METRICS_PORT", "BIEM_CLOSE_TIMEOUT_S", "BIEM_HOME"]
)  # fmt: skip
VALUES = TEXTS | st.sampled_from(
    ["-1", "0", "1e400", "nan", "true", "[", "[]", '["a"]', "{}", '{"threads": "x"}', "null"]
)


class TestSettings:
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(given=st.dictionaries(NAMES, VALUES, max_size=5))
    def test_any_environment_is_settings_or_an_error_that_names_the_setting(
        self, given: dict[str, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as environment:
            for name, value in given.items():
                try:
                    environment.setenv(name, value)
                except (ValueError, UnicodeEncodeError):  # no environment can hold it
                    return
            accepted(load_settings, ConfigError, "settings cannot be used: ")

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(content=st.binary(max_size=100) | st.lists(st.tuples(NAMES, VALUES), max_size=4).map(
        lambda pairs: "\n".join(f"{name}={value}" for name, value in pairs).encode(errors="surrogatepass")
    ))  # fmt: skip
    def test_any_env_file_is_read_or_refused(self, content: bytes, tmp_path: Path) -> None:
        file = tmp_path / ".env"
        file.write_bytes(content)
        accepted(lambda: load_settings(file), ConfigError, "settings cannot be used: ")


class TestBackups:
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        manifest=st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode()), cut=st.integers(0, 200)
    )
    def test_any_file_that_is_no_backup_is_refused(self, manifest: bytes, cut: int, tmp_path: Path) -> None:
        file = tmp_path / "biem.backup"
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("manifest.json", manifest)
        if cut < 150:
            file.write_bytes(file.read_bytes()[:cut])
        with pytest.raises(InvalidInput), archives.opened(file):
            pass


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place inside a JSON value: what holds it, and its key there."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from places(value[key])


class TestSavedMemories:
    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(value=JSON, where=st.integers(0, 200))
    def test_any_value_in_any_place_is_read_or_refused(self, value: object, where: int, tmp_path: Path) -> None:
        saved = copy.deepcopy(SAVED)
        held = list(places(saved))
        inside, key = held[where % len(held)]
        inside[key] = value
        file = tmp_path / "aim.json"
        file.write_text(json.dumps(saved), encoding="utf-8")
        found = accepted(lambda: read(file), InvalidInput, str(file))
        assert found is None or all(isinstance(node.text, str) for node in found.nodes)


def test_the_fragments_are_what_the_parsers_look_for() -> None:
    """They would be of no use if analysing them found nothing."""
    text = " ".join(["Li Ming paid $10M at 12:30", "`x` is 3.5%", "王小明先生说不是"])
    fields = ANALYZER.analyze(text).fields
    assert fields.numbers
    assert fields.names
    assert fields.symbols
    assert set(string.printable) - set(text)
