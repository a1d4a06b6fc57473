"""The public API on real servers: what one writes, everyone entitled finds; no one else does."""

import hashlib
import json
import threading
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import biem
from biem.bootstrap import Servers
from biem.cli.app import run
from biem.domain.policies.ranking import RankPolicy, SignalWeights
from biem.domain.policies.writing import EncodePolicy
from biem.errors import EmbedderMismatch, NotIndexed, RefConflict
from biem.ports import Role, Vectors
from biem.telemetry import Span
from tests.support.fakes import START, HeldClock, WordEmbedder, eventually
from tests.support.servers import Configure, lacking
from tests.support.systems import system
from tests.support.workloads import in_milvus, line, process

UNKNOWN = "01890a5d-ac96-774b-bcce-b302099a8057"
NAMES = [
    "' OR '1'='1",
    '" or ns != "',
    "x'; DROP TABLE memories; --",
    "*",
    "a,b",
    "a/b",
    "a",
    "{0}",
    "${jndi:ldap://x}",
    "%",
    "_",
    "\\",
    "../..",
    "biem:hot:*",
    "a\r\nFLUSHALL",
    "🙂‮abc",
]


class Synonyms(WordEmbedder):
    """To this embedder a car and an automobile are one thing."""

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        return super().embed([text.replace("automobile", "car") for text in texts], role)


def texts(hits: biem.Hits) -> list[str]:
    return [hit.node.text for hit in hits]


# -- found at once, by words and by meaning ---------------------------------------------------------------------------


@pytest.mark.parametrize(("signal", "first"), [("", "old"), ("importance", "new"), ("mirror", "new")])
def test_what_a_memory_is_worth_ranks_where_a_weight_says_so(settings: Configure, signal: str, first: str) -> None:
    # Given two memories that answer alike, the newer of them called important
    weights = replace(SignalWeights(), **dict.fromkeys(filter(None, [signal]), 2.0))
    scope = biem.Scope(user=uuid.uuid4().hex)
    with biem.connect(
        settings(ranking=RankPolicy(weights)), scope=scope, embedder=WordEmbedder(), clock=HeldClock()
    ) as memory:
        texts = {"old": "the red bicycle stands outside", "new": "a red bicycle stood outside"}
        keys = {
            name: memory.remember(text, importance=5.0 if name == "new" else 1.0, wait=True)
            for name, text in texts.items()
        }

        # When either might be told, by a search and from prepared candidates / Then the weight decides
        for session in ("", "talk", "talk"):
            hits = memory.recall("red bicycle outside", session=session)
            assert [hit.node.id for hit in hits][:1] == [keys[first]]
            assert bool(signal) == (signal in hits[0].why)


@pytest.mark.req("D5")  # nothing is in Milvus at all, which is as stale as it gets
def test_what_was_just_written_is_found_at_once_in_this_process_another_memory_and_another_process(
    home: Path, settings: Configure, environment: dict[str, str], stack: Servers
) -> None:
    # Given memories that index nothing, so that all is found as it was acknowledged
    user = biem.Scope(user="read your writes")
    idle = settings(queue="none")
    with (
        biem.connect(idle, scope=user, embedder=WordEmbedder()) as here,
        biem.connect(idle, scope=user, embedder=WordEmbedder()) as beside,
    ):
        # When one writes
        written = here.remember("The parcel locker opens with code 7714")
        # Then each finds it
        assert here.get(written).status == "pending"
        assert [hit.node.id for hit in here.recall("parcel locker")] == [written]
        assert [hit.node.id for hit in beside.recall("parcel locker")] == [written]
        with process("recall", home, user.user, "parcel locker", env=environment) as other:
            assert line(other) == written


@pytest.mark.long
@pytest.mark.req("D5", partly="read-your-writes")
def test_what_another_process_wrote_is_found_at_once(
    home: Path, environment: dict[str, str], memory: biem.Memory
) -> None:
    with process(
        "remember", home, memory.bound_to.user, "The spare key lies under the blue pot", env=environment
    ) as other:
        written = line(other)
        assert [hit.node.id for hit in memory.recall("spare key")] == [written]


@pytest.mark.req("X3")
@pytest.mark.req("X29", partly="the nearest is first, whatever its words")
def test_once_indexed_a_memory_is_found_by_meaning(settings: Configure, stack: Servers) -> None:
    with biem.connect(settings(), scope=biem.Scope(user="by meaning"), embedder=Synonyms()) as memory:
        ids = [memory.remember(text) for text in ("My car is red", "The river is long", "Rain fell in May")]
        assert memory.flush()
        hits = memory.recall("automobile")
        assert hits[0].node.text == "My car is red"
        assert "dense" in hits[0].why
        assert hits.degraded == lacking(stack)
        assert sorted(in_milvus(stack.milvus_uri, ns=memory.bound_to.ns)) == sorted(ids)


def test_waiting_means_indexed(memory: biem.Memory) -> None:
    assert memory.get(memory.remember("One thing", wait=True)).status == "active"
    memory.remember_many([{"text": f"Thing {number}"} for number in range(70)], wait=True)
    assert memory.stats()["pending"] == 0


# -- what a hit carries, and what can be asked for --------------------------------------------------------------------


@pytest.mark.req("A18", partly="the hash; the anchors are tested with the analyzer")
def test_a_hit_carries_what_the_caller_gave(memory: biem.Memory) -> None:
    at = datetime(2025, 9, 1, 8, 5, tzinfo=UTC)
    written = memory.remember(
        "我对花生严重过敏，剂量 0.3 mg",
        kind="event",
        tags=["health", "食物"],
        reason="He said so",
        importance=5,
        source="user",
        speaker="林晓",
        conversation="c-17",
        at=at,
        ref="m-1",
        metadata={"mood": ["calm", 1.5, None]},
        layer="core",
        wait=True,
    )
    node = memory.recall("花生")[0].node
    assert (node.id, node.ref, node.speaker, node.conversation, node.at) == (written, "m-1", "林晓", "c-17", at)
    assert (node.kind, node.layer, node.importance, node.source) == ("event", "core", 5.0, "user")
    assert (node.tags, node.metadata, node.reason) == (
        ("health", "食物"),
        {"mood": ["calm", 1.5, None]},
        "He said so",
    )
    assert (node.scope, node.status, node.language) == (memory.bound_to, "active", "zh")
    assert "0.3mg" in "".join(node.fields.numbers).replace(" ", "").lower()
    # What reading and time change aside, it is what is kept
    changing: dict[str, Any] = {
        **dict.fromkeys(("energy", "energy_key"), 0.0),
        **dict.fromkeys(("energy_since", "accessed_at")),
        "access_count": 0,
    }
    assert replace(node, **changing) == replace(memory.get(written), **changing)


@pytest.fixture
def diary(memory: biem.Memory) -> biem.Memory:
    """Twelve messages about tea: three speakers, two conversations, one a day, tags on some."""
    memory.remember_many(
        {
            "text": f"Tea note {number}",
            "kind": ("event", "task")[number % 2],
            "speaker": ("Ann", "Bo", "Cy")[number % 3],
            "conversation": ("x", "y")[number % 2],
            "at": START + timedelta(days=number),
            "tags": [name for name, every in (("even", 2), ("third", 3)) if number % every == 0],
        }
        for number in range(12)
    )
    return memory


@pytest.mark.req("B43")
@pytest.mark.req("M34", partly="filters")
@pytest.mark.parametrize("indexed", [False, True])
def test_filters_hold_before_and_after_indexing(diary: biem.Memory, indexed: bool) -> None:
    if indexed:
        assert diary.flush()

    def found(**where: Any) -> list[int]:
        return sorted(int(hit.node.text.split()[-1]) for hit in diary.recall("tea note", top_k=50, **where))

    assert found() == list(range(12))
    assert found(kinds=["task"]) == [1, 3, 5, 7, 9, 11]
    assert found(kinds=["task", "event"]) == list(range(12))
    assert found(kinds=["skill"]) == []
    assert found(speakers=["Ann"]) == [0, 3, 6, 9]
    assert found(speakers=["Ann", "Bo"]) == [0, 1, 3, 4, 6, 7, 9, 10]
    assert found(conversations=["y"]) == [1, 3, 5, 7, 9, 11]
    assert found(since=START + timedelta(days=9)) == [9, 10, 11]
    assert found(until=START + timedelta(days=2)) == [0, 1]
    assert found(since=START + timedelta(days=2), until=START + timedelta(days=4)) == [2, 3]
    assert found(tags=["even"]) == [0, 2, 4, 6, 8, 10]
    assert found(tags=["even", "third"]) == [0, 6]
    assert found(tags=["even"], speakers=["Bo"], conversations=["x"]) == [4, 10]
    assert len(diary.recall("tea note", top_k=5)) == 5
    assert len(diary.recall("tea note")) == 10


@pytest.mark.req("A14", "A15", "A16", "A17")
@pytest.mark.req("A18", partly="the hash; the anchors are tested with the analyzer")
def test_originals_come_only_when_asked_for_and_byte_for_byte(memory: biem.Memory) -> None:
    original = "The treaty:\r\n\t“Article 7” — 50 % of １００，０００ €\u3000 e\u0301\u2028end  "
    memory.remember(original, wait=True)
    for fast in ("treaty article", "treaty"):
        (hit,) = memory.recall(fast)
        assert hit.evidence is None
    assert memory.recall("treaty").mode == "fast"
    asking = [
        "treaty, 精确",
        "treaty 原文",
        "证明 treaty",
        "引用 treaty",
        "来源 treaty",
        "exact treaty",
        "quote treaty",
    ]
    for query in [*asking, "Proof of the treaty"]:
        hits = memory.recall(query)
        assert hits.mode == "strict", query
        assert hits[0].evidence == original
    (hit,) = memory.recall("treaty", mode="strict")
    assert hit.evidence is not None
    assert hashlib.sha256(hit.evidence.encode()).hexdigest() == hit.node.evidence_ptr
    assert memory.recall("exact treaty", mode="fast")[0].evidence is None


@pytest.mark.req("X4", partly="counts; promotion comes with tiers")
# Statement by statement: contract/postgres/test_life. That Milvus has no column for what changes: test_vector_index
@pytest.mark.req("X33", "D4")
def test_a_recall_is_counted_without_touching_the_vector(
    memory: biem.Memory, embedder: WordEmbedder, stack: Servers
) -> None:
    spans: list[str] = []
    memory.telemetry.attach(lambda span: spans.append(span.name))
    written = memory.remember("Olives grow in Crete", wait=True)
    eventually(lambda: "biem.encode" in spans)  # a little after the memory is active
    spans.clear()
    embedded = [text for call in embedder.calls for text in call]
    for number in range(5):
        memory.recall("olives")
        eventually(lambda wanted=number + 1: memory.get(written).access_count == wanted)  # type: ignore[misc]
    node = memory.get(written)
    assert node.accessed_at is not None
    assert node.useful_count == 0
    assert embedded == ["Olives grow in Crete"]
    assert [text for call in embedder.calls for text in call if text != "olives"] == embedded
    assert "biem.encode" not in spans
    assert in_milvus(stack.milvus_uri, ns=memory.bound_to.ns) == [written]

    # When its row is taken out of the index, and it is strengthened by use and by praise
    memory._system.encoder._index.purge([written])
    eventually(lambda: in_milvus(stack.milvus_uri, ns=memory.bound_to.ns) == [])
    memory.feedback(useful=[written])
    assert [hit.node.id for hit in memory.recall("olives")] == [written]  # it is in the canvas
    eventually(lambda: memory.get(written).access_count == 6)
    assert memory.flush()

    # Then it has more energy, nothing was embedded but the questions, and no one wrote the vector back
    assert memory.get(written).energy > node.energy > 0.6
    assert [text for call in embedder.calls for text in call if text != "olives"] == embedded
    assert in_milvus(stack.milvus_uri, ns=memory.bound_to.ns) == []


# -- one or two -------------------------------------------------------------------------------------------------------


@pytest.mark.req("X30", partly="links come later")
def test_a_repeated_fact_is_one_memory_also_when_many_write_it_at_once(memory: biem.Memory, stack: Servers) -> None:
    with ThreadPoolExecutor(8) as threads:
        ids = set(threads.map(lambda _: memory.remember("Water boils at 100 °C"), range(24)))
    assert memory.flush()
    before = memory.get(next(iter(ids)))
    ids |= {
        memory.remember("Water  boils at １００ °C"),
        *memory.remember_many([{"text": "Water boils at 100 °C"}] * 3),
    }
    assert len(ids) == 1
    assert memory.flush()
    after = memory.get(before.id)
    assert (after.write_seq, after.created_at, after.access_count) == (1, before.created_at, before.access_count)
    assert memory.stats()["memories"] == 1
    assert in_milvus(stack.milvus_uri, ns=memory.bound_to.ns) == list(ids)


def test_two_messages_with_equal_words_are_two(memory: biem.Memory) -> None:
    first = memory.remember("Good morning", speaker="Ann")
    second = memory.remember("Good morning", speaker="Ann")
    assert first != second
    assert {hit.node.id for hit in memory.recall("good morning")} == {first, second}


@pytest.mark.req("X23")  # that no text is cut inside a character: unit/domain/test_text
def test_two_memories_of_one_title_day_and_category_both_survive(memory: biem.Memory, stack: Servers) -> None:
    # Given two memories that have all in common but their text
    alike: dict[str, Any] = {"kind": "task", "at": START, "tags": ["errand"], "metadata": {"title": "Errand 跑腿"}}
    texts_of_both = ("Buy three litres of milk", "Bring the ladder back")
    ids = [memory.remember(text, **alike) for text in texts_of_both]
    assert memory.flush()

    # Then both are there, each with its own text, everywhere
    assert tuple(memory.get(key).text for key in ids) == texts_of_both
    assert sorted(in_milvus(stack.milvus_uri, ns=memory.bound_to.ns)) == sorted(ids)
    assert {hit.node.id for hit in memory.recall("errand: milk, ladder", tags=["errand"])} == set(ids)

    # And said again, each is itself
    assert [memory.remember(text, **alike) for text in texts_of_both] == ids


def test_a_ref_makes_a_write_repeatable_and_refuses_another_text(memory: biem.Memory) -> None:
    first = memory.remember("Hello", speaker="Ann", ref="message/1")
    assert memory.remember("Hello", speaker="Ann", ref="message/1") == first
    with pytest.raises(RefConflict, match=first):
        memory.remember("Goodbye", speaker="Ann", ref="message/1")
    assert texts(memory.recall("hello goodbye")) == ["Hello"]
    other = memory.scope(user="somebody else with the same ref")
    assert other.remember("Goodbye", ref="message/1") != first


@pytest.mark.long
def test_many_are_stored_in_order_with_progress_and_a_bad_one_says_where_it_is(memory: biem.Memory) -> None:
    heard: list[int] = []
    ids = memory.remember_many(({"text": f"Line {n}", "speaker": "A"} for n in range(1_203)), on_progress=heard.append)
    assert heard == [500, 1_000, 1_203]
    assert len(set(ids)) == 1_203
    assert [memory.get(ids[n]).text for n in (0, 499, 500, 1_202)] == ["Line 0", "Line 499", "Line 500", "Line 1202"]
    assert [memory.get(ids[n]).write_seq for n in (0, 1_202)] == [1, 1_203]
    # When one in the middle is bad, what was stored before its transaction stays, and nothing of its transaction does
    scope = memory.scope(project="bad")
    items = [{"text": f"Row {n}", "speaker": "A"} for n in range(700)]
    items[650] = {"text": "  "}
    with pytest.raises(biem.InvalidInput, match=r"item 650.*500 items before it are stored"):
        scope.remember_many(items)
    assert scope.stats()["memories"] == 500
    with pytest.raises(biem.InvalidInput, match="item 0"):
        scope.remember_many([{"speaker": "nobody"}])
    # And a conflict of refs leaves its whole transaction out
    with pytest.raises(RefConflict):
        scope.remember_many([{"text": "a", "ref": "r"}, {"text": "b", "ref": "r"}])
    assert scope.stats()["memories"] == 500


# -- get, stats, spans ------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_get_knows_only_this_scope(memory: biem.Memory) -> None:
    written = memory.remember("Mine")
    assert memory.get(written.upper()).id == written
    with pytest.raises(biem.NotFound, match=UNKNOWN):
        memory.get(UNKNOWN)
    for elsewhere in (memory.scope(user="other"), memory.scope(tenant="other"), memory.scope(project="other")):
        with pytest.raises(biem.NotFound):
            elsewhere.get(written)
    with pytest.raises(biem.InvalidInput, match="is not an id"):
        memory.get("1 OR 1=1")


def test_stats_count_this_scope_and_all(memory: biem.Memory) -> None:
    before = memory.stats()
    memory.remember_many([{"text": "One"}, {"text": "Two"}], wait=True)
    after = memory.stats()
    assert (before["memories"], after["memories"], after["active"], after["pending"]) == (0, 2, 2, 0)
    assert int(after["all_memories"]) == int(before["all_memories"]) + 2
    assert (after["embedder"], after["dimension"], after["languages"]) == ("test-words", 64, "mul")
    assert after["scope"] == str(memory.bound_to)


def test_spans_tell_what_was_done_and_a_broken_listener_breaks_nothing(memory: biem.Memory, stack: Servers) -> None:
    spans: list[Span] = []

    def broken(span: Span) -> None:
        raise RuntimeError("a listener of somebody else")

    memory.telemetry.attach(broken)
    memory.telemetry.attach(spans.append)
    memory.remember("Spans are timed", wait=True)
    memory.recall("spans")
    with pytest.raises(biem.InvalidInput):
        memory.remember("")
    memory.erase(memory.remember("gone"))
    names = {span.name for span in spans}
    assert {"biem.remember", "biem.recall", "biem.recall.search", "biem.recall.live", "biem.erase"} <= names
    eventually(lambda: {"biem.encode", "biem.encode.embed", "biem.encode.index"} <= {span.name for span in spans})
    recalled = next(span for span in spans if span.name == "biem.recall")
    confidence = recalled.attributes["confidence"]
    assert recalled.attributes == {
        "top_k": 10, "hits": 1, "degraded": ",".join(lacking(stack)), "way": "search", "confidence": confidence
    }  # fmt: skip
    assert isinstance(confidence, float)
    assert 0 < confidence < 1
    assert recalled.duration_ms > 0
    assert [span.error for span in spans if span.error] == ["InvalidInput"]
    memory.telemetry.detach(broken)


# -- opening and closing ----------------------------------------------------------------------------------------------


def test_closing_indexes_what_was_written(settings: Configure, stack: Servers) -> None:
    scope = biem.Scope(user="drained at close")
    patient = settings(close_timeout_s=300)  # how much is indexed within the default depends on the machine
    with biem.connect(patient, scope=scope, embedder=WordEmbedder()) as memory:
        ids = memory.remember_many({"text": f"Late word {number}"} for number in range(200))
    assert sorted(in_milvus(stack.milvus_uri, ns=scope.ns)) == sorted(ids)
    memory.close()


USES: list[Callable[[biem.Memory], object]] = [
    lambda memory: memory.remember("x"),
    lambda memory: memory.remember_many([{"text": "x"}]),
    lambda memory: memory.recall("x"),
    lambda memory: memory.context("x"),
    lambda memory: memory.get(UNKNOWN),
    lambda memory: memory.erase(UNKNOWN),
    lambda memory: memory.erase(biem.Scope()),
    lambda memory: memory.dead_letters(),
    lambda memory: memory.retry(),
    lambda memory: memory.reindex(),
    lambda memory: memory.stats(),
    lambda memory: memory.flush(),
    lambda memory: memory.scope(user="other").recall("x"),
]


def test_after_closing_every_use_says_so(settings: Configure, stack: Servers) -> None:
    memory = biem.connect(settings(), embedder=WordEmbedder())
    child = memory.scope(user="child")
    child.close()
    assert child.stats()["memories"] == 0  # closing a scope closes nothing
    memory.close()
    memory.close()
    wrong = []
    for number, use in enumerate(USES):
        try:
            use(memory)
            wrong.append((number, "nothing"))
        except biem.BiemError as error:
            if "closed" not in str(error):
                wrong.append((number, str(error)))
    assert wrong == []


def test_closing_while_others_are_at_it_gives_them_a_clear_error(settings: Configure, stack: Servers) -> None:
    memory = biem.connect(settings(), scope=biem.Scope(user="closing"), embedder=WordEmbedder())
    memory.remember("A word to find", wait=True)
    began = threading.Barrier(5)

    def use(number: int) -> BaseException:
        began.wait()
        try:
            while True:
                if number % 2:
                    memory.recall("word")
                else:
                    memory.remember("Another word", speaker="A")
        except BaseException as error:  # noqa: BLE001
            return error

    with ThreadPoolExecutor(4) as threads:
        users = [threads.submit(use, number) for number in range(4)]
        began.wait()
        memory.close()
        ends = [user.result(timeout=60) for user in users]
    assert [end for end in ends if not isinstance(end, biem.BiemError)] == []


@pytest.mark.long
def test_sixteen_threads_share_one_memory(memory: biem.Memory) -> None:
    def live(number: int) -> list[str]:
        found = []
        for turn in range(6):
            text = f"thread{number}turn{turn} speaks"
            written = memory.remember(text, speaker=f"T{number}")
            found += [hit.node.id for hit in memory.recall(text, top_k=3) if hit.node.id == written]
        return found

    with ThreadPoolExecutor(16) as threads:
        found = [written for ids in threads.map(live, range(16)) for written in ids]
    assert len(set(found)) == 96
    assert memory.flush()
    assert memory.stats()["active"] == 96


@pytest.mark.long
def test_eight_memories_in_one_process_see_each_other_and_close_one_by_one(settings: Configure, stack: Servers) -> None:
    scope = biem.Scope(user="eight")
    with ExitStack() as opened:
        memories = [
            opened.enter_context(biem.connect(settings(), scope=scope, embedder=WordEmbedder())) for _ in range(8)
        ]
        ids = [memory.remember(f"Member {number} is here") for number, memory in enumerate(memories)]
        for memory in memories:
            assert {hit.node.id for hit in memory.recall("member is here")} == set(ids)
        for memory in memories[:-1]:
            memory.close()
        assert {hit.node.id for hit in memories[-1].recall("member is here")} == set(ids)
    assert sorted(in_milvus(stack.milvus_uri, ns=scope.ns)) == sorted(ids)


def test_memories_indexed_by_a_process_with_another_model_are_still_found(settings: Configure, stack: Servers) -> None:
    # Given a process that leaves indexing to others
    scope = biem.Scope(user="two models")
    with (
        biem.connect(settings(queue="none"), scope=scope, embedder=WordEmbedder()) as reader,
        biem.connect(settings(), scope=scope, embedder=WordEmbedder(32, "other-words")) as worker,
    ):
        # When the worker of a process with another model indexes what it wrote
        written = reader.remember("The lighthouse was built in 1812")
        assert worker.flush()
        assert worker.get(written).status == "active"
        # Then it is not lost to the writer
        assert [hit.node.id for hit in reader.recall("lighthouse built")] == [written]


@pytest.mark.req("X44", partly="another dimension under the same name")
def test_an_embedder_whose_name_had_another_dimension_before_is_refused(settings: Configure) -> None:
    # Given vectors of a model
    scope, name = biem.Scope(user=uuid.uuid4().hex), f"model-{uuid.uuid4().hex}"
    with biem.connect(settings(), scope=scope, embedder=WordEmbedder(64, name)) as memory:
        memory.remember("The lighthouse was built in 1812", wait=True)

    # When a model of that name has another dimension / Then no one may work with it, and the old one goes on
    with pytest.raises(EmbedderMismatch, match="32-dimensional vectors now, and 64-dimensional"):
        biem.connect(settings(), scope=scope, embedder=WordEmbedder(32, name))
    with biem.connect(settings(), scope=scope, embedder=WordEmbedder(64, name)) as memory:
        memory.remember("The lighthouse was built in 1812, they say", wait=True)


def test_statistics_are_shown_although_the_embedder_does_not_fit(
    settings: Configure,
    environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    # Given vectors of a model, and one of that name with another dimension
    user, name = uuid.uuid4().hex, f"model-{uuid.uuid4().hex}"
    with biem.connect(settings(), scope=biem.Scope(user=user), embedder=WordEmbedder(64, name)) as memory:
        memory.remember("The lighthouse was built in 1812", wait=True)
    for variable, value in environment.items():
        monkeypatch.setenv(variable, value)
    # When statistics are asked for
    code = run(["stats", "--json", "--user", user], WordEmbedder(32, name))
    # Then what is kept is counted all the same, and what is wrong is said
    told = json.loads(capsys.readouterr().out)
    assert (code, told["memories"], told["active"]) == (0, 1, 1)
    assert "32-dimensional vectors now, and 64-dimensional" in told["trouble"]


def test_a_timeout_of_the_index_says_why_and_what_was_stored(stack: Servers) -> None:
    # Given an embedder that refuses some texts
    refusing = WordEmbedder()
    refusing.refused = ("lighthouse", "It is")
    with system(stack, encode=EncodePolicy(max_attempts=1)) as town, town.connect(embedder=refusing) as memory:
        # When one waits for memories / Then the reason is shown at once, and they are there
        with pytest.raises(NotIndexed, match="cannot be embedded") as alone:
            memory.remember("The lighthouse was built in 1812", wait=True)
        with pytest.raises(NotIndexed, match="2 memories, first") as many:
            memory.remember_many([{"text": "It is white"}, {"text": "It is tall"}], wait=True)
        assert len(many.value.ids) == 2
        for memory_id in (*alone.value.ids, *many.value.ids):
            assert memory.get(memory_id).status == "pending"


# -- scope ------------------------------------------------------------------------------------------------------------


@pytest.mark.req("C24", partly="what a recall may read")
def test_a_project_reads_the_users_own_level_and_no_other(memory: biem.Memory) -> None:
    own, project, sibling = memory, memory.scope(project="p"), memory.scope(project="q")
    stranger = memory.scope(user="stranger", project="p")
    tenant = memory.scope(tenant="elsewhere")
    for scope, name in (
        (own, "own"),
        (project, "project"),
        (sibling, "sibling"),
        (stranger, "stranger"),
        (tenant, "tenant"),
    ):
        scope.remember(f"The secret of {name}")
    for _ in ("pending", "indexed"):
        assert sorted(texts(project.recall("secret"))) == ["The secret of own", "The secret of project"]
        assert sorted(texts(sibling.recall("secret"))) == ["The secret of own", "The secret of sibling"]
        assert texts(own.recall("secret")) == ["The secret of own"]
        assert texts(tenant.recall("secret")) == ["The secret of tenant"]
        assert texts(stranger.recall("secret")) == ["The secret of stranger"]
        assert memory.flush()
    scopes = {hit.node.text: hit.node.scope for hit in project.recall("secret")}
    assert scopes == {"The secret of own": own.bound_to, "The secret of project": project.bound_to}


@pytest.mark.req("X39")
def test_injection_strings_are_ordinary_names(memory: biem.Memory, stack: Servers) -> None:
    tenant = memory.bound_to.user
    scopes = [memory.scope(tenant=tenant, user=name, project=name) for name in NAMES]
    ids = [
        scope.remember(f"Secret {n}", speaker=name, conversation=name, tags=[name.strip()], source=name, ref=name)
        for n, (scope, name) in enumerate(zip(scopes, NAMES, strict=True))
    ]
    for _ in ("pending", "indexed"):
        for scope, name, own in zip(scopes, NAMES, ids, strict=True):
            assert [hit.node.id for hit in scope.recall("secret", top_k=50)] == [own], name
            where = {"speakers": [name], "conversations": [name], "tags": [name.strip()]}
            hits = scope.recall(f"secret {name}", **where)  # type: ignore[arg-type]
            assert [hit.node.id for hit in hits] == [own], name
            assert (hits[0].node.speaker, hits[0].node.ref, hits[0].node.scope.user) == (name, name, name)
            others = {"speakers": [other for other in NAMES if other != name]}
            assert scope.recall("secret", **others) == []  # type: ignore[arg-type]
        for scope in scopes:
            assert scope.flush()
    with psycopg.connect(stack.postgres_dsn) as connection:
        row = connection.execute("SELECT count(*) FROM scopes WHERE tenant = %s", (tenant,)).fetchone()
    assert row == (len(NAMES),)
    for name in ("", "  ", "a\0b", "\ud800", "n" * 257):
        with pytest.raises(biem.InvalidInput, match="user"):
            memory.scope(user=name)


@pytest.mark.req("X40")
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 2**32 - 1), plans=st.lists(st.text("wrecp", min_size=4, max_size=12), min_size=2, max_size=2)
)
def test_two_users_at_the_same_time_never_see_each_other(memory: biem.Memory, seed: int, plans: list[str]) -> None:
    # Given two users of one Memory, who say the same words, each in its own order; as messages, because of facts
    # a new password supersedes the old one
    names = [uuid.uuid4().hex for _ in plans]
    began = threading.Barrier(2)

    def live(name: str, plan: str) -> None:
        mine = memory.scope(tenant=memory.bound_to.user, user=name)
        ids: list[str] = []
        began.wait()
        for step in plan:
            if step == "w":
                ids.append(mine.remember(f"The password is {name} {len(ids)}", conversation="c"))
            elif step == "e" and ids:
                assert mine.erase(ids.pop()).memories == 1
            elif step == "p":
                project = mine.scope(project="p")
                assert {hit.node.scope.user for hit in project.recall("password")} <= {name}
            else:
                hits = mine.recall("the password is", top_k=50)
                assert {hit.node.id for hit in hits} == set(ids)
                assert {hit.node.scope.user for hit in hits} <= {name}
                assert all(name in text for text in texts(hits))

    with ThreadPoolExecutor(2) as threads:
        for done in [threads.submit(live, name, plan) for name, plan in zip(names, plans, strict=True)]:
            done.result()
