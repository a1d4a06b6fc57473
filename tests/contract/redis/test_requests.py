"""The port `RequestRates` on Redis or Valkey."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from biem.adapters.redis.client import RedisClient
from biem.adapters.redis.requests import RedisRequestRates
from biem.bootstrap import Servers
from biem.domain.access.key import new_key_id
from biem.errors import StoreUnavailable


def test_callers_in_parallel_take_the_allowance_once(stack: Servers) -> None:
    # Given five requests a minute / When two clients make twelve at once
    clients = [RedisRequestRates(stack.redis_url, timeout_s=5) for _ in range(2)]
    key = new_key_id()
    with ThreadPoolExecutor(6) as pool:
        taken = list(pool.map(lambda n: clients[n % 2].take(key, 5), range(12)))

    # Then five are admitted, each with one less left, and the others know when to come again
    admitted = sorted((each.remaining for each in taken if not each.is_used_up), reverse=True)
    assert admitted == [4, 3, 2, 1, 0]
    assert all(0 < each.retry_s <= 12 for each in taken if each.is_used_up)
    assert clients[0].take(new_key_id(), 5).remaining == 4
    for client in clients:
        client.close()


def test_a_server_that_is_away_is_said_to_be() -> None:
    rates: RedisClient = RedisRequestRates("redis://127.0.0.1:1/0", timeout_s=0.2)
    assert isinstance(rates, RedisRequestRates)
    with pytest.raises(StoreUnavailable):
        rates.take("k", 5)
