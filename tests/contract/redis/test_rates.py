"""The port `Rates` on a real Redis or Valkey, and a writer that keeps to it."""

import uuid
from collections.abc import Iterator

import pytest
import redis

import biem
from biem.adapters.redis.rates import RedisRates
from biem.bootstrap import Servers
from biem.domain.policies.writing import WritePolicy
from biem.domain.scope import Scope
from biem.errors import RateLimited, StoreUnavailable
from biem.ports.hot import Rates
from tests.support.fakes import WordEmbedder, eventually
from tests.support.servers import Configure


@pytest.fixture
def rates(stack: Servers) -> Iterator[RedisRates]:
    opened = RedisRates(stack.redis_url, timeout_s=30.0)
    yield opened
    opened.close()


class TestAllowance:
    def test_it_is_shared_by_clients_and_each_scope_has_its_own(
        self, rates: RedisRates, stack: Servers, scope: Scope, other: Scope
    ) -> None:
        port: Rates = rates
        another = RedisRates(stack.redis_url, timeout_s=30.0)
        # Given two clients that take all of an allowance, one by one
        assert [
            port.take(scope, 1, 4),
            another.take(scope, 1, 4),
            port.take(scope, 1, 4),
            another.take(scope, 1, 4),
        ] == [0.0] * 4
        # When one more is wanted / Then it waits for a quarter of a minute at most, in both
        assert 0.0 < port.take(scope, 1, 4) <= 15.0
        assert 0.0 < another.take(scope, 1, 4) <= 15.0
        # And others do not wait
        assert port.take(other, 1, 4) == 0.0
        another.close()

    def test_it_fills_again_and_refusals_cost_nothing(self, rates: RedisRates, scope: Scope) -> None:
        # Given an allowance of a hundred a second, used up / When it is asked for again and again
        assert rates.take(scope, 6_000, 6_000) == 0.0
        # Then there is room soon
        eventually(lambda: rates.take(scope, 1, 6_000) == 0.0)

    def test_a_batch_above_the_allowance_passes_once_and_is_owed(self, rates: RedisRates, scope: Scope) -> None:
        assert rates.take(scope, 25, 10) == 0.0
        assert 60.0 < rates.take(scope, 1, 10) <= 16 * 6.0

    def test_nothing_is_kept_of_a_scope_that_does_not_write(
        self, rates: RedisRates, stack: Servers, scope: Scope
    ) -> None:
        rates.take(scope, 1, 60_000)
        with redis.Redis.from_url(stack.redis_url) as client:
            eventually(lambda: client.keys(f"biem:rate:*{scope.ns}*") == [])

    @pytest.mark.parametrize("value", ["x", "1e300", "nan", "-5", "", "99999999999999999999999"])
    def test_unknown_counters_stop_no_writer(self, rates: RedisRates, stack: Servers, scope: Scope, value: str) -> None:
        with redis.Redis.from_url(stack.redis_url) as client:
            client.set(f"biem:rate:{{{scope.ns}}}", value, px=50_000)
            assert rates.take(scope, 1, 1) == 0.0
            client.delete(f"biem:rate:{{{scope.ns}}}")
            client.rpush(f"biem:rate:{{{scope.ns}}}", value)
            assert rates.take(scope, 1, 1) == 0.0
        assert rates.take(scope, 1, 1) > 0.0

    def test_a_server_that_is_away_is_said_to_be(self, scope: Scope) -> None:
        nowhere = RedisRates("redis://127.0.0.1:9/0", timeout_s=0.2)
        with pytest.raises(StoreUnavailable):
            nowhere.take(scope, 1, 1)
        nowhere.close()


class TestWriter:
    @pytest.fixture
    def limited(self, settings: Configure) -> Iterator[biem.Memory]:
        """A memory that may keep five texts a minute."""
        chosen = settings(queue="none", close_timeout_s=0.0, write=WritePolicy(max_per_minute=5, bulk_rows=4))
        with biem.connect(chosen, scope=biem.Scope(user=uuid.uuid4().hex), embedder=WordEmbedder()) as memory:
            yield memory

    def test_a_scope_that_writes_too_fast_learns_when_to_go_on(self, limited: biem.Memory) -> None:
        # Given a scope that has used its allowance
        for number in range(5):
            limited.remember(f"note {number}")
        # When it writes more / Then it is refused, nothing is stored, and reading goes on
        with pytest.raises(RateLimited, match=r"more than 5 memories a minute.*MAX_PER_MINUTE") as failure:
            limited.remember("one too many")
        assert 0.0 < failure.value.after_s <= 12.0
        assert (failure.value.http_status, failure.value.retryable) == (429, True)
        assert limited.stats()["memories"] == 5
        assert limited.recall("note")
        # And another scope writes as it likes
        limited.scope(user=uuid.uuid4().hex).remember("mine")

    def test_an_import_stops_after_a_batch_and_says_how_far_it_came(self, limited: biem.Memory) -> None:
        with pytest.raises(RateLimited, match="8 items before are stored"):
            limited.remember_many({"text": f"line {number}"} for number in range(20))
        assert limited.stats()["memories"] == 8

    def test_what_is_not_accepted_is_not_counted(self, limited: biem.Memory) -> None:
        for _ in range(10):
            with pytest.raises(biem.InvalidInput):
                limited.remember("")
        limited.remember("a note")
