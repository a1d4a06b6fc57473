"""The promises of `RunningMemoryStore` on a real Valkey."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import redis

from biem.adapters.analyzers import RuleAnalyzer
from biem.adapters.redis.conversation_state import RedisRunningMemory
from biem.bootstrap import Servers
from biem.domain.concept import Recollection
from biem.domain.policies.concepts import ConceptPolicy
from biem.domain.running_memory import Running, RunningMemory
from biem.domain.scope import Scope
from biem.engine.concepts.running import Activator
from biem.errors import StoreUnavailable
from tests.support.concept_fakes import ScriptedReasoner

PRECISE = ConceptPolicy(keywords="precise")
FULL = RunningMemory(("Grace", "花生"), (Running("Grace", "对花生过敏 \"'\n", 2, ("id-1", "id-2")),))


class Named:
    """A reminder: each keyword reminds of itself, and all of it is still there."""

    def from_topics(self, scope: Scope, keywords: Sequence[str]) -> list[Recollection]:
        return [Recollection(word, word, (word,)) for word in keywords]

    def living(self, scope: Scope, running: Sequence[Running]) -> tuple[Running, ...]:
        return tuple(running)


@pytest.fixture(scope="module")
def running_memory(stack: Servers) -> Iterator[RedisRunningMemory]:
    opened = RedisRunningMemory(stack.redis_url, timeout_s=30.0)
    yield opened
    opened.close()


def save(
    running_memory: RedisRunningMemory,
    scope: Scope,
    conversation: str,
    mind: RunningMemory,
    most: int = 9,
    ttl_s: float = 60,
) -> bool:
    return running_memory.save(scope, conversation, mind, most=most, ttl_s=ttl_s)


class TestMinds:
    @pytest.mark.req("H18", "H37", partly="the state survives between messages and workers, per conversation")
    def test_what_was_saved_is_there_for_every_worker_and_only_in_its_conversation(
        self, running_memory: RedisRunningMemory, stack: Servers, scope: Scope, other: Scope
    ) -> None:
        # Given a state of one conversation / When another process loads it, and others are loaded
        assert running_memory.load(scope, "a {x} \n 中文") == RunningMemory()
        assert save(running_memory, scope, "a {x} \n 中文", FULL)
        worker = RedisRunningMemory(stack.redis_url, timeout_s=30.0)
        found = worker.load(scope, "a {x} \n 中文")
        worker.close()

        # Then it is whole, and no one else has it
        assert found == RunningMemory(FULL.keywords, FULL.running, 1)
        assert running_memory.load(scope, "b") == running_memory.load(other, "a {x} \n 中文") == RunningMemory()

    @pytest.mark.req("H37", partly="memory.running; the plugin calls it with running=True only, and without a history")
    def test_a_message_with_its_history_goes_on_where_another_worker_stopped(
        self, running_memory: RedisRunningMemory, stack: Servers, scope: Scope
    ) -> None:
        # Given two workers that each reply to a message of one conversation
        reasoner, other = ScriptedReasoner(keywords=["Grace"]), RedisRunningMemory(stack.redis_url, timeout_s=30.0)
        first, second = (
            Activator(running_memory=held, reminder=Named(), analyzer=RuleAnalyzer(), policy=PRECISE, reasoner=reasoner)
            for held in (running_memory, other)
        )

        # When the one has called up a memory, and the next message comes to the other
        one = first.activate(scope, "chat", "my sister called", "Ann: hello")
        reasoner.keywords_ = ["Rex"]
        two = second.activate(scope, "chat", "the dog barks", "Ann: hello\nAnn: my sister called")
        other.close()

        # Then the model heard message, history and the keyword of the first, and both memories are prepared
        assert [item.topic for item in one] == ["Grace"]
        assert [item.topic for item in two] == ["Grace", "Rex"]
        assert reasoner.asked == {
            "message": "the dog barks",
            "history": "Ann: hello\nAnn: my sister called",
            "known": ("Grace",),
            "limit": 10,
        }

    def test_a_state_that_changed_meanwhile_is_not_overwritten(
        self, running_memory: RedisRunningMemory, scope: Scope
    ) -> None:
        # Given two workers that read the same state / When both save / Then the slower one is refused
        read = running_memory.load(scope, "a")
        assert save(running_memory, scope, "a", RunningMemory(("fast",), (), read.version))
        assert not save(running_memory, scope, "a", RunningMemory(("slow",), (), read.version))
        assert running_memory.load(scope, "a") == RunningMemory(("fast",), (), 1)

    @pytest.mark.req("X38", partly="turns of one conversation")
    def test_of_many_workers_every_change_is_kept(self, running_memory: RedisRunningMemory, scope: Scope) -> None:
        # Given eight workers / When each adds its word, again when another process was faster
        def work(number: int) -> None:
            while True:
                mind = running_memory.load(scope, "a")
                if save(running_memory, scope, "a", RunningMemory((*mind.keywords, str(number)), (), mind.version)):
                    return

        with ThreadPoolExecutor(8) as threads:
            list(threads.map(work, range(16)))

        # Then all are there
        assert sorted(running_memory.load(scope, "a").keywords, key=int) == [str(number) for number in range(16)]

    def test_the_conversations_used_longest_ago_go_first(
        self, running_memory: RedisRunningMemory, scope: Scope
    ) -> None:
        # Given more conversations than are kept / When the last is saved / Then it is there, and no more
        for number in range(7):
            assert save(running_memory, scope, f"talk {number}", FULL, most=3)
        assert running_memory.count([scope.ns]) == 3
        assert running_memory.load(scope, "talk 6").keywords == FULL.keywords

    @pytest.mark.req("D8", partly="erasing what projects hold of the user's own level")
    def test_what_projects_hold_goes_with_the_user_s_own_level(
        self, running_memory: RedisRunningMemory, scope: Scope
    ) -> None:
        # Given states of a user, of two projects and of another user's project
        mine = [scope, Scope(scope.tenant, scope.user, "a"), Scope(scope.tenant, scope.user, "b")]
        theirs = Scope(scope.tenant, f"{scope.user} too", "a")
        for one in (*mine, theirs):
            assert save(running_memory, one, "monday", RunningMemory(("saffron",)))
        # When what may hold a project's memories is forgotten / Then it is that project's alone
        assert running_memory.count([mine[1].ns]) == 1
        running_memory.forget([mine[1].ns])
        assert [running_memory.count([one.ns]) for one in (*mine[1:], theirs)] == [0, 1, 1]
        # And what may hold the user's is the user's and all projects', whether or not they are named
        assert running_memory.count([scope.ns]) == running_memory.count([one.ns for one in mine]) == 2
        running_memory.forget([scope.ns])
        assert [running_memory.count([one.ns]) for one in (*mine, theirs)] == [0, 0, 0, 1]

    def test_a_silent_scope_is_let_go(self, running_memory: RedisRunningMemory, stack: Servers, scope: Scope) -> None:
        # Given a state / When the server is asked how long it stays / Then no longer than the setting says
        save(running_memory, scope, "a", FULL, ttl_s=60)
        with redis.Redis.from_url(stack.redis_url) as client:
            keys = list(client.scan_iter(f"biem:mind:*{scope.ns}*"))
            assert len(keys) == 2
            assert all(0 < client.ttl(key) <= 60 for key in keys)

    def test_forgetting_a_scope_leaves_nothing_of_it_and_all_of_others(
        self, running_memory: RedisRunningMemory, stack: Servers, scope: Scope, other: Scope
    ) -> None:
        # Given two scopes / When one is forgotten, twice / Then the other is untouched
        for owner in (scope, other):
            save(running_memory, owner, "a", FULL)
        running_memory.forget([scope.ns])
        running_memory.forget([scope.ns])
        assert (running_memory.count([scope.ns]), running_memory.count([other.ns])) == (0, 1)
        with redis.Redis.from_url(stack.redis_url) as client:
            assert list(client.scan_iter(f"*{scope.ns}*")) == []

    def test_what_cannot_be_read_is_an_empty_state_that_can_be_replaced(
        self, running_memory: RedisRunningMemory, stack: Servers, scope: Scope
    ) -> None:
        # Given a state that another version of this program wrote
        save(running_memory, scope, "a", FULL)
        with redis.Redis.from_url(stack.redis_url) as client:
            (field,) = client.hkeys(f"biem:mind:{{{scope.ns}}}")
            client.hset(f"biem:mind:{{{scope.ns}}}", field, '7 {"other": 1}')

        # When it is loaded and saved / Then it starts again
        found = running_memory.load(scope, "a")
        assert found == RunningMemory()
        assert save(running_memory, scope, "a", found)

    def test_a_server_that_is_not_there_is_reported(self, scope: Scope, tmp_path: Path) -> None:
        # Given no server / When anything is asked / Then it is said so
        nobody = RedisRunningMemory(f"unix://{tmp_path / 'nobody.sock'}", timeout_s=0.2)
        for call in (
            lambda: nobody.load(scope, "a"),
            lambda: save(nobody, scope, "a", FULL),
            lambda: nobody.forget([scope.ns]),
        ):
            with pytest.raises(StoreUnavailable):
                call()
        nobody.close()
