"""The promises of `HotStore` on a real Valkey."""

import socket
import threading
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
import redis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from biem.adapters.probes import RedisProbe
from biem.adapters.redis.hot import RedisHotStore
from biem.bootstrap import Servers
from biem.bootstrap.stores import REDIS_TIMEOUT_S
from biem.domain.node import new_id
from biem.domain.scope import Scope
from biem.errors import CallRefused, StoreFull, StoreUnavailable
from biem.ports import HotEntry
from tests.support.named_ids import NamedHotStore

PATIENT_S = 30.0
"""Where the server answers: a busy machine is no outage."""


def entries(*ids: str) -> list[HotEntry]:
    return [HotEntry(key, f"words of {key}") for key in ids]


def kept(hot: RedisHotStore, scope: Scope) -> list[str]:
    return [entry.id for entry in hot.recent(scope, 1_000)]


@pytest.fixture(scope="module")
def hot(stack: Servers) -> Iterator[RedisHotStore]:
    opened = NamedHotStore(stack.redis_url, timeout_s=PATIENT_S)
    yield opened
    opened.close()


class TestWindow:
    @pytest.mark.req("A21")
    def test_the_window_holds_the_last_texts_newest_first(self, hot: RedisHotStore, scope: Scope) -> None:
        # Given a window of four / When seven texts are pushed, singly and together
        hot.push(scope, entries("1"), 4)
        hot.push(scope, entries("2", "3", "4"), 4)
        hot.push(scope, entries("5", "6", "7"), 4)

        # Then the last four are there, newest first, with their words
        assert hot.recent(scope, 10) == list(reversed(entries("4", "5", "6", "7")))
        assert hot.recent(scope, 2) == list(reversed(entries("6", "7")))
        assert hot.count(scope) == 4

    @pytest.mark.req("A21")
    @settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        window=st.integers(1, 6),
        pushes=st.lists(st.lists(st.integers(0, 9), max_size=9, unique=True), max_size=8),
    )
    def test_it_behaves_like_a_bounded_queue_in_which_each_id_is_once(
        self, hot: RedisHotStore, window: int, pushes: list[list[int]]
    ) -> None:
        # Given a reference queue
        scope = Scope(user=new_id())
        reference: deque[str] = deque(maxlen=window)

        # When the same texts go into both
        for batch in pushes:
            names = [str(number) for number in batch]
            hot.push(scope, entries(*names), window)
            for name in names:
                if name in reference:
                    reference.remove(name)
                reference.append(name)

        # Then both hold the same
        assert kept(hot, scope) == list(reversed(reference))
        assert hot.count(scope) == len(reference)
        hot.forget_scope(scope)

    def test_a_text_pushed_again_moves_to_the_head_with_its_new_words(self, hot: RedisHotStore, scope: Scope) -> None:
        # Given two texts
        hot.push(scope, entries("a", "b"), 10)

        # When the older comes again with other words
        hot.push(scope, [HotEntry("a", "other")], 10)

        # Then it is the newest and there once
        assert [(entry.id, entry.lexemes) for entry in hot.recent(scope, 10)] == [("a", "other"), ("b", "words of b")]

    def test_a_batch_greater_than_the_window_and_than_one_script_call_keeps_the_newest(
        self, hot: RedisHotStore, scope: Scope
    ) -> None:
        # Given more texts than a call takes
        many = [str(number) for number in range(1_300)]

        # When they are pushed with a small and with a great window
        hot.push(scope, entries(*many), 3)
        small = kept(hot, scope)
        hot.push(scope, entries(*many), 1_200)

        # Then the newest are there
        assert small == ["1299", "1298", "1297"]
        assert hot.count(scope) == 1_200
        assert kept(hot, scope)[:2] == ["1299", "1298"]

    def test_a_window_that_was_made_much_smaller_is_cut_by_the_next_push(
        self, hot: RedisHotStore, scope: Scope
    ) -> None:
        # Given a great window that is full
        hot.push(scope, entries(*map(str, range(9_000))), 9_000)

        # When the setting is lowered and a text comes
        hot.push(scope, entries("new"), 2)

        # Then the window is what it is set to
        assert kept(hot, scope) == ["new", "8999"]

    def test_a_window_of_nothing_keeps_nothing(self, hot: RedisHotStore, scope: Scope) -> None:
        # Given the window is switched off / When texts are pushed
        hot.push(scope, entries("a", "b"), 0)

        # Then none is kept
        assert hot.recent(scope, 10) == []
        assert hot.count(scope) == 0

    def test_asking_for_no_texts_gives_none(self, hot: RedisHotStore, scope: Scope) -> None:
        # Given a text / When none are asked for / Then none come
        hot.push(scope, entries("a"), 10)
        assert hot.recent(scope, 0) == []

    def test_pushing_nothing_changes_nothing(self, hot: RedisHotStore, scope: Scope) -> None:
        # Given a text / When nothing is pushed / Then it stays
        hot.push(scope, entries("a"), 10)
        hot.push(scope, [], 10)
        assert kept(hot, scope) == ["a"]

    @pytest.mark.req("X38", partly="HotKV")
    def test_concurrent_writers_leave_every_text_with_its_words(self, hot: RedisHotStore, scope: Scope) -> None:
        # Given eight writers / When they push to one scope with a small window
        def work(number: int) -> None:
            for turn in range(25):
                hot.push(scope, entries(f"{number}-{turn}", f"{number}-{turn}-b"), 10)

        with ThreadPoolExecutor(8) as threads:
            list(threads.map(work, range(8)))

        # Then the window is full and whole
        found = hot.recent(scope, 100)
        assert len(found) == len({entry.id for entry in found}) == hot.count(scope) == 10
        assert all(entry.lexemes == f"words of {entry.id}" for entry in found)


class TestForget:
    @pytest.mark.req("X16", partly="HotKV")
    def test_forgetting_removes_these_memories_and_only_these(
        self, hot: RedisHotStore, scope: Scope, other: Scope
    ) -> None:
        # Given the same ids in two scopes
        hot.push(scope, entries("a", "b", "c"), 10)
        hot.push(other, entries("a", "b", "c"), 10)

        # When one scope forgets two, one of them unknown
        hot.forget(scope, ["b", "unknown"])
        hot.forget(scope, [])

        # Then that one is gone there and nowhere else
        assert kept(hot, scope) == ["c", "a"]
        assert hot.count(scope, ["b"]) == 0
        assert kept(hot, other) == ["c", "b", "a"]

    @pytest.mark.req("X16", partly="HotKV, a whole scope")
    def test_forgetting_a_scope_leaves_no_key_of_it(
        self, hot: RedisHotStore, stack: Servers, scope: Scope, other: Scope
    ) -> None:
        # Given two scopes
        hot.push(scope, entries("a", "b"), 10)
        hot.push(other, entries("a"), 10)

        # When one is forgotten
        hot.forget_scope(scope)

        # Then no key names it and the other is whole
        with redis.Redis.from_url(stack.redis_url) as client:
            assert list(client.scan_iter(f"*{scope.ns}*")) == []
        assert hot.count(scope) == 0
        assert kept(hot, other) == ["a"]

    def test_counting_counts_a_scope_or_these_memories_of_it(
        self, hot: RedisHotStore, scope: Scope, other: Scope
    ) -> None:
        # Given texts of two scopes
        hot.push(scope, entries("a", "b", "c"), 10)
        hot.push(other, entries("d"), 10)

        # When they are counted / Then each question has its own answer
        assert hot.count(scope) == 3
        assert hot.count(scope, ["a", "c", "d", "unknown"]) == 2
        assert hot.count(scope, []) == 0

    @pytest.mark.req("X19", "C24", partly="HotKV")
    def test_a_flood_in_one_scope_evicts_nothing_of_another(
        self, hot: RedisHotStore, scope: Scope, other: Scope
    ) -> None:
        # Given a text of a quiet scope
        hot.push(scope, entries("quiet"), 4)

        # When another scope is flooded
        hot.push(other, entries(*map(str, range(100))), 4)

        # Then it is still there
        assert kept(hot, scope) == ["quiet"]

    @pytest.mark.req("X39", partly="Redis")
    @pytest.mark.parametrize("name", ["*", "{a}", "a b\r\nFLUSHALL\r\n", "[x]?", "' or 1=1", "爱"])
    def test_hostile_scope_names_are_names(self, hot: RedisHotStore, name: str, scope: Scope) -> None:
        # Given a scope with a hostile name, and another one
        named = Scope(tenant=name, user=scope.user, project=name)
        hot.push(scope, entries("mine"), 4)

        # When it is used and forgotten
        hot.push(named, [HotEntry(name, name)], 4)
        found = hot.recent(named, 4)
        hot.forget_scope(named)

        # Then it was data, and the other scope is whole
        assert found == [HotEntry(name, name)]
        assert hot.count(named) == 0
        assert kept(hot, scope) == ["mine"]


class TestOutage:
    def test_an_address_without_a_server_is_named_with_its_setting(self, tmp_path: Path, scope: Scope) -> None:
        # Given no server
        hot = NamedHotStore(f"unix://{tmp_path}/none.sock", timeout_s=REDIS_TIMEOUT_S)

        # When each call is made / Then it says what to check, and names its cause
        for call in (
            hot.ping,
            lambda: hot.push(scope, entries("a"), 4),
            lambda: hot.recent(scope, 4),
            lambda: hot.forget(scope, ["a"]),
            lambda: hot.forget_scope(scope),
            lambda: hot.count(scope),
        ):
            with pytest.raises(StoreUnavailable, match="BIEM_REDIS_URL") as caught:
                call()
            assert isinstance(caught.value.__cause__, redis.exceptions.RedisError)
        hot.close()

    @pytest.mark.req("X49", partly="a silent Redis")
    def test_a_server_that_never_answers_is_asked_once_for_half_a_second(self, tmp_path: Path, scope: Scope) -> None:
        # Given a server that accepts and is silent
        with socket.socket(socket.AF_UNIX) as silent:
            silent.bind(str(tmp_path / "s"))
            silent.listen()
            hot = NamedHotStore(f"unix://{tmp_path}/s", timeout_s=REDIS_TIMEOUT_S)

            # When it is asked
            started = time.monotonic()
            with pytest.raises(StoreUnavailable, match="BIEM_REDIS_URL"):
                hot.recent(scope, 4)

            # Then the caller goes on after the time it allows, and did not ask again
            assert time.monotonic() - started < 20.0
            assert REDIS_TIMEOUT_S == 0.5
            silent.accept()[0].close()
            silent.setblocking(False)
            with pytest.raises(BlockingIOError):
                silent.accept()
            hot.close()

    def test_a_connection_lost_while_idle_costs_no_call(self, stack: Servers, scope: Scope) -> None:
        # Given a store whose connection the server has closed
        hot = NamedHotStore(stack.redis_url, timeout_s=PATIENT_S)
        hot.push(scope, entries("a"), 4)
        with redis.Redis.from_url(stack.redis_url) as client:
            client.execute_command("CLIENT", "KILL", "TYPE", "NORMAL", "SKIPME", "YES")

        # When it is asked / Then it answers
        assert kept(hot, scope) == ["a"]
        hot.close()

    def test_scripts_that_the_server_has_forgotten_are_sent_again(
        self, hot: RedisHotStore, stack: Servers, scope: Scope
    ) -> None:
        # Given a server that was restarted and knows no scripts
        hot.push(scope, entries("a"), 4)
        with redis.Redis.from_url(stack.redis_url) as client:
            client.script_flush()

        # When a text is pushed / Then it is kept
        hot.push(scope, entries("b"), 4)
        assert kept(hot, scope) == ["b", "a"]

    def test_a_full_server_is_distinguished_from_one_that_is_gone(
        self, hot: RedisHotStore, stack: Servers, scope: Scope
    ) -> None:
        # Given a server whose memory is used up
        with redis.Redis.from_url(stack.redis_url) as client:
            client.config_set("maxmemory", "1")
            try:
                # When a text is pushed / Then the message says what is full and what to do
                with pytest.raises(StoreUnavailable, match="full"):  # it answers a ping, and is of no use
                    RedisProbe(stack.redis_url).reach()
                with pytest.raises(StoreFull, match="maxmemory"):
                    hot.push(scope, entries("a"), 4)
            finally:
                client.config_set("maxmemory", "0")

    @pytest.mark.req("X49", partly="a Redis whose disk is full")
    def test_a_server_whose_disk_is_full_says_so(self, tmp_path: Path, scope: Scope) -> None:
        # Given a server that refuses every write, in the words of Valkey
        refusal = b"-MISCONF Errors writing to the AOF file: No space left on device\r\n"
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(tmp_path / "full"))
            listener.listen()

            def refuse() -> None:
                with suppress(OSError), listener.accept()[0] as client:
                    while request := client.recv(1 << 16):
                        client.sendall(refusal * request.count(b"*"))

            server = threading.Thread(target=refuse)
            server.start()
            hot = NamedHotStore(f"unix://{tmp_path / 'full'}", timeout_s=PATIENT_S)
            # When a text is pushed / Then the message says what is full, and not to look for a server that is gone
            with pytest.raises(StoreFull, match=r"disk of Redis is full.*free some space"):
                hot.push(scope, entries("a"), 4)
            hot.close()
            server.join()

    @pytest.mark.parametrize(
        ("refusal", "outage"),
        [
            (b"-WRONGTYPE Operation against a key holding the wrong kind of value\r\n", False),
            (b"-ERR user_script:7: attempt to compare nil with number\r\n", False),
            (b"-READONLY You can't write against a read only replica.\r\n", True),
            (b"-MISCONF Redis is configured to save RDB snapshots, but cannot\r\n", True),
            (b"-NOPERM this user has no permissions to run the command\r\n", True),
        ],
    )
    def test_a_refusal_that_is_about_one_key_does_not_keep_others_from_asking(
        self, tmp_path: Path, scope: Scope, refusal: bytes, outage: bool
    ) -> None:
        # Given a server that answers each request with a refusal
        asked: list[bytes] = []
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(tmp_path / "refuses"))
            listener.listen()

            def refuse() -> None:
                with suppress(OSError), listener.accept()[0] as client:
                    while request := client.recv(1 << 16):
                        asked.append(request)
                        client.sendall(refusal * request.count(b"*"))

            server = threading.Thread(target=refuse)
            server.start()
            hot = NamedHotStore(f"unix://{tmp_path / 'refuses'}?protocol=2", timeout_s=PATIENT_S)
            with pytest.raises(StoreUnavailable) as caught:
                hot.recent(scope, 4)
            # When the next call is made / Then the server is asked, unless it said something about itself
            before = len(asked)
            with pytest.raises(StoreUnavailable):
                hot.recent(scope, 4)
            assert (len(asked) == before) == outage
            assert isinstance(caught.value, CallRefused) != outage
            hot.close()
            server.join()

    def test_closing_twice_is_closing_once(self, stack: Servers) -> None:
        # Given an open store / When it is closed twice / Then nothing happens
        hot = NamedHotStore(stack.redis_url, timeout_s=PATIENT_S)
        hot.ping()
        hot.close()
        hot.close()
