"""`memory.build_context`: a whole window, its sections in order, each within its share, and nothing cut silently."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

import biem
from biem.domain.policies.layers import BuilderPolicy, LayerPolicy
from biem.domain.policies.sessions import SessionPolicy
from tests.support.fakes import HeldClock, WordEmbedder, eventually
from tests.support.servers import Configure


@pytest.fixture(scope="module")
def connected(settings: Configure) -> Iterator[tuple[biem.Memory, HeldClock]]:
    """A memory whose clock a test moves; each test takes its own user."""
    clock = HeldClock()
    with biem.connect(settings(), embedder=WordEmbedder(), clock=clock) as memory:
        yield memory, clock


@pytest.mark.req("M58")
@pytest.mark.req("M11", "M15", "C31", partly="the sections and their order")
def test_core_first_then_what_was_found_then_recent_tasks_then_the_session(
    connected: tuple[biem.Memory, HeldClock],
) -> None:
    memory, clock = connected
    # Given a user with core and other memories, and a project with its own, old and new ones, and a session
    user = memory.scope(user="order")
    project = user.scope(project="shop")
    other = user.scope(project="barn")
    user.remember("I always indent with tabs", layer="core", kind="knowledge", importance=3)
    project.remember("Tests run before each merge", layer="core", kind="knowledge", importance=5)
    user.remember("The login form of any site needs a label", layer="long_term", kind="knowledge")
    user.remember("The gardener comes on Tuesday", layer="long_term", kind="knowledge")
    user.remember("Buy stamps", kind="task", metadata={"category": "task"})
    found = project.remember("The login module lives in auth.py", layer="long_term", kind="knowledge")
    old = clock.now() - timedelta(days=8)
    project.remember("Paint the shop window", kind="task", metadata={"category": "task"}, at=old)
    project.remember("Ask Ann for the certificates", kind="task", metadata={"category": "task"})
    project.remember("It rains")  # short-term without a category
    other.remember("The login module of the barn is a door", layer="long_term", kind="knowledge")
    chat = project.sessions.open()
    project.sessions.append(chat.id, "system", "Be brief.", tokens=3)
    project.sessions.append(chat.id, "user", "Refactor the login module", tokens=20)
    assert project.flush()

    # When a window is built
    built = project.build_context("Where is the login module?", session=chat.id)

    # Then its sections stand in order, the user's core before the project's although that is more important
    places = [
        built.system.index(text)
        for text in (
            "## Core Memories", "always indent", "Tests run", "## Relevant Memories", "lives in auth.py",
            "## Tasks, Notes and Contexts", "[task] unknown, ", "Ask Ann",
        )
    ]  # fmt: skip
    assert places == sorted(places)
    # And of the user's own level there is only the core, and what the question found
    assert "gardener" not in built.system
    assert "stamps" not in built.system
    # And nothing is there that is older than a week, or another project's
    assert "Paint" not in built.system
    assert "barn" not in built.system
    assert "It rains" not in built.system
    # And the session stands as chat messages, of which nothing is shown twice
    assert [message["content"] for message in built.messages] == ["Be brief.", "Refactor the login module"]
    assert "Refactor" not in built.system
    assert built.chat[0] == {"role": "system", "content": built.system}
    assert found in [hit.node.id for hit in built.hits]
    assert built.sections["session"] == 23
    assert [str(warning) for warning in built.warnings] == ["2 of 100 short-term memories"]
    # And another session sees nothing of this one's messages but what the question finds
    second = project.sessions.open("second")
    again = project.build_context("Thank you!", session=second.id)
    assert again.messages == ()
    assert "Ask Ann" in again.system
    assert "Refactor" not in again.system


@pytest.mark.req("M73")
@pytest.mark.parametrize("flow", [False, True])
def test_no_section_exceeds_its_share_and_what_is_left_out_is_shown(settings: Configure, flow: bool) -> None:
    # Given the design's shares, which sum to 1
    usual = BuilderPolicy()
    assert (usual.total_budget, usual.core, usual.session) == (128_000, 0.1, 0.5)
    assert (usual.short_term, usual.long_term) == (0.2, 0.2)
    with pytest.raises(ValueError, match="sum to 1"):
        BuilderPolicy(core=0.2)
    # And a window of 1,000 tokens, and more of everything than it holds, but for tasks where their share may flow
    policy = BuilderPolicy(total_budget=1_000, flow=flow)
    small = SessionPolicy(max_tokens=1_000, trim_target=0.9)
    scope = biem.Scope(user=f"shares-{flow}")
    with biem.connect(settings(builder=policy, session=small), scope=scope, embedder=WordEmbedder()) as memory:
        for number in range(12):
            memory.remember(f"Rule {number}: " + "never push to the branch of others " * 2, layer="core")
            memory.remember(
                f"Anchor {number} is kept in hall {number} with its {number} chains " * 3, layer="long_term"
            )
            if not flow:
                task = f"Task {number}: carry the crates to the barn " * 3
                memory.remember(task, kind="task", metadata={"category": "task"})
        chat = memory.sessions.open()
        for number in range(24):
            memory.sessions.append(chat.id, "user", f"Question {number}", tokens=40)
        assert memory.flush()

        # When a window is built
        built = memory.build_context("In which hall is the anchor kept?", session=chat.id)

    # Then each section is within its share, or with `flow` within that and what the others left
    sections, warnings = built.sections, {warning.name: warning for warning in built.warnings}
    assert sections["core"] <= 100
    if flow:
        assert sections["session"] > 500
    else:
        assert sections["long_term"] <= 200
        assert sections["short_term"] <= 200
        assert sections["session"] <= 500
        assert warnings["short_term_left_out"].value == 12 - built.system.count("[task]")
    assert built.tokens <= 1_000
    # And all that was left out is counted: shown and left out are everything
    cores = built.system.count("- unknown, ")
    assert (warnings["core_left_out"].value, warnings["core_left_out"].level) == (12 - cores, "warning")
    assert warnings["messages_left_out"].value == 24 - len(built.messages)
    assert warnings["session"].message == "the session uses 96% of its context; open a new session"
    # And the newest rounds are those that are there
    assert built.messages[-1]["content"] == "Question 23"


@pytest.mark.req("M22", "M69")
@pytest.mark.req("C33", partly="the warnings")
def test_warnings_are_worded_as_in_the_design(settings: Configure) -> None:
    # Given a session that fills up, and 23 tasks
    small = SessionPolicy(max_tokens=1_000)
    scope = biem.Scope(user="warned")
    with biem.connect(settings(session=small), scope=scope, embedder=WordEmbedder()) as memory:
        chat = memory.sessions.open()
        assert memory.check_warnings(chat.id) == ()
        memory.sessions.append(chat.id, "user", "你好", tokens=699)
        assert memory.check_warnings(chat.id) == ()
        memory.sessions.append(chat.id, "assistant", "你好", tokens=21)
        for number in range(23):
            memory.remember(f"任务 {number}", kind="task", metadata={"category": "task"})

        # When it is asked what to know / Then the wording and the levels are those of the design
        found = memory.check_warnings(chat.id, language="zh")
        assert [(one.level, one.message) for one in found] == [
            ("warning", "会话上下文已使用 72%"), ("info", "短期记忆 23/100 条"),
        ]  # fmt: skip
        memory.sessions.append(chat.id, "user", "再见", tokens=150)
        [critical, _] = memory.check_warnings(chat.id, language="zh")
        assert (critical.level, critical.message) == ("critical", "会话上下文已使用 87%，建议开启新会话")
        assert (critical.value, critical.limit) == (870, 1_000)
        # And a window has them in the language of its question
        built = memory.build_context("登录模块怎么实现的", session=chat.id)
        assert str(built.warnings[0]) == "会话上下文已使用 87%，建议开启新会话"
        assert str(memory.build_context("Hello", session=chat.id).warnings[0]).startswith("the session uses 87%")
        assert str(memory.build_context("Hello", language="zh").warnings[0]) == "短期记忆 23/100 条"


def test_what_cannot_be_a_window_is_refused(connected: tuple[biem.Memory, HeldClock]) -> None:
    memory, _ = connected
    for wrong in ({"budget": 0}, {"language": "fr"}, {"session": "x"}):
        with pytest.raises(biem.InvalidInput):
            memory.build_context("Where?", **wrong)
    with pytest.raises(biem.InvalidInput):
        memory.build_context(" ")
    with pytest.raises(biem.NotFound):
        memory.build_context("Where?", session="0190b0a0-0000-7000-8000-000000000000")


@pytest.mark.req("M62")
@pytest.mark.req("M13", "M16", "M75", partly="tasks, notes and contexts expire after 14 days")
def test_short_term_memories_end_after_their_days_unless_they_are_used(
    connected: tuple[biem.Memory, HeldClock],
) -> None:
    memory, clock = connected
    # Given two tasks that were observed, one of which is used five times
    scope = memory.scope(user="ends")
    [one] = scope.observe("TODO: call the roofer", store=True)
    [two] = scope.observe("TODO: feed the goldfish", store=True)
    assert one.memory_id
    assert two.memory_id
    node = scope.get(one.memory_id)
    assert node.expires_at is not None
    assert node.expires_at - node.created_at == timedelta(days=14)
    assert scope.flush()
    for _ in range(5):
        scope.recall("goldfish", top_k=1)
        clock.advance(seconds=120)
    # Then it stays as a long-term memory, at once, and the other ends with its day
    eventually(lambda: scope.get(two.memory_id or "").layer == "long_term")  # accesses are counted in the background
    assert scope.get(two.memory_id).expires_at is None
    clock.advance(days=14)
    assert scope.get(one.memory_id).status == "archived"
    report = {job.name: job for job in scope.sleep().jobs}["lifecycle"]
    assert report.changes["expired"] == 1
    assert scope.get(two.memory_id).status == "active"
    # And the index has only that one
    assert scope.flush()
    eventually(lambda: scope.layer_stats().vector_count == 1)
    assert [unit.ttl_days for unit in scope.observe("TODO: call the roofer")] == [14.0]


@pytest.mark.long
def test_the_days_are_within_bounds() -> None:
    for days in (6.9, 30.1):
        with pytest.raises(ValueError, match="from 7 to 30"):
            LayerPolicy(ttl_days=days)
    assert LayerPolicy(ttl_days=30, categories={"fire": {"layer": "short_term", "ttl_days": 1}}).ttl_days == 30
