"""With any damage to the data in Redis, answers are right, other scopes notice nothing, and it fills again."""

import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
import redis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import biem
from biem.adapters.redis.keys import Kind, keys_of
from biem.aim import AimMemory
from biem.bootstrap import Servers, stores
from biem.bootstrap.admin import diagnose
from biem.domain.policies.writing import WritePolicy
from biem.ports import Entry
from tests.support.fakes import WordEmbedder, eventually
from tests.support.systems import System, system

KINDS: tuple[Kind, ...] = ("canvas", "hot", "mind", "heading", "rate")
TEXTS = ("the lantern hangs in the harbour", "the ferry leaves the harbour at nine", "the lantern is a 灯笼")
QUERY = "lantern harbour"
Spoil = Callable[[Any, bytes], object]


def of_another_type(client: Any, key: bytes) -> None:
    found = client.type(key)
    with client.pipeline() as at_once:  # else a recall that ends meanwhile may fill it again
        at_once.delete(key)
        if found == b"string":
            at_once.rpush(key, "x", "y")
        else:
            at_once.set(key, b"\xff\xfe no container")
        at_once.execute()


def of_yet_another_type(client: Any, key: bytes) -> None:
    found = client.type(key)
    with client.pipeline() as at_once:
        at_once.delete(key)
        if found == b"hash":
            at_once.zadd(key, {"x": 1})
        else:
            at_once.hset(key, "", "x")
        at_once.execute()


def lost(client: Any, key: bytes) -> None:
    client.delete(key)


def garbled(client: Any, key: bytes, noise: bytes = b"\xff\x00\xc3(") -> None:
    """Every value is replaced by bytes that are no text, no number and no JSON."""
    match client.type(key):
        case b"string":
            client.set(key, noise + client.get(key)[len(noise) :], keepttl=True)
        case b"list":
            for place in range(client.llen(key)):
                client.lset(key, place, noise + bytes([place]))
        case b"hash":
            client.hset(key, mapping=dict.fromkeys(client.hkeys(key), noise))
        case b"zset":
            for member, score in client.zrange(key, 0, -1, withscores=True):
                client.zrem(key, member)
                client.zadd(key, {noise + member: score})


def cut_short(client: Any, key: bytes) -> None:
    match client.type(key):
        case b"string":
            client.set(key, client.get(key)[: client.strlen(key) // 2], keepttl=True)
        case b"list":
            for place in range(client.llen(key)):
                client.lset(key, place, client.lindex(key, place)[:7])
        case b"hash":
            found = client.hgetall(key)
            client.hset(key, mapping={name: value[: len(value) // 2] for name, value in found.items()})
        case b"zset":
            client.zremrangebyrank(key, 0, 0)


def with_strange_numbers(client: Any, key: bytes) -> None:
    match client.type(key):
        case b"string":
            client.set(key, b"1e300", keepttl=True)
        case b"list":
            client.rpush(key, str(uuid.uuid4()).upper())
        case b"hash":
            client.hset(key, mapping=dict.fromkeys(client.hkeys(key), b"99999999999999999999 {}"))
        case b"zset":
            for member in client.zrange(key, 0, -1):
                client.zadd(key, {member: float("inf")})


def with_foreign_entries(client: Any, key: bytes) -> None:
    match client.type(key):
        case b"string":
            client.append(key, b"\0" * 100)
        case b"list":
            client.rpush(key, "no id")
        case b"hash":
            client.hset(key, "no id", "no value")
        case b"zset":
            client.zadd(key, {"no id": 1e12})


def huge(client: Any, key: bytes) -> None:
    many = [f"{number:032x}" for number in range(60_000)]
    match client.type(key):
        case b"string":
            client.append(key, b"\x7f" * 20_000_000)
        case b"list":
            client.lpush(key, b"\xff" * 2_000_000)
        case b"hash":
            client.hset(key, mapping=dict.fromkeys(many, b"7"))
        case b"zset":
            client.zadd(key, {name: 1e12 + place for place, name in enumerate(many)})


SPOILS: tuple[Spoil, ...] = (
    of_another_type,
    of_yet_another_type,
    lost,
    garbled,
    cut_short,
    with_strange_numbers,
    with_foreign_entries,
    huge,
)


@dataclass
class Pair:
    """A scope whose keys are spoilt, and another one of the same program."""

    memory: biem.Memory
    other: biem.Memory
    client: Any

    def warm(self, memory: biem.Memory) -> None:
        """Let Redis hold something of every kind for the scope of a memory."""
        allowance = keys_of("rate", memory.bound_to.ns)[0].encode()
        if not named(self) - {allowance} <= set(self.kept()):
            self.client.delete(*keys_of("canvas", memory.bound_to.ns))  # filled as a whole by the next recall
            memory.remember(f"a remark {uuid.uuid4().hex}", speaker="Ann", conversation="c")
            use(memory)
        # An allowance that is nearly full is gone before it could be spoilt.
        self.client.set(keys_of("rate", memory.bound_to.ns)[0], time.time_ns() // 1_000_000, px=600_000)

    def kept(self) -> list[bytes]:
        return sorted(self.client.scan_iter(f"biem:*{{{self.memory.bound_to.ns}}}*"))


def use(memory: biem.Memory) -> None:
    """Everything that reads what Redis keeps; each answer is the right one, and nothing is down."""
    plugin = biem.BIEMContextPlugin(memory, conversation="c", running=True)
    hits = memory.recall(QUERY)
    assert hits.degraded == ()
    assert hits[0].node.text == TEXTS[0]
    assert {hit.node.text for hit in hits} >= set(TEXTS)
    assert memory.recall_typed(QUERY).degraded == ()
    block = memory.context(QUERY)
    assert block.degraded == ()
    assert TEXTS[0] in block.text
    assert TEXTS[0] in plugin.prepare_context(QUERY)
    memory.running("What of the lantern?", conversation="c")
    AimMemory(memory).route_memory(QUERY, conversation="c")
    AimMemory(memory).get_stats("c")


@pytest.fixture(scope="module")
def town(stack: Servers) -> Iterator[System]:
    """A system that waits for Redis as long as a busy machine may take: what is spoilt here is values, not the time."""
    with pytest.MonkeyPatch.context() as patch, system(stack, write=WritePolicy(max_per_minute=1_000_000)) as built:
        patch.setattr(stores, "REDIS_TIMEOUT_S", 30.0)
        yield built


@pytest.fixture(scope="module")
def pair(town: System) -> Iterator[Pair]:
    with town.connect() as memory, redis.Redis.from_url(town.where.redis_url) as client:
        built = Pair(memory, memory.scope(user="another"), client)
        for each in (built.memory, built.other):
            ids = each.remember_many([{"text": text, "importance": 5} for text in TEXTS], wait=True)
            each.feedback(ids)
            built.warm(each)
        yield built


def test_every_kind_is_kept_where_the_names_say(pair: Pair) -> None:
    pair.warm(pair.memory)
    eventually(lambda: set(pair.kept()) == named(pair))


def spoilt_parts() -> Iterator[Any]:
    """Each way to spoil with each key; `make test` tries each way with three keys, and each key in two ways."""
    for number, spoil in enumerate(SPOILS):
        for part in range(12):
            marks = () if (number + part) % 4 == 0 else (pytest.mark.long,)
            yield pytest.param(spoil, part, id=f"{part}-{spoil.__name__}", marks=marks)


def named(pair: Pair) -> set[bytes]:
    return {key.encode() for kind in KINDS for key in keys_of(kind, pair.memory.bound_to.ns)}


@pytest.mark.parametrize(("spoil", "part"), list(spoilt_parts()))
def test_a_spoilt_key_costs_no_answer_and_no_other_scope(pair: Pair, spoil: Spoil, part: int) -> None:
    # Given a scope of which Redis holds everything
    pair.warm(pair.memory)
    eventually(lambda: set(pair.kept()) == named(pair))
    # When one key of it is spoilt
    spoil(pair.client, sorted(named(pair))[part])
    # Then everything answers as ever, here and there
    use(pair.memory)
    assert pair.other.recall(QUERY).degraded == ()


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(spoil, id=spoil.__name__, marks=() if number % 4 == 0 else pytest.mark.long)
        for number, spoil in enumerate(SPOILS)
    ],
)
def test_what_is_written_and_slept_on_while_all_keys_are_spoilt_is_there(pair: Pair, spoil: Spoil) -> None:
    pair.warm(pair.memory)
    for key in named(pair):
        spoil(pair.client, key)
    written = pair.memory.remember(f"and a remark {uuid.uuid4().hex}", speaker="Ann", conversation="c", wait=True)
    assert not pair.memory.sleep().failed
    assert pair.memory.get(written).status == "active"
    use(pair.memory)
    use(pair.other)


@pytest.mark.long
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    part=st.integers(0, 11),
    noise=st.binary(min_size=1, max_size=200),
    also=st.lists(st.tuples(st.integers(0, 11), st.sampled_from(SPOILS[:-1])), max_size=3),
)
def test_any_bytes_in_any_key_cost_no_answer(
    pair: Pair, part: int, noise: bytes, also: list[tuple[int, Spoil]]
) -> None:
    pair.warm(pair.memory)
    eventually(lambda: set(pair.kept()) == named(pair))
    keys = sorted(named(pair))
    garbled(pair.client, keys[part], noise)
    for other, spoil in also:
        spoil(pair.client, keys[other])
    use(pair.memory)
    assert pair.other.recall(QUERY).degraded == ()


def test_a_canvas_of_the_form_before_vectors_were_packed_is_filled_again(pair: Pair) -> None:
    # Given the keys of a scope as a version before ADR 0049 wrote them
    pair.warm(pair.memory)
    names = keys_of("canvas", pair.memory.bound_to.ns)
    ids = [member.decode() for member in pair.client.zrange(names[0], 0, -1)]
    assert ids
    vector = np.full(64, 0.3, dtype="<f4").tobytes()
    pair.client.delete(names[4])
    pair.client.hset(names[2], mapping={"": b"\xc6digest\xff", **dict.fromkeys(ids, vector)})
    # When it is used / Then it is refilled
    use(pair.memory)
    eventually(lambda: pair.client.strlen(names[4]) == 16 + 4 * 64 * pair.client.zcard(names[0]) > 16)


def test_what_a_later_version_keeps_under_its_own_names_is_not_read(pair: Pair) -> None:
    pair.warm(pair.memory)
    for key in pair.kept():
        kind, _, rest = key.removeprefix(b"biem:").partition(b":")
        pair.client.set(b"biem:" + kind + b".99:" + rest, b"\xff a later version's")
    use(pair.memory)
    use(pair.other)
    for key in pair.client.scan_iter("biem:*.99:*"):
        pair.client.delete(key)


@pytest.mark.long
def test_spoilt_keys_do_not_keep_an_erasure_from_being_whole(town: System, pair: Pair) -> None:
    every = (
        1 if settings().max_examples > 30 else 3
    )  # each key is spoilt in two or three ways, and in each way some are
    for number, spoil in enumerate(SPOILS[:-1]):
        for place in range(number % every, 11, every):  # all but the allowance, which is no part of a memory
            # Given a scope with a secret, one of whose keys is spoilt
            memory = pair.memory.scope(user=uuid.uuid4().hex)
            secret = memory.remember(f"the lantern opens with zq{place}", speaker="Ann", conversation="c", importance=5)
            memory.remember(TEXTS[0])
            memory.recall(QUERY)
            memory.running("the lantern", conversation="c")
            ns = memory.bound_to.ns
            key = sorted(key.encode() for kind in KINDS for key in keys_of(kind, ns))[place]
            spoil(pair.client, key)
            # When it is erased / Then the receipt is whole, and no value of the scope has it
            assert memory.erase(secret).complete
            assert all(f"zq{place}".encode() not in value for value in dumped(pair.client, ns))
            assert memory.erase(memory.bound_to).complete
            assert dumped(pair.client, ns) == []
    use(pair.other)


def dumped(client: Any, ns: str) -> list[bytes]:
    """All bytes under keys of a scope."""
    found: list[bytes] = []
    for key in client.scan_iter(f"biem:*{{{ns}}}*"):
        match client.type(key):
            case b"string":
                found.append(client.get(key))
            case b"list":
                found += client.lrange(key, 0, -1)
            case b"hash":
                found += [part for item in client.hgetall(key).items() for part in item]
            case b"zset":
                found += client.zrange(key, 0, -1)
    return found


def test_erased_ids_are_looked_for_in_all_scopes_although_one_is_corrupt(town: System, pair: Pair) -> None:
    # Given erased memories of two scopes, the canvas and HotKV of the first of which are of another type
    first, second = sorted(
        (pair.memory.scope(user=uuid.uuid4().hex) for _ in range(2)), key=lambda memory: memory.bound_to.ns
    )
    erased = [memory.remember("to be erased", speaker="Ann") for memory in (first, second)]
    for memory, memory_id in zip((first, second), erased, strict=True):
        memory.erase(memory_id)
    first_kinds: tuple[Kind, ...] = ("canvas", "hot")
    for kind in first_kinds:
        pair.client.set(keys_of(kind, first.bound_to.ns)[0], "x")
    late = keys_of("hot", second.bound_to.ns)
    pair.client.lpush(late[0], erased[1])
    pair.client.hset(late[1], erased[1], "to be erased")
    assert erased[1].encode() in dumped(pair.client, second.bound_to.ns)
    # When they are looked for
    town.sql("UPDATE tombstones SET look_at = now()")
    assert not second.sleep().failed
    # Then what came late to the second is gone; a canvas that is filled with nothing may stand there
    traces = (erased[1].encode(), b"to be erased")
    assert [value for value in dumped(pair.client, second.bound_to.ns) if any(each in value for each in traces)] == []


@pytest.mark.parametrize("kind", KINDS)
def test_diagnose_finds_a_spoilt_value_changes_nothing_and_mends_it_when_it_may(stack: Servers, kind: Kind) -> None:
    with system(stack, write=WritePolicy(max_per_minute=1_000_000), queue="none") as town:
        with town.connect(queue="thread") as memory, redis.Redis.from_url(stack.redis_url) as client:
            ids = memory.remember_many([{"text": text, "importance": 5} for text in TEXTS], wait=True)
            memory.feedback(ids)
            Pair(memory, memory, client).warm(memory)
            memory.flush()
            eventually(lambda: not town.sql("SELECT 1 FROM outbox"))
            eventually(lambda: client.exists(*keys_of(kind, memory.bound_to.ns)) == len(keys_of(kind, "")))
        with redis.Redis.from_url(stack.redis_url) as client:
            key = keys_of(kind, town.scope.ns)[0]
            # Given a key of another type
            of_another_type(client, key.encode())
            before = client.dump(key)
            # When it is looked at / Then it is found, and stays as it is
            found = diagnose(town.settings, full=True, embedder=town.embedder)
            assert [finding.id for finding in found.findings] == ["projection_spoilt"]
            assert key in found.findings[0].samples[0]
            assert client.dump(key) == before
            # And mended when that is wanted
            told = diagnose(town.settings, full=True, fix=True, embedder=town.embedder)
            assert [(finding.id, bool(finding.mended)) for finding in told.findings] == [("projection_spoilt", True)]
            assert diagnose(town.settings, full=True, embedder=town.embedder).findings == ()


def test_a_spoilt_embedding_size_is_no_answer_of_another_model(town: System, pair: Pair) -> None:
    # Given a canvas that says of its vectors that they are shorter
    pair.warm(pair.memory)
    packed = keys_of("canvas", pair.memory.bound_to.ns)[4]
    pair.client.setrange(packed, 8, "00000004")
    # When another embedder's program and this one read it / Then both answer
    with biem.connect(town.settings, scope=pair.memory.bound_to, embedder=WordEmbedder(32, "other")) as memory:
        assert memory.recall(QUERY).degraded == ()
    use(pair.memory)


def test_rows_of_the_index_that_no_memory_can_have_cost_no_answer(town: System, pair: Pair) -> None:
    # Given rows of the scope next to the question whose ids are none, or of no memory
    vector = town.embedder.embed([QUERY], "query")[0]
    spoilt = ("x", "", "' OR 1=1 --", str(uuid.uuid4()).upper(), str(uuid.uuid4()))
    scope = pair.memory.bound_to
    with town.index() as index:
        index.insert(
            [Entry(each, scope, QUERY, vector, "", "", "", (), datetime.now(UTC)) for each in spoilt], again=False
        )
        # When it is used / Then it answers as ever, and so does the other
        use(pair.memory)
        use(pair.other)
        index.purge(spoilt)
