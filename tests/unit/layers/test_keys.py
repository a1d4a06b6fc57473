"""Keys: what is stored, what opens, for how long a look-up counts; requests that are counted."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from biem.domain.access.allowance import Allowance, allowance
from biem.domain.access.key import ApiKey, parse_token, token_of
from biem.domain.scope import Scope
from biem.errors import AccessDenied, InvalidInput, KeyInvalid, NotFound, StoreUnavailable
from biem.layers.keys import Keys
from biem.layers.request_rates import RequestLimit
from tests.support.fakes import START, HeldClock


class Drawer:
    """Stored keys, and how often they were looked up."""

    def __init__(self) -> None:
        self.keys: dict[str, tuple[ApiKey, bytes]] = {}
        self.asked = 0
        self.uses = 0

    def add(self, key: ApiKey, secret_sha: bytes) -> None:
        self.keys[key.id] = (key, secret_sha)

    def get(self, key_id: str) -> tuple[ApiKey, bytes] | None:
        self.asked += 1
        return self.keys.get(key_id)

    def listed(self, tenant: str) -> Sequence[ApiKey]:
        return [key for key, _ in self.keys.values() if key.tenant == tenant]

    def revoke(self, tenant: str, key_id: str, at: datetime) -> bool:
        key, digest = self.keys.get(key_id, (None, b""))
        if key is None or key.tenant != tenant or key.revoked_at is not None:
            return False
        self.keys[key_id] = (replace(key, revoked_at=at), digest)
        return True

    def used(self, key_id: str, at: datetime) -> None:
        self.uses += 1


@pytest.fixture
def drawer() -> Drawer:
    return Drawer()


@pytest.fixture
def keys(drawer: Drawer) -> Keys:
    return Keys(drawer, HeldClock(START))


def test_a_token_opens_what_was_made_and_nothing_else(keys: Keys, drawer: Drawer) -> None:
    # Given two keys
    first, second = (keys.add("acme", user, "", ["write", "read", "read"]) for user in ("ana", "bo"))
    assert first.key.grants == ("read", "write")
    assert first.token not in repr(first)
    assert all(first.token.rpartition("_")[2].encode() not in digest for _, digest in drawer.keys.values())

    # Then each token opens its key; one's id with the other's secret opens none
    assert keys.verify(first.token) == first.key
    for wrong in (token_of(first.key.id, second.token.rpartition("_")[2][-43:]), first.token[:-1], "", "biem_x_y"):
        with pytest.raises(KeyInvalid):
            keys.verify(wrong)
    parsed = parse_token(first.token)
    assert parsed is not None
    assert parsed[0] == first.key.id
    assert drawer.uses > 0


def test_a_look_up_counts_for_half_a_second(keys: Keys, drawer: Drawer, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("biem.layers.keys.time.monotonic", lambda: now[0])
    made = keys.add("acme", "ana", "", ["read"])
    assert keys.cached(made.token) is None
    keys.verify(made.token)

    # Given a key that was read / When it is revoked elsewhere / Then it opens no longer than half a second
    drawer.revoke("acme", made.key.id, START)
    now[0] += 0.49
    assert keys.cached(made.token) == made.key
    now[0] += 0.02
    assert keys.cached(made.token) is None
    with pytest.raises(KeyInvalid):
        keys.verify(made.token)


def test_a_key_revoked_here_opens_nothing_from_then_on(keys: Keys) -> None:
    made = keys.add("acme", "ana", "", ["read"])
    keys.verify(made.token)
    assert keys.revoke("acme", made.key.id)
    assert not keys.revoke("acme", made.key.id)
    assert keys.cached(made.token) is None
    with pytest.raises(NotFound):
        keys.revoke("other", made.key.id)


def test_an_expired_key_opens_nothing(drawer: Drawer) -> None:
    clock = HeldClock(START)
    keys = Keys(drawer, clock)
    made = keys.add("acme", "ana", "", ["read"], expires_at=START + timedelta(hours=1))
    keys.verify(made.token)
    clock.advance(seconds=3601)
    with pytest.raises(KeyInvalid):
        keys.cached(made.token)
    with pytest.raises(InvalidInput):
        keys.add("acme", "ana", "", ["read"], expires_at=START)


@pytest.mark.parametrize(
    ("user", "project", "named", "scope"),
    [
        ("ana", "", {}, Scope("acme", "ana")),
        ("ana", None, {"project": "p"}, Scope("acme", "ana", "p")),
        (None, None, {"user": "bo", "project": "p"}, Scope("acme", "bo", "p")),
        (None, "p", {"user": "bo"}, Scope("acme", "bo", "p")),
        ("ana", "", {"user": "bo"}, AccessDenied),
        ("ana", "p", {"project": ""}, AccessDenied),
        (None, None, {}, InvalidInput),
    ],
)
def test_headers_choose_within_the_binding(
    keys: Keys, user: str | None, project: str | None, named: dict[str, str], scope: Scope | type[Exception]
) -> None:
    key = keys.add("acme", user, project, ["read"]).key
    if isinstance(scope, Scope):
        assert key.scope(**named) == scope
        assert key.admits(scope)
        assert not key.admits(replace(scope, tenant="other"))
    else:
        with pytest.raises(scope):
            key.scope(**named)


def test_a_key_covers_what_is_bound_to_no_more(keys: Keys) -> None:
    one = keys.add("acme", "ana", "p", ["read"]).key
    user = keys.add("acme", "ana", None, ["read"]).key
    tenant = keys.add("acme", None, None, ["read"]).key
    assert [tenant.covers(one), user.covers(one), one.covers(user), user.covers(tenant)] == [True, True, False, False]
    for grants in ([], ["all"], "read"):
        with pytest.raises(InvalidInput):
            keys.add("acme", "ana", "", grants)


class NoRates:
    """A Redis that is down."""

    def take(self, key_id: str, per_minute: int) -> Allowance:
        raise StoreUnavailable("away")

    def close(self) -> None:
        """Nothing to close."""


def test_without_redis_requests_are_counted_here(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [50.0]
    monkeypatch.setattr("biem.layers.request_rates.time.monotonic", lambda: now[0])
    assert RequestLimit(NoRates(), 0).take("k") is None
    limit = RequestLimit(NoRates(), 3)
    taken = [limit.take("k") for _ in range(4)]
    assert [each.remaining for each in taken if each] == [2, 1, 0, 0]
    assert [each.is_used_up for each in taken if each] == [False, False, False, True]
    assert taken[3] is not None
    assert taken[3].retry_s == pytest.approx(20)
    now[0] += 20
    again = limit.take("k")
    assert again is not None
    assert not again.is_used_up
    assert allowance(60, 0.0, admitted=True).remaining == 60
