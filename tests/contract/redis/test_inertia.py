"""The promises of `InertiaStore` on a real Valkey."""

from collections.abc import Iterator

import numpy as np
import pytest
import redis

from biem.adapters.redis.conversation_state import RedisInertia
from biem.bootstrap import Servers
from biem.domain.scope import Scope
from biem.errors import StoreUnavailable
from biem.ports.hot import InertiaState
from tests.contract.conftest import MODEL


@pytest.fixture
def inertia_store(stack: Servers) -> Iterator[RedisInertia]:
    opened = RedisInertia(stack.redis_url, timeout_s=30.0, model=MODEL, dim=384)
    yield opened
    opened.close()


def test_inertia_comes_back_bit_by_bit_and_only_where_it_was_saved(
    inertia_store: RedisInertia, scope: Scope, other: Scope
) -> None:
    vector = np.random.default_rng(7).standard_normal(384).astype(np.float32)
    inertia_store.save(scope, "海\n#1", InertiaState(vector, 0.4, 0.85, 48), most=10, ttl_s=60)
    found = inertia_store.load(scope, "海\n#1")
    assert found.vector is not None
    assert found.vector.tobytes() == vector.tobytes()
    assert (found.strength, found.gamma, found.cluster) == (0.4, 0.85, 48)
    assert inertia_store.load(scope, "c").vector is None
    assert inertia_store.load(other, "海\n#1").vector is None
    assert list(inertia_store.all(scope)) == ["海\n#1"]


def test_another_model_starts_empty(inertia_store: RedisInertia, stack: Servers, scope: Scope) -> None:
    inertia_store.save(scope, "c", InertiaState(np.eye(384, dtype=np.float32)[1]), most=10, ttl_s=60)
    another = RedisInertia(stack.redis_url, timeout_s=30.0, model="another", dim=384)
    assert another.load(scope, "c") == InertiaState()
    assert another.all(scope) == {}
    another.close()


def test_the_conversations_used_longest_ago_go_first(inertia_store: RedisInertia, scope: Scope) -> None:
    for number in range(6):
        inertia_store.save(scope, f"c{number}", InertiaState(np.eye(384, dtype=np.float32)[1]), most=3, ttl_s=60)
    assert inertia_store.count([scope.ns]) == 3
    assert "c5" in inertia_store.all(scope)
    inertia_store.forget([scope.ns])
    assert inertia_store.count([scope.ns]) == 0


@pytest.mark.req("D8", partly="erasing what projects hold of the user's own level")
def test_what_projects_hold_goes_with_the_user_s_own_level(inertia_store: RedisInertia, scope: Scope) -> None:
    project = Scope(scope.tenant, scope.user, "a")
    for one in (scope, project):
        inertia_store.save(one, "monday", InertiaState(), most=9, ttl_s=60)
    inertia_store.forget([scope.ns])
    assert (inertia_store.count([scope.ns]), inertia_store.count([project.ns])) == (0, 0)


def test_what_it_holds_expires(inertia_store: RedisInertia, stack: Servers, scope: Scope) -> None:
    inertia_store.save(scope, "c", InertiaState(np.eye(384, dtype=np.float32)[1]), most=3, ttl_s=60)
    client = redis.Redis.from_url(stack.redis_url)
    assert all(0 < client.ttl(key) <= 60 for key in client.scan_iter(f"biem:heading:{{{scope.ns}}}*"))
    client.close()


def test_a_server_that_is_not_there_is_unavailable(scope: Scope) -> None:
    nowhere = RedisInertia("redis://127.0.0.1:1", timeout_s=0.2, model=MODEL, dim=384)
    with pytest.raises(StoreUnavailable):
        nowhere.load(scope, "c")
    nowhere.close()
    nowhere.close()
