"""What AIMate's design promises of a memory that works on its own, played through its ordinary ways."""

import os
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

import biem
from biem.aimate import MemorySystem
from biem.bootstrap import Servers
from biem.config import Settings
from biem.domain.policies.layers import LayerPolicy
from biem.domain.policies.sessions import SessionPolicy
from biem.errors import ConfigError
from biem.plugin import BIEMContextPlugin
from biem.telemetry import Span
from tests.support.fakes import HeldClock, WordEmbedder, eventually
from tests.support.servers import Configure, Testbed

TALKER = """
import os, signal, sys
from biem.aimate import MemorySystem
from tests.support.fakes import WordEmbedder
user, folder = sys.argv[1:]
for number in range(3):
    child = os.fork()  # from a process that has only loaded code
    if child == 0:
        system = MemorySystem(embedder=WordEmbedder())
        system.set_project(folder)
        system.add_conversation("user", f"message {number} of the walk", 7)
        os.kill(os.getpid(), signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL
"""


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder that no other test has: files are written there."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture(scope="module")
def connected(settings: Configure) -> Iterator[tuple[biem.Memory, HeldClock]]:
    """A memory whose clock a test moves, and whose operations are recorded; each test takes its own user."""
    clock = HeldClock()
    used = settings(metrics_rows=True, layers=LayerPolicy(categories=INCIDENT))
    with biem.connect(used, embedder=WordEmbedder(), clock=clock) as memory:
        yield memory, clock


INCIDENT: dict[str, Any] = {
    "incident": {
        "kind": "event",
        "layer": "long_term",
        "ttl_days": 30,
        "folder": "incidents",
        "patterns": ["outage", "故障"],
    }
}
"""A category of a user's own: what it is, how it is recognised, and how it is kept."""


@pytest.mark.req("M3", "M12")
def test_what_was_said_before_each_kill_is_there_when_the_project_is_opened_again(
    settings: Configure, environment: dict[str, str], tmp_path: Path
) -> None:
    # Given a program that is killed right after each message
    user, folder = uuid.uuid4().hex, tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    done = subprocess.run(
        [sys.executable, "-c", TALKER, user, str(folder)],
        env={**os.environ, **environment, "BIEM_USER": user, "BIEM_QUEUE": "none"},
        cwd=Path(__file__).parents[3],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    # When the project is opened again / Then the last conversation is back, complete and in order
    with MemorySystem(settings=settings(profile="aimate", user=user), embedder=WordEmbedder()) as system:
        chat = system.set_project(folder)
        said = [one.content for one in system.memory.sessions.messages(chat.id)]
        assert said == [f"message {number} of the walk" for number in range(3)]
        assert [one["content"] for one in system.build_context("Where do we walk?").messages] == said
        assert (chat.messages, chat.tokens) == (3, 21)


@pytest.mark.req("G4", "G12", "G14", "M1", "M44")
def test_a_dialogue_without_a_command_is_observed_recalled_reinforced_and_consolidated(
    connected: tuple[biem.Memory, HeldClock],
) -> None:
    memory, clock = connected
    scope = memory.scope(user=uuid.uuid4().hex)
    trace: list[tuple[str, str, int]] = []

    def note(span: Span) -> None:
        trace.append((span.name, str(span.attributes.get("job", "")), threading.get_ident()))

    memory.telemetry.attach(note)
    # Given an agent's loop that passes on messages, and asks for context before each answer
    agent = BIEMContextPlugin(scope, conversation="work", sessions=True, observe=True, auto_feedback=True)

    def turn(said: str, reply: str) -> str:
        block = agent.prepare_context(said)
        agent.record_user_message(said)
        agent.record_assistant_message(reply)
        return block

    turn("I always deploy on Tuesdays because Ann is in the office then.", "Noted.")
    turn("The staging server is called Heron.", "OK.")
    turn("How are you?", "Fine.")
    assert scope.flush()
    block = turn("What is the staging server called?", "It is Heron.")
    assert agent.window(40)[-1]["content"] == "It is Heron."

    # Then what was stated is kept without being asked, small talk is not, and what is asked for is recalled
    core = scope.core()
    assert [(node.text, node.reason) for node in core] == [("I always deploy on Tuesdays", "Ann is in the office then")]
    assert 'I always deploy on Tuesdays" (reason: "Ann is in the office then")' in block
    assert "called Heron" in block
    assert "How are you" not in block
    # And what the reply made use of is reinforced
    [heron] = [node for node in scope.list(limit=20).items if node.text == "The staging server is called Heron."]
    assert heron.useful_count == 1

    # When an hour passes / Then jobs consolidate and maintain, on their own threads
    at = len(trace)
    clock.advance(hours=2)
    wanted = {"build", "concepts", "merge", "crystallise", "links", "forget", "lifecycle", "sessions", "mirror"}
    eventually(lambda: wanted <= {job for name, job, _ in trace[at:] if name == "biem.sleep.job"})
    names = [name for name, _, _ in trace]
    observed, recalled, learnt = (names.index(name) for name in ("biem.observe", "biem.recall", "biem.feedback"))
    asked = recalled + names[recalled:].index("biem.recall")
    assert observed < learnt < at
    assert asked < learnt
    here = threading.get_ident()
    for name, foreground in (("biem.observe", True), ("biem.append", True), ("biem.sleep.job", False)):
        assert {thread == here for each, _, thread in trace if each == name} == {foreground}, name


@pytest.mark.req("M15")
def test_two_sessions_know_nothing_of_each_other_but_what_is_remembered(
    connected: tuple[biem.Memory, HeldClock],
) -> None:
    memory, _ = connected
    chats = memory.scope(user=uuid.uuid4().hex, project="shop").sessions
    # Given a session with messages / When a new one begins
    first = chats.open(exclusive=True)
    for number in range(5):
        chats.append(first.id, "user", f"crate {number} is heavy")
    chats.close(first.id)
    second = chats.open(exclusive=True)
    # Then it has none of them, and the old one is read in order, closed, and archived by the next maintenance
    assert chats.window(second.id).messages == ()
    assert [one.content for one in chats.messages(first.id)] == [f"crate {number} is heavy" for number in range(5)]
    owner = memory.scope(user=first.scope.user, project="shop")
    assert chats.get(first.id).status != "open"
    owner.maintain()
    eventually(lambda: chats.get(first.id).status == "archived")  # a worker may be at it
    assert owner.build_context("Where do we go?", session=second.id).messages == ()


@pytest.mark.req("M11", "M13", "M16")
def test_core_stays_for_ever_and_short_term_for_its_days_at_both_levels_and_in_every_session(
    connected: tuple[biem.Memory, HeldClock],
) -> None:
    memory, clock = connected
    user = memory.scope(user=uuid.uuid4().hex)
    project = user.scope(project="shop")
    # Given a preference, a rule and a role of the user, and tasks of the user and of a project
    core = [
        user.observe(said, store=True)[0]
        for said in ("I prefer short answers.", "Never suggest peanuts to me.", "Call me Robin.")
    ]
    assert [unit.category for unit in core] == ["preference", "rule", "persona"]
    [task] = project.observe("TODO: carry the crate into the barn", store=True)
    [own] = user.observe("TODO: buy stamps for the letters", store=True)
    old, new = project.sessions.open("old"), project.sessions.open("new")
    # When windows are built in two sessions / Then each begins with the core, and has the project's task
    for chat in (old, new):
        system = project.build_context("Where is the lake?", session=chat.id).system
        assert system.startswith("## Core Memories")
        assert all(unit.judgment in system for unit in core)
        assert "carry the crate" in system
    assert "stamps" in user.build_context("Where is the lake?").system
    # And short-term memories are found by their meaning, and by their time
    assert project.flush()
    assert task.memory_id in {hit.node.id for hit in project.recall("crate barn")}
    recent = project.timeline(since=clock.now() - timedelta(hours=1), limit=50).items
    assert task.memory_id in {node.id for node in recent}
    # When their 14 days are over / Then they are in no window and in the archive, and the core is as it was
    clock.advance(days=14)
    for scope, key in ((project, task.memory_id), (user, own.memory_id)):
        scope.maintain()
        assert (scope.get(key or "").status, scope.get(key or "").archive_reason) == ("archived", "expired")
    clock.advance(days=3_650)
    user.maintain()
    system = project.build_context("Where is the lake?").system
    assert all(unit.judgment in system for unit in core)
    assert "crate" not in system
    assert all(user.get(unit.memory_id or "").expires_at is None for unit in core)
    # And days are within bounds
    for days in (6, 31):
        with pytest.raises(ValueError, match="from 7 to 30"):
            LayerPolicy(ttl_days=days)


@pytest.mark.req("M54")
def test_maintenance_is_hourly_in_its_order_and_two_workers_do_not_run_it_twice(
    connected: tuple[biem.Memory, HeldClock], settings: Configure
) -> None:
    memory, clock = connected
    scope = memory.scope(user=uuid.uuid4().hex)
    ends = clock.now() + timedelta(days=1)
    key = scope.remember("carry a crate", kind="task", metadata={"category": "task"}, expires_at=ends)
    # Given a worker that maintains, and another one that wants to
    runner = memory._system.job_runner
    with (
        biem.connect(settings(queue="none"), scope=scope.bound_to, embedder=WordEmbedder(), clock=clock) as other,
        runner._exclusive.hold(scope.bound_to, "lifecycle") as granted,
    ):
        assert granted
        clock.advance(days=1, minutes=1)
        done = other.maintain()
        # Then it leaves that to the first
        assert [(one.name, one.reason) for one in done.failed] == [("lifecycle", "it runs already")]
        assert done.counts["expire"] == 0
    # When the first has ended / Then the steps are done once, in their order
    counts = scope.maintain().counts
    steps = ["promote", "expire", "archive", "limits", "sessions", "mirror", "notes", "integrity"]
    assert [step for step in counts if step in steps] == steps
    assert scope.get(key).archive_reason == "expired"
    # And they are due every hour on their own
    assert Settings().sleep.periods()["lifecycle"] == 3_600
    due = memory._system.schedule._rounds["lifecycle"]
    clock.advance(hours=1, minutes=1)
    eventually(lambda: due.due_at > clock.now())


@pytest.mark.req("M59")
def test_a_creation_is_classified_written_embedded_and_indexed(
    connected: tuple[biem.Memory, HeldClock], stack: Servers, tmp_path: Path
) -> None:
    memory, _ = connected
    scope = memory.scope(user=uuid.uuid4().hex, project="shop")
    # Given statements of several categories, in a project with a folder
    scope.mirror.add(tmp_path / "files")
    said = ("We decided to use gRPC.", "TODO: rename the endpoint", "This project uses poetry.")
    units = [unit for text in said for unit in scope.observe(text, store=True)]
    # When they are stored / Then each has its type and category, a file with front matter, a vector, and its metadata
    assert [unit.category for unit in units] == ["decision", "task", "project"]
    assert scope.flush()
    scope.mirror.sync()
    stats = scope.layer_stats()
    assert stats.indexed_count == stats.vector_count == len(units)
    for unit in units:
        file = scope.mirror.file(unit.memory_id or "")
        assert file is not None
        text = file.read_text(encoding="utf-8")
        assert text.startswith(f'---\nid: "{unit.memory_id}"\ntype: "{unit.layer}"\n')
        assert f'\ncategory: "{unit.category}"\n' in text
        with psycopg.connect(stack.postgres_dsn) as connection:
            row = connection.execute(
                "SELECT layer, file_path FROM memory_index WHERE id = %s", (unit.memory_id,)
            ).fetchone()
        assert row is not None
        assert row[0] == unit.layer
        assert str(file).endswith(row[1])


@pytest.mark.req("M60")
def test_a_search_looks_for_words_while_it_embeds_then_ranks_reads_and_counts(
    settings: Configure,
) -> None:
    # Given an embedder that waits, for a question, until the search for words has begun
    words = threading.Event()
    together: list[bool] = []

    class Waiting(WordEmbedder):
        def embed(self, texts: Any, role: Any) -> Any:
            if role == "query":
                together.append(words.wait(30))
            return super().embed(texts, role)

    user = uuid.uuid4().hex
    names: list[str] = []
    with MemorySystem(settings=settings(profile="aimate", user=user), embedder=Waiting()) as system:
        key = system.memory.remember("the blue barrel stands in the barn", kind="knowledge", layer="long_term")
        assert system.memory.flush()
        searcher: Any = system.memory._system.recaller._searcher
        index, original = searcher._index, searcher._index.words

        def begun(*arguments: Any) -> Any:
            words.set()
            return original(*arguments)

        index.words = begun
        system.memory.telemetry.attach(lambda span: names.append(span.name))
        try:
            hits = system.search("blue barrel", min_similarity=0.0)
        finally:
            index.words = original
        # Then both ran at once, and what was found is weighted, sorted, read and counted
        assert together[0]
        assert [hit.node.id for hit in hits] == [key], (hits.degraded, system.memory.diagnose())
        assert hits[0].node.text == "the blue barrel stands in the barn"
        assert [name for name in names if name in ("biem.recall.embed", "biem.recall")] == [
            "biem.recall.embed", "biem.recall",
        ]  # fmt: skip
        eventually(lambda: system.get(key).access_count == 1)


@pytest.mark.req("M64")
def test_each_operation_leaves_a_row_trimming_too(connected: tuple[biem.Memory, HeldClock], stack: Servers) -> None:
    memory, clock = connected
    scope = memory.scope(user=uuid.uuid4().hex)
    clock.advance(days=1)
    since = clock.now()

    def rows() -> list[Any]:
        query = "SELECT operation, duration_ms FROM metrics WHERE timestamp >= %s ORDER BY id"
        with psycopg.connect(stack.postgres_dsn) as connection:
            return connection.execute(query, (since,)).fetchall()

    # Given a session that is full / When there is an operation of each kind
    chat = scope.sessions.open()
    scope.sessions.append(chat.id, "user", "The lake lies behind the hill.", tokens=100_000)
    for number in range(4):
        scope.sessions.append(chat.id, "user", f"Crate {number} is heavy.", tokens=10_000)
    scope.sessions.trim(chat.id)
    scope.recall("Where is the lake?")
    scope.context("Where is the lake?")
    scope.build_context("Where is the lake?", session=chat.id)

    # Then each left one row, the window as one operation
    def counts() -> dict[str, int]:
        found = [row[0] for row in rows()]
        return {name: found.count(name) for name in found}

    eventually(lambda: counts() == {"store": 5, "trim": 1, "retrieve": 3, "context_build": 2})
    assert all(row[1] > 0 for row in rows())


@pytest.mark.req("M70", "M4")
def test_a_category_of_a_users_own_is_recognised_kept_and_filed(
    connected: tuple[biem.Memory, HeldClock], tmp_path: Path
) -> None:
    memory, clock = connected
    scope = memory.scope(user=uuid.uuid4().hex, project="shop")
    scope.mirror.add(tmp_path / "files")
    # Given a category that the settings add / When sentences meet its patterns
    texts = ("The outage of the gateway began at nine.", "支付网关昨天出现故障。")
    units = [unit for text in texts for unit in scope.observe(text, store=True)]
    # Then they are kept as it says, filed in its folder, found by it, and end with its days
    assert {(unit.category, unit.rule, unit.layer, unit.kind) for unit in units} == {
        ("incident", "pattern:incident", "long_term", "event")
    }
    scope.mirror.sync()
    assert len(list((tmp_path / "files" / "incidents").glob("*_incident_*.md"))) == 2
    assert scope.flush()
    found = scope.recall("gateway", where={"category": "incident"})
    assert {hit.node.id for hit in found} == {unit.memory_id for unit in units}
    node = scope.get(units[0].memory_id or "")
    assert node.expires_at is not None
    assert node.expires_at - clock.now() == timedelta(days=30)
    assert scope.observe("Was there an outage?") == ()


@pytest.mark.req("M76")
def test_an_embedder_of_another_dimension_than_configured_is_refused_at_start(
    settings: Configure, tmp_path: Path
) -> None:
    # Given a configuration that names a dimension
    file = tmp_path / "config.yaml"
    file.write_text("embedding: {dimension: 1536}\nstorage: {mirror: false}\n")
    used = settings(profile="aimate", user=uuid.uuid4().hex)
    # When the embedder has another one / Then it says so before anything is stored
    system = MemorySystem(file, settings=used, embedder=WordEmbedder(dim=64))
    with pytest.raises(ConfigError, match=r"1536.* 64 "):
        system.initialize()
    # And with its own it works, and without vectors it is not asked
    for text in ("{dimension: 64}", "{dimension: 1536, enabled: false}"):
        file.write_text(f"embedding: {text}\nstorage: {{mirror: false}}\n")
        with MemorySystem(file, settings=used, embedder=WordEmbedder(dim=64)) as opened:
            assert opened.add_conversation("user", "hello").seq > 0


@pytest.mark.req("C33")
def test_a_session_warns_is_critical_and_is_trimmed_to_half_by_one_key(settings: Configure) -> None:
    # Given sessions of 1,000 tokens
    small = SessionPolicy(max_tokens=1_000)
    scope = biem.Scope(user=uuid.uuid4().hex)
    with biem.connect(settings(session=small, queue="none"), scope=scope, embedder=WordEmbedder()) as memory:
        chat = memory.sessions.open()
        job = memory._system.job_runner.jobs["sessions"]
        levels, held = [], []
        for tokens in (500, 199, 1, 149, 1, 149, 1):
            memory.sessions.append(chat.id, "user", "The crate is heavy.", tokens=tokens)
            found = memory.check_warnings(chat.id)
            levels.append(found[0].level if found and found[0].name == "session" else "")
            job.run(memory.bound_to)
            held.append(memory.sessions.get(chat.id).tokens)
    # Then it warns from .7, is critical from .85, and is trimmed from 1.0 on, to .5
    assert levels == ["", "", "warning", "warning", "critical", "critical", "critical"]
    assert held[:-1] == [500, 699, 700, 849, 850, 999]
    assert held[-1] <= 500


@pytest.mark.req("G6", "G8", "G9", "G13")
def test_a_unit_is_stored_and_returned_with_reason_and_tags_and_its_reason_gives_it_energy(
    connected: tuple[biem.Memory, HeldClock],
) -> None:
    memory, _ = connected
    scope = memory.scope(user=uuid.uuid4().hex)
    # Given small talk and three preferences: with a reason, with a short one, with none
    assert scope.observe("Hi there! Lovely weather. How was the film?", store=True) == ()
    said = (
        "I never eat nuts because they make me ill for three whole days.",
        "I never eat prunes because yuck it.",
        "I never eat figs.",
    )
    units = [unit for text in said for unit in scope.observe(text, store=True)]
    assert [unit.judgment for unit in units] == ["I never eat nuts", "I never eat prunes", "I never eat figs"]
    # When they are read and recalled / Then judgment, reason and tags are there
    assert scope.flush()
    nuts = scope.get(units[0].memory_id or "")
    assert (nuts.text, nuts.reason) == ("I never eat nuts", "they make me ill for three whole days")
    assert nuts.tags == units[0].tags
    hit = next(hit for hit in scope.recall("nuts") if hit.node.id == nuts.id)
    assert (hit.node.text, hit.node.reason, hit.node.tags) == (nuts.text, nuts.reason, nuts.tags)
    # And an informative reason gives more energy to begin with, and with it a longer life
    energies = [scope.get(unit.memory_id or "").initial_energy for unit in units]
    assert energies[0] > energies[2]
    assert energies[1] <= energies[2]
    # And a tag finds exactly what has it
    tagged = {unit.memory_id for unit in units if "nuts" in unit.tags}
    assert {hit.node.id for hit in scope.recall("what do I eat", tags=["nuts"])} == tagged == {nuts.id}
    assert {node.id for node in scope.list(tags=["nuts"]).items} == tagged


def bytes_logged(connection: "psycopg.Connection[Any]") -> int:
    """The place in PostgreSQL's log, in bytes."""
    row = connection.execute("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn").fetchone()
    assert row is not None
    return int(row[0])


@pytest.mark.req("X22")
def test_a_message_costs_the_same_after_ten_thousand(testbed: Testbed, stack: Servers) -> None:
    # Given a session
    scope = biem.Scope(user=uuid.uuid4().hex)
    with (
        biem.connect(testbed.settings(queue="none"), scope=scope, embedder=WordEmbedder()) as memory,
        psycopg.connect(stack.postgres_dsn, autocommit=True) as connection,
    ):
        chat = memory.sessions.open()

        def cost() -> int:
            """The least that one of ten messages writes: other processes, too, write now and then."""
            least = []
            for number in range(10):
                before = bytes_logged(connection)
                memory.sessions.append(chat.id, "user", f"step {number:04d} of the walk", tokens=1)
                least.append(bytes_logged(connection) - before)
            return min(least)

        first = cost()
        # When it has ten thousand messages more
        connection.execute(
            "INSERT INTO session_messages (session_id, seq, ns, role, content, tokens, round, at)"
            " SELECT s.id, s.next_seq + n, s.ns, 'user', 'step of the walk', 1, s.round + n, now()"
            " FROM sessions s, generate_series(0, 9999) n WHERE s.id = %s",
            (chat.id,),
        )
        connection.execute(
            "UPDATE sessions SET next_seq = next_seq + 10000, messages = messages + 10000, round = round + 10000,"
            " tokens = tokens + 10000, all_tokens = all_tokens + 10000 WHERE id = %s",
            (chat.id,),
        )
        connection.execute("CHECKPOINT")
        # Then one more writes as much as at first: not at once, for a page is logged whole after a checkpoint and the
        # server's own processes (a vacuum after ten thousand rows) write to the same log
        eventually(lambda: cost() <= 1.5 * first)
        assert memory.sessions.get(chat.id).messages >= 10_020
