"""The names of what Redis keeps, and that nothing of it is left when PostgreSQL has become another one."""

import pytest
import redis

from biem.adapters.redis import keys as redis_keys
from biem.adapters.redis.forget import forget_projections
from biem.adapters.redis.keys import BROKER, Kind, keys_of, types_of
from biem.bootstrap import Servers

KINDS: tuple[Kind, ...] = ("canvas", "hot", "mind", "heading", "rate")


def test_nothing_that_is_kept_for_a_scope_outlives_a_restored_backup_and_the_broker_is_left_alone(
    stack: Servers,
) -> None:
    # Given every key of a scope, one of a format of another version, the broker's, and one of another program
    keys = [key for kind in KINDS for key in keys_of(kind, "a" * 32)]
    broker, foreign = f"{BROKER}encode", "another:program"
    with redis.Redis.from_url(stack.redis_url) as client:
        for key in (*keys, "biem:hot.9:{a}", broker, foreign):
            client.set(key, "x")
        # When what is kept is forgotten
        ours = [key for key in client.scan_iter("biem:*") if not key.startswith(BROKER.encode())]
        assert forget_projections(stack.redis_url) == len(ours) >= len(keys) + 1
        assert forget_projections(stack.redis_url) == 0
        # Then nothing of any scope is left, and all that is not ours
        assert {key for key in client.scan_iter("biem:*") if not key.startswith(BROKER.encode())} == set()
        assert client.exists(broker, foreign) == 2
        client.delete(broker, foreign)


@pytest.mark.parametrize("kind", KINDS)
def test_another_format_has_other_names_for_all_parts(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    first = keys_of(kind, "n")
    monkeypatch.setitem(redis_keys._FORMATS, kind, 2)
    second = keys_of(kind, "n")
    assert len(first) == len(second) == len(types_of(kind)) == len(set(first) | set(second)) / 2
    assert all(key.startswith(f"biem:{kind}.2:{{n}}") for key in second)
