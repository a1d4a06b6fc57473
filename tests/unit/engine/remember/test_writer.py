"""What may be remembered, and what an acknowledgement does."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest

from biem.adapters.analyzers import RuleAnalyzer
from biem.domain.node import Draft
from biem.domain.policies.writing import WritePolicy
from biem.domain.scope import Scope
from biem.engine.remember.hot_write_behind import HotFeed
from biem.engine.remember.writer import Writer
from biem.errors import InvalidInput, RateLimited, StoreUnavailable
from biem.ports import HotEntry, HotStore, JobQueue, Records, Write, Written
from biem.telemetry import Span, Telemetry
from tests.support.fakes import START, HeldClock

SCOPE = Scope(user="u")
ANALYZER = RuleAnalyzer()


class Table:
    """The writing half of the port `Records`: facts and refs are there once."""

    def __init__(self) -> None:
        self.rows: list[Write] = []
        self.calls: list[int] = []
        self.failure: Exception | None = None

    def remember(self, scope: Scope, writes: Sequence[Write]) -> list[Written]:
        if self.failure is not None:
            raise self.failure
        self.calls.append(len(writes))
        return [self._one(write) for write in writes]

    def _one(self, write: Write) -> Written:
        for row in self.rows:
            if (write.fact_key and row.fact_key == write.fact_key) or (
                write.draft.ref and row.draft.ref == write.draft.ref
            ):
                return Written(row.id, False)
        self.rows.append(write)
        return Written(write.id, True)


class Hot:
    """The pushing half of the port `HotStore`."""

    def __init__(self) -> None:
        self.pushed: list[HotEntry] = []
        self.failure: Exception | None = None

    def push(self, scope: Scope, entries: Sequence[HotEntry], window: int) -> None:
        if self.failure is not None:
            raise self.failure
        self.pushed += entries


class Bell:
    """The waking half of the port `JobQueue`."""

    def __init__(self) -> None:
        self.rings = 0

    def wake(self) -> None:
        self.rings += 1


class Room:
    """A writer and everything it speaks to."""

    def __init__(
        self,
        policy: WritePolicy | None = None,
        calling: Callable[[], AbstractContextManager[None]] = nullcontext,
        rates: Any = None,
    ) -> None:
        self.table, self.hot, self.bell, self.clock = Table(), Hot(), Bell(), HeldClock()
        self.feed = HotFeed(cast(HotStore, self.hot), window=256)
        self.telemetry = Telemetry()
        self.writer = Writer(
            records=cast(Records, self.table),
            hot=self.feed,
            queue=cast(JobQueue, self.bell),
            analyzer=ANALYZER,
            clock=self.clock,
            policy=policy or WritePolicy(),
            telemetry=self.telemetry,
            calling=calling,
            rates=rates,
        )

    def remember(self, text: Any = "a text", **details: Any) -> str:
        return self.writer.remember(SCOPE, text, **details)

    def many(self, *items: Any, report: list[int] | None = None) -> list[str]:
        return self.writer.remember_many(SCOPE, items, None if report is None else report.append)

    @property
    def pushed(self) -> list[HotEntry]:
        self.feed.settle()
        return self.hot.pushed

    @property
    def last(self) -> Draft:
        return self.table.rows[-1].draft


@pytest.fixture
def room() -> Iterator[Room]:
    room = Room()
    yield room
    room.feed.close()


def test_a_text_alone_is_enough(room: Room) -> None:
    # Given nothing but a text / When it is remembered
    memory_id = room.remember("  Water is wet  ")

    # Then it is kept as it was said, with defaults
    assert room.table.rows[0].id == memory_id
    assert room.last == Draft(text="  Water is wet  ", at=START)


def test_values_of_a_revision_are_checked_like_those_of_a_memory(room: Room) -> None:
    assert room.writer.checked({"text": "tea", "importance": 4}) == {"text": "tea", "importance": 4.0}
    for given in ({"text": ""}, {"importance": 9}):
        with pytest.raises(InvalidInput):
            room.writer.checked(given)


def test_everything_that_is_given_is_kept(room: Room) -> None:
    # Given every detail / When it is remembered
    at = datetime(1999, 1, 1, tzinfo=UTC)
    details: dict[str, Any] = {
        "kind": "skill",
        "reason": "because",
        "importance": 5.0,
        "source": "book",
        "speaker": "Li",
        "conversation": "c",
        "at": at,
        "ref": "r",
        "metadata": {"a": [1, None]},
        "layer": "core",
    }
    room.remember("x", tags=["a", "b", "a"], **details)

    # Then all of it is there, tags once
    assert room.last == Draft(text="x", tags=("a", "b"), **details)


class TestRefusals:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "empty"),
            (" \t\n\u3000", "empty"),
            ("x" * 10_000_000, "10,000,000 bytes.*split"),
            ("爱" * 90_000, "270,000 bytes"),
            ("a\0b", "NUL"),
            ("\ud800", "surrogate"),
            (None, "NoneType"),
            (b"bytes", "bytes"),
            (7, "int"),
            (["x"], "list"),
        ],
        ids=lambda value: repr(value)[:16],
    )
    def test_a_text_that_cannot_be_kept_is_refused_with_the_reason(self, room: Room, text: Any, message: str) -> None:
        # Given such a text / When it is remembered / Then the reason is named
        _refused(room, message, text)

    @pytest.mark.parametrize(
        ("details", "message"),
        [
            ({"kind": "rumour"}, "knowledge, skill, emotion, task, event"),
            ({"kind": ["task"]}, "kind"),
            ({"kind": 1}, "kind"),
            ({"layer": "eternal"}, "core, session"),
            ({"importance": float("nan")}, "1 to 5"),
            ({"importance": "high"}, "1 to 5"),
            ({"importance": 10**400}, "1 to 5"),
            ({"at": datetime(1, 1, 1, tzinfo=UTC)}, "at.*year 1"),
            ({"at": datetime(1, 1, 1)}, "at.*year 1"),  # noqa: DTZ001
            ({"at": "yesterday"}, "at must be a datetime"),
            ({"at": START + timedelta(days=400)}, "days ahead"),
            ({"tags": [str(n) for n in range(10_000)]}, "10,000 tags"),
            ({"tags": "tag"}, "list"),
            ({"tags": None}, "list"),
            ({"tags": 7}, "list"),
            ({"tags": [None]}, "tag"),
            ({"tags": [["nested"]]}, "tag"),
            ({"tags": ["x" * 129]}, "a tag has 129"),
            ({"tags": [" "]}, "a tag is empty"),
            ({"tags": ["\0"]}, "a tag has a NUL"),
            ({"tags": ["\udfff"]}, "surrogate"),
            ({"speaker": None}, "speaker"),
            ({"speaker": "x" * 257}, "speaker has 257"),
            ({"speaker": "\0"}, "speaker has a NUL"),
            ({"conversation": 7}, "conversation"),
            ({"source": ["x"]}, "source"),
            ({"reason": "x" * 4_001}, "reason has 4,001"),
            ({"reason": None}, "reason"),
            ({"ref": ""}, "ref is empty"),
            ({"ref": 7}, "ref"),
            ({"ref": "x" * 513}, "ref has 513"),
            ({"ref": "\ud800"}, "ref has a lone surrogate"),
            ({"metadata": []}, "mapping"),
            ({"metadata": "x"}, "mapping"),
            ({"metadata": {"deep": {"er": [float("nan")]}}}, "JSON"),
            ({"metadata": {"deep": float("inf")}}, "JSON"),
            ({"metadata": {"x": object()}}, "JSON"),
            ({"metadata": {"x": {1, 2}}}, "JSON"),
            ({"metadata": {"x": b"y"}}, "JSON"),
            ({"metadata": {("a",): 1}}, "JSON"),
            ({"metadata": {"a": "\0"}}, "NUL"),
            ({"metadata": {"\0": "a"}}, "NUL"),
            ({"metadata": {"a": ["\ud800"]}}, "surrogate"),
            ({"metadata": {"a": "x" * 70_000}}, "70,0.. bytes"),
        ],
        ids=lambda value: repr(value)[:40],
    )
    def test_a_detail_that_cannot_be_kept_is_refused_with_the_reason(
        self, room: Room, details: Mapping[str, Any], message: str
    ) -> None:
        # Given such a detail / When it is given / Then the reason is named
        _refused(room, message, "x", **details)

    def test_metadata_that_contains_itself_or_is_too_deep_is_refused(self, room: Room) -> None:
        # Given metadata without an end
        circle: dict[str, Any] = {}
        circle["self"] = circle
        deep: dict[str, Any] = {}
        for _ in range(20_000):
            deep = {"in": deep}

        # When it is given / Then it is refused
        for metadata in (circle, deep):
            _refused(room, "JSON", "x", metadata=metadata)
        while deep:  # taken apart by hand: letting go of it at once would overflow the stack
            deep = deep["in"]

    def test_metadata_that_is_stored_can_be_read_again(self, room: Room) -> None:
        # Given metadata as deep as a reader takes, and the largest number / When they are given / Then they are kept
        deep: Any = 1
        for _ in range(98):
            deep = [deep]
        other = Room()
        other.remember("x", metadata={"deep": deep, "great": 10**308})
        assert other.last.metadata == {"deep": deep, "great": 10**308}

        # And one level more, or a number that no reader takes, is refused
        _refused(room, "nested", "x", metadata={"deep": [deep]})
        for number in (10**309, -(10**400)):
            _refused(room, "number", "x", metadata={"great": [number]})

    @pytest.mark.parametrize("size", [262_144, 262_145])
    def test_the_greatest_text_is_accepted_and_one_byte_more_is_not(self, size: int) -> None:
        # Given texts around the limit / When they are remembered / Then the limit is exact
        room = Room()
        if size > 262_144:
            _refused(room, "262,145 bytes", "x" * size)
        else:
            room.remember("x" * size)

    @pytest.mark.parametrize(
        "text",
        [
            "x",
            "🧠",
            "\ufeff",
            "\u202e\u200b x",
            "e\u0301",
            "\x01\x7f",
            "'); DROP TABLE memories; --",
            r"a literal \u0000",
        ],
    )
    def test_strange_text_that_can_be_kept_is_kept_to_the_letter(self, room: Room, text: str) -> None:
        # Given strange but valid text / When it is text and metadata / Then it stays as it is
        room.remember(text, metadata={"said": text, text: 1})
        assert room.last.text == text
        assert room.last.metadata == {"said": text, text: 1}

    def test_metadata_is_a_copy(self, room: Room) -> None:
        # Given metadata that its owner changes afterwards
        mine = {"list": [1]}
        room.remember("x", metadata=mine)

        # When he does / Then the memory's is as it was
        mine["list"].append(2)
        assert room.last.metadata == {"list": [1]}


class TestKind:
    @pytest.mark.req("G10", partly="defaults of the kind")
    @pytest.mark.parametrize(
        ("details", "kind"),
        [
            ({}, "knowledge"),
            ({"source": "book"}, "knowledge"),
            ({"speaker": "Li"}, "event"),
            ({"conversation": "c"}, "event"),
            ({"source": "user"}, "event"),
            ({"source": "assistant"}, "event"),
            ({"kind": "task", "speaker": "Li"}, "task"),
            ({"kind": "knowledge", "source": "user"}, "knowledge"),
        ],
    )
    def test_what_was_said_is_an_event_and_what_is_known_is_knowledge(
        self, room: Room, details: Mapping[str, Any], kind: str
    ) -> None:
        # Given a text and where it is from / When no kind is given / Then it follows from that
        room.remember("x", **details)
        assert room.last.kind == kind

    @pytest.mark.req("X30", partly="one memory, no second job, no second place in HotKV")
    def test_a_fact_written_twice_is_one_memory_and_no_work(self, room: Room) -> None:
        # Given a fact / When it is written again, in other white space and width
        first = room.remember("Water is 100 % wet")
        again = room.remember(" Water  is\n１００ % wet")

        # Then nothing was added and no worker woken
        assert again == first
        assert len(room.table.rows) == len(room.pushed) == room.bell.rings == 1

    def test_different_facts_are_different_memories(self, room: Room) -> None:
        # Given facts that differ in a letter's case or a sign / When they are written / Then all are kept
        ids = {room.remember(text) for text in ("polish", "Polish", "polish.", "po lish")}
        assert len(ids) == 4

    def test_messages_repeat_and_refs_decide_for_themselves(self, room: Room) -> None:
        # Given the same words / When they are messages, or have refs
        ids = [room.remember("yes", speaker="Li"), room.remember("yes", speaker="Li")]
        refs = [room.remember("yes", ref="1"), room.remember("yes", ref="2"), room.remember("yes", ref="1")]

        # Then only the same ref is the same memory
        assert len({*ids, *refs}) == 4
        assert refs[0] == refs[2]


class TestAcknowledgement:
    @pytest.mark.req("D2", partly="the row first, projections after")
    def test_an_acknowledged_memory_is_hot_and_a_worker_is_woken(self, room: Room) -> None:
        # Given a text / When it is remembered
        memory_id = room.remember("我爱 Peanuts", speaker="Li")

        # Then HotKV has its words, with the speaker's, and the bell rang
        assert room.pushed == [HotEntry(memory_id, " ".join(ANALYZER.lexemes("Li: 我爱 Peanuts")))]
        assert room.bell.rings == 1

    @pytest.mark.req("B7", partly="losing L1 loses no memory")
    def test_hotkv_that_is_down_costs_no_memory(self, room: Room) -> None:
        # Given no HotKV
        room.hot.failure = StoreUnavailable("down")

        # When a text is remembered / Then it is acknowledged and a worker woken all the same
        assert room.remember("x") == room.table.rows[0].id
        assert room.bell.rings == 1

    def test_a_write_that_failed_is_neither_hot_nor_acknowledged(self, room: Room) -> None:
        # Given no records
        room.table.failure = StoreUnavailable("down")

        # When a text is remembered / Then the caller hears it
        with pytest.raises(StoreUnavailable):
            room.remember("x")
        assert room.pushed == []
        assert room.bell.rings == 0

    @pytest.mark.req("C26", partly="initial energy")
    def test_energy_comes_from_importance_and_reason(self, room: Room) -> None:
        # Given an importance and a good reason / When it is remembered / Then both count
        room.remember("x", importance=3.0, reason="he told me so himself this morning")
        assert room.table.rows[0].energy == pytest.approx(0.7)

    def test_the_time_is_the_clocks_unless_given(self, room: Room) -> None:
        # Given a clock / When time goes by / Then memories have its time
        room.remember("a")
        room.clock.advance(hours=1)
        room.remember("b")
        assert [row.draft.at for row in room.table.rows] == [START, START + timedelta(hours=1)]

    @pytest.mark.parametrize("text", ["ab " * 60_000, "爱" * 80_000, "word " * 50_000, "x" * 200_000, "a1 " * 80_000])
    def test_words_of_a_long_text_are_whole_terms_with_single_spaces_within_the_limit(
        self, room: Room, text: str
    ) -> None:
        # Given a text with more words than an index holds / When it is remembered
        room.remember(text)

        # Then what is indexed is a head of its terms: PostgreSQL refuses empty ones, and half ones find nothing
        lexemes = room.table.rows[0].lexemes
        terms = ANALYZER.lexemes(text)
        assert len(lexemes.encode()) <= WritePolicy().max_lexeme_bytes
        assert "" not in lexemes.split(" ")
        assert lexemes.split(" ") == terms[: lexemes.count(" ") + 1]

    def test_remembering_is_reported_as_a_span_without_the_text(self, room: Room) -> None:
        # Given a caller that watches
        spans: list[Span] = []
        room.telemetry.attach(spans.append)

        # When a text is remembered, and one refused
        room.remember("secret")
        with pytest.raises(InvalidInput):
            room.remember("")

        # Then both are seen, and the text is not
        assert [(span.name, span.error) for span in spans] == [("biem.remember", ""), ("biem.remember", "InvalidInput")]
        assert "secret" not in repr(spans)


class TestMany:
    def test_many_are_written_some_hundred_a_transaction_in_order(self) -> None:
        # Given more items than a transaction takes
        room, progress = Room(), list[int]()

        # When they are remembered
        ids = room.many(*({"text": f"fact {n}"} for n in range(1_203)), report=progress)

        # Then each transaction is bounded, and ids come in the items' order
        assert room.table.calls == [500, 500, 203]
        assert progress == [500, 1_000, 1_203]
        assert ids == [row.id for row in room.table.rows]
        assert [row.draft.text for row in room.table.rows] == [f"fact {n}" for n in range(1_203)]

    @pytest.mark.parametrize("items", ["two words", b"bytes", {"text": "one"}, 7, None])
    def test_what_is_no_list_is_refused_as_a_whole(self, room: Room, items: Any) -> None:
        with pytest.raises(InvalidInput, match="items must be a list of mappings"):
            room.writer.remember_many(SCOPE, items, None)
        assert room.table.rows == []

    def test_items_may_come_from_a_generator_and_be_none(self, room: Room) -> None:
        # Given a generator, and nothing
        def items() -> Iterator[Mapping[str, Any]]:
            yield {"text": "a"}
            yield {"text": "b", "kind": "task"}

        # When they are remembered / Then all are
        assert len(room.writer.remember_many(SCOPE, items(), None)) == 2
        assert room.many() == []

    @pytest.mark.parametrize(
        "bad",
        [
            {"text": ""},
            {},
            {"text": "x", "kind": "rumour"},
            {"text": "x", "tagz": ["typo"]},
            {"text": "x", 7: "y"},
            "a text",
            None,
            7,
        ],
        ids=repr,
    )
    def test_a_bad_item_is_named_by_its_position_and_what_is_stored_is_said(self, bad: Any) -> None:
        # Given a bad item after a full transaction
        room = Room(WritePolicy(bulk_rows=2))

        # When they are remembered
        with pytest.raises(InvalidInput, match=r"item 3: .*2 items before it are stored"):
            room.many({"text": "a"}, {"text": "b"}, {"text": "c"}, bad, {"text": "e"})

        # Then the transaction before it is stored and its own is not
        assert [row.draft.text for row in room.table.rows] == ["a", "b"]

    def test_items_are_not_changed(self, room: Room) -> None:
        # Given a caller's mapping / When it is remembered / Then it is as it was
        item = {"text": "a", "tags": ["t"]}
        room.many(item)
        assert item == {"text": "a", "tags": ["t"]}

    def test_a_fact_repeated_in_a_batch_is_hot_once(self, room: Room) -> None:
        # Given a batch with a fact twice / When it is remembered / Then ids repeat and HotKV has it once
        ids = room.many({"text": "same"}, {"text": "same"}, {"text": "other"})
        assert ids[0] == ids[1]
        assert [entry.id for entry in room.pushed] == [ids[0], ids[2]]


def _refused(room: Room, message: str, text: Any, **details: Any) -> None:
    with pytest.raises(InvalidInput, match=message):
        room.remember(text, **details)
    assert room.table.calls == []
    assert room.pushed == []
    assert room.bell.rings == 0


def test_who_keeps_one_text_waits_for_it_and_who_imports_does_not() -> None:
    # Given a writer that says when a user waits
    events: list[str] = []

    @contextmanager
    def calling() -> Iterator[None]:
        events.append("called")
        yield
        events.append(f"{len(writing.table.rows)} kept")

    writing = Room(calling=calling)
    # When texts are written alone and in bulk / Then only the one alone is a call, until it is kept
    writing.many({"text": "one"}, {"text": "two"})
    writing.remember("three")
    writing.feed.close()
    assert events == ["called", "3 kept"]


@pytest.mark.parametrize(("name", "limit"), [("speaker", "max_name_chars"), ("reason", "max_reason_chars")])
def test_a_name_as_long_as_it_may_be_is_kept(room: Room, name: str, limit: str) -> None:
    value = "x" * getattr(WritePolicy(), limit)
    room.writer.remember(SCOPE, "text", **{name: value})
    assert getattr(room.table.rows[-1].draft, name) == value


def test_as_many_tags_and_as_much_metadata_as_allowed_are_kept_and_not_more() -> None:
    # Given room for two tags and nineteen bytes
    room = Room(WritePolicy(max_tags=2, max_metadata_bytes=19))

    # When both are full, in any spelling of the tags / Then they are kept, and one more is refused
    room.remember("x", tags=["a", "b", "a"], metadata={"key": "value…"})
    assert (room.last.tags, room.last.metadata) == (("a", "b"), {"key": "value…"})
    for more in ({"tags": ["a", "b", "c"]}, {"metadata": {"key": "values…"}}):
        with pytest.raises(InvalidInput, match="at most"):
            room.remember("y", **more)
    room.feed.close()


def test_a_batch_beyond_the_rate_says_how_many_items_before_it_are_stored() -> None:
    # Given room for one batch of two / When five items are written, in three / Then the error counts the first
    waits = iter([0.0, 3.0])
    rates = SimpleNamespace(take=lambda *_: next(waits))
    room = Room(WritePolicy(bulk_rows=2, max_per_minute=2), rates=rates)
    with pytest.raises(RateLimited, match="2 items before are stored"):
        room.many(*({"text": f"text {number}"} for number in range(5)))
    assert len(room.table.rows) == 2
    room.feed.close()
