"""AIMate's managers and helpers, each built from fakes of its ports and nothing else, and doing its work with them."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import nullcontext
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest

from biem.adapters.analyzers import RuleAnalyzer
from biem.domain.mirror.root import MirrorFile, MirrorRoot
from biem.domain.node import Hit, Hits, Node
from biem.domain.note import FileStat
from biem.domain.observing.category import BUILT_IN, categories_of
from biem.domain.paging import Page
from biem.domain.policies.context import ContextPolicy
from biem.domain.policies.layers import BuilderPolicy, LayerPolicy
from biem.domain.policies.sessions import SessionPolicy
from biem.domain.policies.writing import WritePolicy
from biem.domain.scope import Scope
from biem.domain.sessions.session import Appended, ChatSession, SessionMessage
from biem.domain.sessions.trimming import Outline, Slice
from biem.domain.tokens import estimate_tokens
from biem.engine.context.block import Context
from biem.engine.query.listing import MemoryList
from biem.engine.recall.rerank import Choice
from biem.engine.remember.hot_write_behind import HotFeed
from biem.engine.remember.writer import Writer
from biem.engine.sleep.jobs import BackgroundJob, JobRunner
from biem.errors import InvalidInput
from biem.layers.builder import WindowBuilder, WindowParts
from biem.layers.maintain import maintain
from biem.layers.mirror.incoming import Incoming
from biem.layers.mirror.outgoing import Outgoing
from biem.layers.mirror.sync import MirrorSync
from biem.layers.observe import Observer
from biem.layers.sessions import Sessions, SessionSystem
from biem.layers.shelf import LayerShelf, ShelfSystem
from biem.layers.trim import Trimmer
from biem.ports import Write, Written
from biem.ports.files import Walk
from biem.ports.layers.mirror import StaleFile
from biem.ports.layers.sessions import NewMessage, Shelf, StoredMessage, Summable
from biem.ports.readers import Listed
from biem.telemetry import Telemetry
from tests.support.fakes import START, HeldClock
from tests.unit.engine.encode.test_worker import Room as EncodingRoom
from tests.unit.engine.life.test_retention import SCOPE as OTHER
from tests.unit.engine.life.test_retention import Due, aged, lifecycle
from tests.unit.engine.recall.test_profiles import Shelf as RankedShelf
from tests.unit.engine.recall.test_profiles import falling
from tests.unit.engine.sleep.test_jobs import Locks

SCOPE = Scope(user="ann", project="lake")
ANALYZER = RuleAnalyzer()
pytestmark = pytest.mark.req("M19")


class Memories:
    """What a writer stores, listed again: the ports `Records` and `Lister`, as far as managers use them."""

    def __init__(self) -> None:
        self.writes: list[Write] = []

    def remember(self, scope: Scope, writes: Sequence[Write]) -> list[Written]:
        assert scope == SCOPE
        self.writes += writes
        return [Written(write.id, True) for write in writes]

    def page(self, scope: Scope, wanted: Listed, order: str, limit: int, after: str) -> Page[Node]:
        return Page(tuple(self._there(wanted))[:limit], "")

    def count(self, scope: Scope, wanted: Listed) -> int:
        return len(list(self._there(wanted)))

    def _there(self, wanted: Listed) -> Iterator[Node]:
        """By layer; with a condition on the category only what has one."""
        for write in self.writes:
            draft = write.draft
            if draft.layer == wanted.layer and (not wanted.where.metadata or "category" in draft.metadata):
                yield node(
                    write.id,
                    draft.text,
                    layer=draft.layer,
                    kind=draft.kind,
                    metadata=draft.metadata,
                    expires_at=draft.expires_at,
                )


def node(key: str, text: str, **values: Any) -> Node:
    """A memory of the scope."""
    row: dict[str, Any] = {"kind": "knowledge", "status": "active", "layer": "long_term", "at": START}
    return Node(id=key, scope=SCOPE, text=text, created_at=START, **(row | values))


@pytest.fixture
def memories() -> Memories:
    return Memories()


@pytest.fixture
def writer(memories: Memories) -> Iterator[Writer]:
    """A writer without a server: its cache takes what it is given, and no worker is woken."""
    nowhere: Any = SimpleNamespace(push=lambda *_: None)
    feed = HotFeed(nowhere, window=8)
    yield Writer(
        records=cast(Any, memories),
        hot=feed,
        queue=cast(Any, SimpleNamespace(wake=lambda: None)),
        analyzer=ANALYZER,
        clock=HeldClock(),
        policy=WritePolicy(),
        telemetry=Telemetry(),
    )
    feed.close()


# -- managers: core, short-term, long-term, session --------------------------------------------------------------------


def test_each_layer_has_a_manager_that_adds_lists_and_counts_its_memories(memories: Memories, writer: Writer) -> None:
    # Given a manager for each layer, and a message of a conversation, which is short-term without a category
    told: list[str] = []
    system = ShelfSystem(
        writer=writer, listing=MemoryList(cast(Any, memories), HeldClock()), categories=categories_of({}, 14)
    )
    shelves = {
        name: LayerShelf(system, SCOPE, name, lambda: told.append("wrote"))
        for name in ("core", "short_term", "long_term")
    }
    writer.remember(SCOPE, "Good morning", kind="event")
    # When something is added to each
    shelves["core"].add("I indent with tabs", reason="diffs are smaller")
    shelves["short_term"].add("Ben is away until Friday")
    shelves["short_term"].add("Pay the ferry", category="task")
    shelves["long_term"].add("The ledger is in PostgreSQL", category="decision", tags=["ledger"])
    # Then each has its own, under the category that it stands for, and only short-term ones expire
    found = {name: shelf.list().items for name, shelf in shelves.items()}
    assert {name: [one.text for one in nodes] for name, nodes in found.items()} == {
        "core": ["I indent with tabs"],
        "short_term": ["Ben is away until Friday", "Pay the ferry"],
        "long_term": ["The ledger is in PostgreSQL"],
    }
    assert {name: shelf.count() for name, shelf in shelves.items()} == {"core": 1, "short_term": 2, "long_term": 1}
    categories = {one.text: (one.metadata["category"], one.kind) for nodes in found.values() for one in nodes}
    assert list(categories.values()) == [
        ("preference", "knowledge"), ("note", "event"), ("task", "task"), ("decision", "knowledge"),
    ]  # fmt: skip
    assert {one.expires_at for one in found["short_term"]} == {START + timedelta(days=14)}
    assert {one.expires_at for one in (*found["core"], *found["long_term"])} == {None}
    assert [(one.draft.reason, one.draft.tags) for one in memories.writes if one.draft.reason or one.draft.tags] == [
        ("diffs are smaller", ()),
        ("", ("ledger",)),
    ]
    assert len(told) == 4


def test_a_layer_or_a_category_that_is_none_is_refused_with_those_that_are(memories: Memories, writer: Writer) -> None:
    system = ShelfSystem(
        writer=writer, listing=MemoryList(cast(Any, memories), HeldClock()), categories=categories_of({}, 14)
    )
    with pytest.raises(
        InvalidInput, match=r"layer 'session' is unknown.*core, short_term, long_term.*memory\.sessions"
    ):
        LayerShelf(system, SCOPE, "session", lambda: None)
    with pytest.raises(InvalidInput, match="category 'mood' is unknown; choose one of preference"):
        LayerShelf(system, SCOPE, "core", lambda: None).add("I hum", category="mood")
    with pytest.raises(InvalidInput, match="text must be a string"):
        LayerShelf(system, SCOPE, "short_term", lambda: None).add(cast(Any, 7))
    assert memories.writes == []


class Chats:
    """One open session in a list: the port `SessionRecords`, as far as a talk that is trimmed uses it."""

    def __init__(self) -> None:
        self.said: list[SessionMessage] = []
        self.head = 1
        self.trimmed_at = 0
        self.written: list[Write] = []

    def get(self, scope: Scope, session_id: str) -> ChatSession:
        held = [one for one in self.said if one.seq >= self.head]
        return ChatSession(
            id=session_id, scope=scope, name="", status="open", opened_at=START, closed_at=None, archived_at=None,
            messages=len(self.said), tokens=sum(one.tokens for one in held),
            all_tokens=sum(one.tokens for one in self.said), head_seq=self.head, next_seq=len(self.said) + 1,
            round=self.said[-1].round if self.said else 0,
        )  # fmt: skip

    def open(self, scope: Scope, name: str, at: datetime, metadata: Mapping[str, Any], *, alone: bool) -> ChatSession:
        return self.get(scope, ID)

    def append(self, scope: Scope, message: NewMessage, write: Write | None) -> StoredMessage:
        turn = (self.said[-1].round if self.said else 0) + (message.role == "user")
        seq = len(self.said) + 1
        memory_id = None if write is None else write.id
        self.said.append(
            SessionMessage(seq, message.role, message.content, message.tokens, turn, message.at, memory_id=memory_id)
        )
        if write is not None:
            self.written.append(write)
        written = None if write is None else Written(write.id, True)
        return StoredMessage(Appended(seq, memory_id, self.get(scope, message.session_id).tokens), written)

    def system(self, scope: Scope, session_id: str) -> list[SessionMessage]:
        return [one for one in self.said if one.role == "system"]

    def newest(self, scope: Scope, session: ChatSession, before: int, limit: int) -> list[SessionMessage]:
        held = [one for one in self.said if self.head <= one.seq < before and one.role != "system"]
        return held[::-1][:limit]

    def outline(self, scope: Scope, session_id: str, protected: int) -> list[Outline]:
        last = self.said[-1].round
        return [
            Outline(one.seq, one.round, one.tokens, len(one.content))
            for one in self.said
            if one.seq >= self.head and one.round <= last - protected and one.role != "system"
        ]

    def summable(self, scope: Scope, session_id: str, part: Slice) -> list[Summable]:
        return [
            Summable(one.seq, one.role, one.content, one.at, str(one.memory_id), "", "trusted")
            for one in self.said
            if part.first <= one.seq <= part.last
        ]

    def trim(
        self, scope: Scope, session: ChatSession, part: Slice, summary: Write | None, sources: Sequence[Summable]
    ) -> Written | None:
        assert summary is not None
        self.head = part.last + 1
        self.written.append(summary)
        return Written(summary.id, True)

    def trimmed(self, scope: Scope, session: ChatSession) -> None:
        self.trimmed_at = session.next_seq


ID = "018f3a5e-7c01-7000-8000-000000000001"


def talk(chats: Chats, writer: Writer, policy: SessionPolicy) -> tuple[Sessions, list[str]]:
    """The manager of sessions over fakes, and what it called when a session was full."""
    full: list[str] = []
    trimmer = Trimmer(
        sessions=cast(Any, chats),
        writer=writer,
        analyzer=ANALYZER,
        exclusive=Locks(),
        clock=HeldClock(),
        policy=policy,
        telemetry=Telemetry(),
        ttl_days=14,
    )
    system = SessionSystem(
        records=cast(Any, chats),
        writer=writer,
        trimmer=trimmer,
        count=estimate_tokens,
        clock=HeldClock(),
        policy=policy,
        limits=WritePolicy(),
        telemetry=Telemetry(),
        calling=nullcontext,
        full=lambda: full.append("full"),
    )
    return Sessions(system, SCOPE, lambda: None), full


def test_sessions_are_kept_and_trimmed_without_any_server(writer: Writer) -> None:
    # Given a manager of sessions and a trimmer
    chats = Chats()
    sessions, full = talk(chats, writer, SessionPolicy(max_tokens=100, protected_rounds=1))
    chat = sessions.open()
    # When a talk reaches the maximum
    sessions.append(chat.id, "system", "Be short.", tokens=5)
    for number in range(4):
        sessions.append(chat.id, "user", f"Bus {number} leaves from the old bridge at {number}:40.", tokens=25)
    assert full == ["full"]
    # Then a window is what fits, and trimming leaves half, with a summary that expires
    assert [one.content[:5] for one in sessions.window(chat.id, 60).messages] == ["Be sh", "Bus 2", "Bus 3"]
    assert sessions.trim(chat.id) == 1
    assert chats.get(SCOPE, ID).tokens <= 50
    assert chats.trimmed_at == 6
    summary = chats.written[-1].draft
    assert "old bridge" in summary.text
    assert summary.metadata["category"] == "context"
    assert summary.expires_at == START + timedelta(days=14)


# -- helpers -----------------------------------------------------------------------------------------------------------


def test_the_classifier_needs_rules_and_a_writer_alone(memories: Memories, writer: Writer) -> None:
    classifier = Observer(policy=LayerPolicy(), analyzer=ANALYZER, writer=writer, telemetry=Telemetry())
    units = classifier.observe(SCOPE, "我习惯用 Tab 缩进。We decided to use gRPC for the ledger. How are you?")
    assert [(one.category, one.layer, one.level) for one in units] == [
        ("preference", "core", "user"),
        ("decision", "long_term", "project"),
    ]
    assert memories.writes == []
    [stored] = classifier.store(SCOPE, units[1:])
    assert [one.id for one in memories.writes] == [stored.memory_id]


def test_the_retriever_searches_and_ranks_what_fakes_find() -> None:
    likeness = falling("m", 12)
    hits = RankedShelf(dense=likeness, content=likeness, words={"w": 3.0}).recall("aimate", 5)
    assert [hit.node.id for hit in hits] == ["w", "m00", "m01", "m02", "m03"]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


class Found:
    """What a window is built of: the recaller, the section of found memories, and the shelf."""

    def __init__(self) -> None:
        self.counted: list[str] = []

    def submit(self, work: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(work())
        return done

    def recall(self, scope: Scope, query: str, **_: Any) -> Hits:
        return Hits([Hit(node("ferry", "The ferry leaves at nine"), 0.9, {})])

    def accessed(self, scope: Scope, ids: Sequence[str]) -> None:
        self.counted += ids

    def wanted(self, most: int) -> int:
        return most

    def keep(self, scope: Scope, query: str, hits: Hits, most: int) -> Hits:
        return hits

    def brief(self, scope: Scope, query: str, hits: Hits, **_: Any) -> Context:
        return Context("\n".join(hit.node.text for hit in hits), tuple(hits))

    def read(self, scope: Scope, most: int) -> Shelf:
        core = node("tabs", "I indent with tabs", layer="core")
        task = node("pay", "Pay the ferry", kind="task", layer="short_term", metadata={"category": "task"})
        return Shelf((core,), 1, (task,), 1)


def test_the_context_builder_puts_together_what_fakes_have(writer: Writer) -> None:
    # Given a builder over fakes, and a session of one round
    found, chats = Found(), Chats()
    here = cast(Any, found)
    parts = WindowParts(
        recaller=here, sections=here, relevance=here, notes=cast(Any, None), records=here, shelf=here,
        count=estimate_tokens, clock=HeldClock(), telemetry=Telemetry(),
    )  # fmt: skip
    builder = WindowBuilder(
        parts,
        policy=BuilderPolicy(notes_share=0.0),
        layers=LayerPolicy(),
        context=ContextPolicy(),
        choice=Choice("hybrid"),
    )
    sessions, _ = talk(chats, writer, SessionPolicy())
    chat = sessions.open()
    sessions.append(chat.id, "user", "When do we leave?", remember=False)
    # When a window is built / Then it has core, what was found, tasks and the talk, in this order
    built = builder.build(SCOPE, "ferry?", sessions, budget=2_000, session=chat.id, language="en")
    places = [built.system.index(text) for text in ("indent with tabs", "leaves at nine", "Pay the ferry")]
    assert places == sorted(places)
    assert built.messages == ({"role": "user", "content": "When do we leave?"},)
    assert found.counted == ["ferry"]
    assert [hit.node.id for hit in built.hits] == ["tabs", "ferry", "pay"]


def test_the_lifecycle_runs_its_steps_on_fakes() -> None:
    # Given a memory that was used enough on its last day, one that was not, and too many of them
    life = lifecycle(Due(aged(accesses=5, untouched_days=60), aged(untouched_days=60), crowd=2))

    def run(scope: Scope) -> Mapping[str, int]:
        done = life.run(scope)
        names = ("promoted", "expired", "unused", "crowded_out", "limited")
        return {name: getattr(done, name) for name in names}

    runner = JobRunner(
        [BackgroundJob("lifecycle", run, 3_600.0)], exclusive=Locks(), clock=HeldClock(), telemetry=Telemetry()
    )
    # When they are maintained / Then each step is counted
    done = maintain(runner, OTHER)
    assert done.counts == {"promote": 1, "expire": 1, "archive": 0, "limits": 2}
    assert done.failed == ()


class Disk:
    """A root with its records and its folder in memory: `MirrorRecords`, `Files` and `MirrorFolder`."""

    def __init__(self, root: MirrorRoot, *nodes: Node) -> None:
        self.root = root
        self.there = {one.id: one for one in nodes}
        self.kept: dict[str, MirrorFile] = {}
        self.data: dict[str, bytes] = {}

    def roots(self, scopes: Sequence[Scope] | None = None) -> list[MirrorRoot]:
        return [self.root]

    def walk(self, root: str, exclude: Sequence[str] = (), *, obey: bool = True) -> Walk:
        return Walk(tuple(map(self._stat, sorted(self.data))))

    def files(self, root: MirrorRoot) -> dict[str, MirrorFile]:
        return dict(self.kept)

    def bases(self, root: MirrorRoot, paths: Sequence[str]) -> dict[str, MirrorFile]:
        return {path: self.kept[path] for path in paths if path in self.kept}

    def drop(self, root: MirrorRoot, paths: Sequence[str]) -> None:
        for path in paths:
            del self.kept[path]

    def put(self, root: MirrorRoot, files: Sequence[MirrorFile]) -> None:
        self.kept.update({file.path: file for file in files})

    def stale(self, root: MirrorRoot, limit: int) -> list[StaleFile]:
        paths = {file.memory_id: file.path for file in self.kept.values()}
        return [
            StaleFile(key, paths.get(key), True)
            for key, one in self.there.items()
            if key not in paths or self.kept[paths[key]].revision != one.revision
        ]

    def nodes(self, scope: Scope, ids: Sequence[str]) -> dict[str, Node]:
        return {key: self.there[key] for key in ids}

    def whereabouts(self, scope: Scope, ids: Sequence[str]) -> dict[str, Any]:
        return {}

    def synced(self, root: MirrorRoot, at: datetime, report: Mapping[str, Any]) -> None:
        self.report = report

    def is_created(self, root: str) -> bool:
        return True

    def tidy(self, root: str, older_s: float) -> int:
        return 0

    def settle(self, root: str, paths: Sequence[str]) -> None:
        assert set(paths) <= self.data.keys()

    def write(self, root: str, path: str, data: bytes, expected: FileStat | None) -> FileStat | None:
        assert (expected is None) == (path not in self.data)
        self.data[path] = data
        return self._stat(path)

    def read(self, root: str, path: str, most: int) -> Any:
        return SimpleNamespace(stat=self._stat(path), data=self.data[path])

    def _stat(self, path: str) -> FileStat:
        return FileStat(path, len(self.data[path]), 0, 1)


def test_the_syncer_brings_a_folder_of_memory_up_to_date() -> None:
    # Given a syncer whose records and folder are fakes
    root = MirrorRoot(id="root", scope=SCOPE, path="/lake", host="here", kind="project")
    disk = Disk(root, node(ID, "The ledger is in PostgreSQL", metadata={"category": "decision"}))
    here = cast(Any, disk)
    outgoing = Outgoing(records=here, folder=here, categories=BUILT_IN)
    nothing = cast(Any, None)
    syncer = MirrorSync(
        records=here, files=here, folder=here, outgoing=outgoing, exclusive=Locks(), clock=HeldClock(),
        incoming=Incoming(
            records=here, writer=nothing, reviser=nothing, lifecycle=nothing, outgoing=outgoing, categories=BUILT_IN
        ),
        sessions=cast(Any, SimpleNamespace(update=lambda _: 0)), telemetry=Telemetry(), max_text_bytes=1_000,
    )  # fmt: skip
    # When it syncs / Then a memory without a file gets one, and a second sync writes nothing
    assert syncer.sync(root).written == 1
    [path] = disk.data
    assert path.startswith("long_term/decisions/20260504_decision_")
    assert disk.data[path].decode().endswith("\n---\n\nThe ledger is in PostgreSQL\n")
    assert syncer.sync(root).altered == 0


def test_what_embeds_works_on_fakes() -> None:
    room = EncodingRoom()
    ids = [room.outbox.add(text) for text in ("The ferry leaves at nine", "Pay the ferry")]
    room.work()
    assert room.embedder.calls == [["The ferry leaves at nine", "Pay the ferry"]]
    assert room.indexed == sorted(ids)
