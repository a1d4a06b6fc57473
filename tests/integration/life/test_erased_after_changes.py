"""What was revised, moved, withdrawn or taken in from a file is erased with every text that it ever had."""

import io
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

import biem
from biem.bootstrap import Servers
from biem.domain.policies.writing import EncodePolicy
from biem.domain.scope import Scope
from tests.support.fakes import HeldClock, WordEmbedder, eventually
from tests.support.life_workloads import ONLY_SLEEP, embedder
from tests.support.servers import Configure, Testbed
from tests.support.workloads import Doors, anywhere, in_redis


@pytest.fixture
def word() -> str:
    """A word that is nowhere yet, and that no stemmer changes."""
    return f"zq{uuid.uuid4().hex[:12]}0"


@pytest.fixture
def memory(testbed: Testbed) -> Iterator[biem.Memory]:
    """A user of the test's own, and a clock that is held."""
    scope = Scope(user=uuid.uuid4().hex)
    settings = testbed.settings(sleep=ONLY_SLEEP)
    with biem.connect(settings, scope=scope, embedder=embedder(), clock=HeldClock()) as opened:
        yield opened


@pytest.mark.long
@pytest.mark.req("D8", partly="erasing what was revised, moved, withdrawn or taken in from a file")
def test_a_user_is_erased_with_former_texts_moves_and_what_was_withdrawn(
    memory: biem.Memory, stack: Servers, word: str
) -> None:
    # Given a life with a former text, a withdrawn memory, a move to another user, and a file that was taken in
    talk = [f"The saffron {thing} of {word}" for thing in ("harvest", "fields", "price", "cellar")]
    ids = memory.remember_many([{"text": text, "speaker": word, "conversation": word} for text in talk], wait=True)
    memory.revise(ids[0], text="The saffron harvest is over", speaker="Ann")
    memory.revise(ids[1], text=f"The saffron fields were {word} and green", metadata={word: word})
    memory.quarantine(ids[2], f"forged by {word}")
    project = memory.scope(project=f"farm {word}")
    project.running(f"saffron {word}", conversation=f"farm {word}")
    file = io.BytesIO()
    memory.export(file)
    other, third = (memory.scope(user=uuid.uuid4().hex) for _ in range(2))
    file.seek(0)
    third.import_(file)
    assert memory.flush()  # a memory that is moved while it is encoded waits for the lease of its worker
    memory.move(other.bound_to, ids=[ids[0], ids[3]])
    assert all(one.flush() for one in (memory, other, third))
    for one in (memory, other, third):
        one.sleep()
        one.recall(f"saffron {word}")
    assert "postgres.memory_revisions" in anywhere(stack, word)
    # When each is erased / Then no table, key or row has the word
    for one in (memory, other, third):
        assert one.erase(user=one.bound_to.user).complete
    eventually(lambda: anywhere(stack, word) == [])


def test_what_moved_while_redis_was_away_and_was_erased_then_leaves_the_old_place_too(
    settings: Configure, stack: Servers, tmp_path: Path, word: str
) -> None:
    doors, scope = Doors(tmp_path, stack), Scope(user=uuid.uuid4().hex)
    hasty = EncodePolicy(lease_s=1.0, poll_s=0.1, backoff_s=0.02)
    behind = settings(**doors.urls, encode=hasty, queue="none")
    with biem.connect(settings(encode=hasty), scope=scope, embedder=WordEmbedder()) as worker:
        moved = worker.remember(f"The {word} boat is red", wait=True)
        assert in_redis(stack.redis_url, word)
        with biem.connect(behind, scope=scope, embedder=WordEmbedder()) as memory:
            # Given a move that cannot reach Redis / When the memory is erased in its new place before a worker came
            doors.redis.shut()
            other = memory.scope(user=uuid.uuid4().hex)
            memory.move(other.bound_to, ids=[moved])
            receipt = other.erase(moved)
        # Then the receipt says what was not reached, and a worker clears the old place
        assert not receipt.complete
        eventually(lambda: anywhere(stack, word) == [])
        worker.erase(user=scope.user)
