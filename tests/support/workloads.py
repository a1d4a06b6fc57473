"""What the integration tests run as other processes, and what they look at the stores with.

`python -m tests.support.workloads NAME ARGUMENT…` runs one of the scripts at the end of this file.
"""

import json
import os
import re
import selectors
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import psycopg
import redis
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

import biem
from biem.adapters.embedded import Urls
from biem.adapters.milvus.light_import import MilvusClient
from biem.bootstrap import Servers
from biem.ports import Completion, Encoded
from tests.support.fakes import WordEmbedder

ROOT = Path(__file__).parents[2]

Address = str | tuple[str, int]
"""Where a server listens: the path of its socket, or host and port."""


@contextmanager
def process(name: str, *arguments: object, env: dict[str, str] | None = None) -> Iterator[subprocess.Popen[str]]:
    """One of the scripts below in its own process, told to leave at the end of the block."""
    kept = ("PATH", "HOME", "TMPDIR", "PYTHONPATH")
    clean = {key: os.environ[key] for key in kept if key in os.environ}
    with subprocess.Popen(
        [sys.executable, "-m", "tests.support.workloads", name, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=clean | (env or {}),
    ) as started:
        try:
            yield started
            if started.poll() is None:
                started.communicate(timeout=300)
        finally:
            started.kill()


def line(started: subprocess.Popen[str]) -> str:
    """The next line that the process says; waits for it."""
    assert started.stdout is not None
    return started.stdout.readline().strip()


def processes(home: Path) -> list[str]:
    """Command lines of all living processes that name this home."""
    found = []
    for candidate in psutil.process_iter(["cmdline", "status", "pid"]):
        words = " ".join(candidate.info["cmdline"] or ())
        alive = candidate.info["status"] != psutil.STATUS_ZOMBIE and candidate.info["pid"] != os.getpid()
        if alive and re.search(rf"{re.escape(str(home))}(/| |$)", words):
            found.append(words)
    return found


# -- looking into the stores with their own clients -------------------------------------------------------------------


def in_postgres(dsn: str, needle: str) -> list[str]:
    """The tables of which some row holds the text, seen as superuser."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        tables = connection.execute(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1"
        ).fetchall()
        assert ("memories",) in tables
        return [
            name
            for (name,) in tables
            if connection.execute(
                sql.SQL("SELECT 1 FROM {} AS t WHERE t::text ILIKE %s LIMIT 1").format(sql.Identifier(name)),
                (f"%{needle}%",),
            ).fetchone()
        ]


def in_redis(url: str, needle: str) -> list[str]:
    """The keys that hold the text, in their name or anywhere in their value."""
    with redis.Redis.from_url(url) as client:
        return [key.decode() for key in client.scan_iter() if needle.encode() in key + value_of(client, key)]


def value_of(client: "redis.Redis", key: bytes) -> bytes:
    readers: dict[bytes, Callable[[], object]] = {
        b"string": lambda: client.get(key),
        b"list": lambda: client.lrange(key, 0, -1),
        b"hash": lambda: client.hgetall(key),
        b"set": lambda: client.smembers(key),
        b"zset": lambda: client.zrange(key, 0, -1),
        b"stream": lambda: client.xrange(key),
    }
    kind = bytes(client.type(key))  # type: ignore[arg-type]
    return b"" if kind == b"none" else repr(readers[kind]()).encode()


def in_milvus(uri: str, *, needle: str = "", ns: str = "", ids: Sequence[str] = ()) -> list[str]:
    """The id of each row, in any collection, that holds the word, belongs to the scope, or has one of the ids."""
    client = MilvusClient(uri=uri, dedicated=True)
    try:
        found = []
        for collection in client.list_collections():
            client.load_collection(collection)
            named = collection.endswith("_tags")  # tags of notes: a number, a scope and a vector each, no text
            rows = client.query(
                collection, filter="id >= 0" if named else 'id != ""',
                output_fields=["id", "ns"] if named else ["id", "ns", "lexemes"], limit=16_384,
                consistency_level="Strong",
            )  # fmt: skip
            assert len(rows) < 16_384
            found += [
                str(row["id"])
                for row in rows
                if (not needle or needle in row.get("lexemes", "").split())
                and (not ns or row["ns"] == ns)
                and (not ids or str(row["id"]) in ids)
            ]
        return found
    finally:
        client.close()


def anywhere(where: Servers | Urls, needle: str) -> list[str]:
    """Every place of every store that holds the word."""
    return [
        *(f"postgres.{table}" for table in in_postgres(where.postgres_dsn, needle)),
        *(f"redis {key}" for key in in_redis(where.redis_url, needle)),
        *(f"milvus {row}" for row in in_milvus(where.milvus_uri, needle=needle)),
    ]


# -- a server that can be cut off -------------------------------------------------------------------------------------


class Door:
    """A socket in front of a server's: `shut` cuts everyone off, `stall` leaves them waiting, `open` lets them in.

    `swallow` lets PostgreSQL commit the next transaction that holds the given bytes and cuts the connection before
    anybody hears of it; then it shuts the door if it is refused.
    """

    def __init__(self, path: Path, server: Address) -> None:
        self.path = path
        self._server = server
        self._way = threading.Event()
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._lock = threading.Lock()
        self._listener: socket.socket | None = None
        self._swallow = b""
        self._shut_then = False
        self.open()

    def open(self) -> None:
        """Let everyone in."""
        self._way.set()
        if self._listener is None:
            self._listener = socket.socket(socket.AF_UNIX)
            self._listener.bind(str(self.path))
            self._listener.listen(64)
            threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def stall(self) -> None:
        """Keep all connections, and pass nothing on."""
        self._way.clear()

    def shut(self) -> None:
        """Cut all connections, and refuse new ones."""
        listener, self._listener = self._listener, None
        if listener is not None:
            self.path.unlink()
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        with self._lock:
            pairs, self._pairs = self._pairs, []
        for pair in pairs:
            _cut(pair)
        self._way.set()

    def swallow(self, request: bytes, *, then_shut: bool = False) -> None:
        """Lose the answer to the commit of the next transaction that holds these bytes."""
        self._swallow, self._shut_then = request, then_shut

    @property
    def swallowed(self) -> bool:
        """Whether that has happened."""
        return not self._swallow

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client = listener.accept()[0]
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX if isinstance(self._server, str) else socket.AF_INET)
            try:
                server.connect(self._server)
            except OSError:
                client.close()
                server.close()
                continue
            with self._lock:
                self._pairs.append((client, server))
            threading.Thread(target=self._carry, args=(client, server), daemon=True).start()

    def _carry(self, client: socket.socket, server: socket.socket) -> None:
        try:
            with selectors.DefaultSelector() as ready, suppress(OSError, ValueError):
                ready.register(client, selectors.EVENT_READ, server)
                ready.register(server, selectors.EVENT_READ, client)
                self._pass_on(ready, server)
        finally:
            _cut((client, server))

    def _pass_on(self, ready: selectors.BaseSelector, server: socket.socket) -> None:
        met = False
        while True:
            for key, _ in ready.select():
                assert isinstance(key.fileobj, socket.socket)
                data = key.fileobj.recv(1 << 16)
                self._way.wait()
                if not data:
                    return
                met = met or (bool(self._swallow) and self._swallow in data)
                if not (met and key.fileobj is server and _COMMITTED in data):
                    key.data.sendall(data)
                else:
                    if self._shut_then:
                        self.shut()
                    self._swallow = b""
                    return


_COMMITTED = b"Z\0\0\0\5I"
"""PostgreSQL's ReadyForQuery outside a transaction: what was asked is done."""


def _cut(pair: tuple[socket.socket, socket.socket]) -> None:
    for end in pair:
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()


class Doors:
    """A door in front of each of the three servers, and their URLs: to biem they are servers of another user."""

    def __init__(self, folder: Path, where: Servers) -> None:
        self.postgres = Door(folder / ".s.PGSQL.5432", _postgres(where.postgres_dsn))
        self.redis = Door(folder / "redis", _server(where.redis_url, 6379))
        self.milvus = Door(folder / "milvus", _server(where.milvus_uri, 19530))
        login = urlsplit(where.redis_url).netloc.rpartition("@")[0]
        self.urls = {
            "postgres_dsn": make_conninfo(where.postgres_dsn, host=str(folder), port=5432),
            "redis_url": f"unix://{login}{'@' if login else ''}{folder}/redis",
            "milvus_uri": f"unix:{folder}/milvus",
        }

    def shut(self) -> None:
        """Take everything away."""
        for door in (self.postgres, self.redis, self.milvus):
            door.shut()


def _postgres(dsn: str) -> Address:
    parts = conninfo_to_dict(dsn)
    host, port = str(parts["host"]), int(parts.get("port") or 5432)
    return f"{host}/.s.PGSQL.{port}" if host.startswith("/") else (host, port)


def _server(url: str, port: int) -> Address:
    parts = urlsplit(url)
    return parts.path if parts.scheme == "unix" else (str(parts.hostname), parts.port or port)


# -- scripts ----------------------------------------------------------------------------------------------------------


def _say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def _open(home: str, user: str) -> biem.Memory:
    return biem.connect(home=home, scope=biem.Scope(user=user), embedder=WordEmbedder())


def write(home: str, user: str, name: str, count: str, acknowledged: str) -> None:
    """Remember texts and note each acknowledged id durably; says so after each; tries again while a store is away."""
    with _open(home, user) as memory, Path(acknowledged).open("a") as notes:
        for number in range(int(count)):
            text = f"{name}{number} is a text of its own"
            while True:
                try:
                    memory_id = memory.remember(text, speaker=name)
                    break
                except biem.StoreUnavailable as error:
                    sys.stderr.write(f"{name}{number}: {error}\n")
            notes.write(json.dumps([memory_id, text]) + "\n")
            notes.flush()
            os.fsync(notes.fileno())
            _say(number)


def put_items(home: str, user: str, name: str, count: str, acknowledged: str) -> None:
    """Put items, each of seven keys again and again, and delete each third; note durably what was begun and done."""
    with _open(home, user) as memory, Path(acknowledged).open("a") as notes:

        def note(*words: object) -> None:
            notes.write(json.dumps(words) + "\n")
            notes.flush()
            os.fsync(notes.fileno())

        for number in range(int(count)):
            key, gone = f"{name}{number % 7}", number % 3 == 2
            note("begun", key, None if gone else number)
            if gone:
                memory.items.delete((name,), key)
            else:
                memory.items.put((name,), key, {"text": f"{name}{number} is in crate {number}", "n": number})
            note("done", key, None if gone else number)
            _say(number)


def remember(home: str, user: str, text: str) -> None:
    """Remember one text, say its id, stay until told to leave."""
    with _open(home, user) as memory:
        _say(memory.remember(text))
        sys.stdin.read()


def recall(home: str, user: str, query: str) -> None:
    """Say the ids of what is found, and leave."""
    with _open(home, user) as memory:
        _say(*(hit.node.id for hit in memory.recall(query)))


def work(home: str, user: str) -> None:
    """Index all that waits, until told to leave."""
    with _open(home, user):
        _say("working")
        sys.stdin.read()


def kill_between(home: str, user: str, text: str) -> None:
    """Remember a text and be killed when Milvus has it and PostgreSQL does not know yet."""
    _signal_between(home, user, text, signal.SIGKILL)


def stop_between(home: str, user: str, text: str) -> None:
    """Remember a text and be stopped at the same place; goes on when continued, until told to leave."""
    _signal_between(home, user, text, signal.SIGSTOP)


def _signal_between(home: str, user: str, text: str, number: signal.Signals) -> None:
    with _open(home, user) as memory:
        records = memory._system.records
        complete = records.complete

        def interrupted(encoded: Sequence[Encoded]) -> Completion:
            _say("between")
            signal.pthread_kill(threading.get_ident(), number)  # to the process it would go on for a moment
            return complete(encoded)

        records.complete = interrupted  # type: ignore[method-assign]
        _say(memory.remember(text))
        sys.stdin.read()
    _say("left")


SCRIPTS: dict[str, Callable[..., None]] = {
    script.__name__: script for script in (write, put_items, remember, recall, work, kill_between, stop_between)
}

if __name__ == "__main__":
    SCRIPTS[sys.argv[1]](*sys.argv[2:])
