"""TLS and passwords for every server, through Settings alone; who is not who they say gets nothing."""

import base64
from collections.abc import Iterator
from concurrent import futures
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import psycopg
import pytest
import redis
from kombu import pools
from psycopg import sql

import biem
from biem import bootstrap
from biem.adapters.embedded import stop
from biem.adapters.jobs.celery import CeleryQueue, broker_url
from biem.adapters.milvus.index import MilvusIndex
from biem.config import Settings
from biem.ports import EmbedderInfo
from tests.support.fakes import WordEmbedder, eventually
from tests.support.tls import Authority, Terminator

SECRET = "hunter2-and-more"


@dataclass(frozen=True)
class Vault:
    """Three servers behind TLS, two of which want a password, and the authority that vouches for them."""

    authority: Authority
    ports: dict[str, int]
    home: Path

    def settings(self, **more: Any) -> Settings:
        """What an operator would set; `ca` replaces the authority, `password` the password, `mode` libpq's sslmode."""
        ca, password, mode = (
            more.pop(name, default)
            for name, default in (("ca", self.authority.certificate), ("password", SECRET), ("mode", "verify-full"))
        )
        login, tls = f"keeper:{password}", f"sslmode={mode}&sslrootcert={ca}"
        given = {
            "postgres_dsn": f"postgresql://{login}@localhost:{self.ports['postgres']}/vault?{tls}",
            "redis_url": f"rediss://:{password}@localhost:{self.ports['redis']}/0?ssl_ca_certs={ca}",
            "milvus_uri": f"https://localhost:{self.ports['milvus']}",
            "milvus_ca": ca,
            "milvus_token": f"keeper:{password}",
            "milvus_collection": "vault",
            "close_timeout_s": 0.5,
        }
        return Settings(**given | more)


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vault]:
    """Embedded servers of the module's own, reachable over TLS and with passwords only."""
    folder = tmp_path_factory.mktemp("tls")
    authority, home = Authority(folder, "ours"), folder / "home"
    with ExitStack() as stack:
        stack.callback(stop, home)
        where = stack.enter_context(bootstrap.servers(Settings(home=home)))
        rules = home / "postgres" / "pg_hba.conf"
        rules.write_text("local vault all scram-sha-256\n" + rules.read_text())
        with psycopg.connect(where.postgres_dsn, autocommit=True) as admin:
            role = sql.SQL("CREATE ROLE keeper LOGIN CREATEROLE PASSWORD {}").format(sql.Literal(SECRET))
            admin.execute(role)
            admin.execute("CREATE DATABASE vault OWNER keeper")
            admin.execute("SELECT pg_reload_conf()")
        with redis.Redis.from_url(where.redis_url) as client:
            client.config_set("requirepass", SECRET)
        sockets = Path(where.redis_url.removeprefix("unix://")).parent
        servers = {"postgres": ".s.PGSQL.5432", "redis": "valkey.sock", "milvus": "milvus.sock"}
        doors = {}
        for name, file in servers.items():
            doors[name] = Terminator(str(sockets / file), authority, name)  # type: ignore[arg-type]
            stack.callback(doors[name].close)
        known = Vault(authority, {name: door.port for name, door in doors.items()}, home)
        assert bootstrap.migrate(known.settings())
        yield known


@pytest.fixture
def stranger(tmp_path: Path) -> Path:
    """The certificate of an authority that signed nothing here."""
    return Authority(tmp_path, "stranger").certificate


@pytest.mark.long
@pytest.mark.req("B59", "B58", partly="TLS and passwords, through settings alone")
def test_everything_works_over_tls_with_passwords(vault: Vault) -> None:
    # Given settings with an authority and passwords, and nothing else / When a memory lives on these servers
    with biem.connect(vault.settings(), embedder=WordEmbedder()) as memory:
        memory.remember("The vault opens at nine", wait=True)
        hits = memory.recall("vault")
        # Then every server takes part
        assert ([hit.node.text for hit in hits], hits.degraded) == (["The vault opens at nine"], ())
        assert memory.reindex() == 1


def test_a_wake_up_goes_over_tls_to_a_broker_whose_certificate_is_checked(vault: Vault, stranger: Path) -> None:
    # Given the broker that follows from the URL of Redis: with our authority, a stranger's, or those of this machine
    urls = [vault.settings(ca=ca).redis_url for ca in (vault.authority.certificate, stranger)]
    ours, theirs = [url.get_secret_value() for url in urls if url is not None]
    for url, arrives in ((ours, True), (theirs, False), (ours.partition("?")[0], False)):
        pools.reset()  # kombu knows a connection by host and password, and would take the one of before
        # When a worker is woken / Then the message arrives, and only where the authority is ours
        queue = CeleryQueue(broker_url(url))
        queue.start(lambda: 0)
        queue.wake()
        queue.stop(60.0)
        with redis.Redis(host="localhost", port=vault.ports["redis"], password=SECRET, ssl=True,
                         ssl_ca_certs=str(vault.authority.certificate)) as client:  # fmt: skip
            waiting = client.llen("biem:celery:encode")
            client.delete("biem:celery:encode")
        assert bool(waiting) == arrives


def test_a_server_of_another_authority_is_not_trusted(vault: Vault, stranger: Path) -> None:
    # Given a PostgreSQL whose certificate a stranger should have signed / Then no one gets the password
    with pytest.raises(biem.StoreUnavailable, match="certificate verify failed") as failure:
        biem.connect(vault.settings(ca=stranger), embedder=WordEmbedder())
    assert SECRET not in str(failure.value)
    # And a Redis and a Milvus like that are as good as away
    right = vault.settings()
    wrong = vault.settings(ca=stranger, postgres_dsn=right.postgres_dsn, queue="none")
    with biem.connect(wrong, embedder=WordEmbedder()) as memory:
        assert memory.recall("vault").degraded == ("milvus", "redis")


@pytest.mark.long
def test_who_does_not_ask_for_tls_or_has_a_wrong_password_stays_outside(
    vault: Vault, caplog: pytest.LogCaptureFixture
) -> None:
    # Given a client without TLS
    with pytest.raises(biem.StoreUnavailable):
        biem.connect(vault.settings(mode="disable"), embedder=WordEmbedder())
    # And one with a wrong password
    wrong = "not-the-" + SECRET
    with pytest.raises(biem.StoreUnavailable, match="password authentication failed") as failure:
        biem.connect(vault.settings(password=wrong), embedder=WordEmbedder())
    # Then the errors say why, and neither they nor the log show the password
    right = vault.settings()
    caplog.set_level("DEBUG")
    mixed = vault.settings(password=wrong, postgres_dsn=right.postgres_dsn, milvus_token="", queue="none")
    with biem.connect(mixed, embedder=WordEmbedder()) as memory:
        memory.remember("The cellar is dark")
        assert memory.recall("cellar").degraded == ("redis",)
    assert SECRET not in str(failure.value) + caplog.text


def test_the_token_of_milvus_travels_inside_tls_only(tmp_path: Path) -> None:
    # Given a server that speaks TLS and notes who says what
    authority = Authority(tmp_path, "ours")
    heard: list[str] = []

    class Notebook(grpc.ServerInterceptor):  # type: ignore[misc]
        def intercept_service(self, continuation: Any, details: Any) -> Any:
            heard.extend(value for key, value in details.invocation_metadata if key == "authorization")
            return continuation(details)

    server = grpc.server(futures.ThreadPoolExecutor(2), interceptors=[Notebook()])
    keys = [(authority.server_key.read_bytes(), authority.server_certificate.read_bytes())]
    port = server.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials(keys))
    server.start()
    try:
        # When the adapter is used with a token, over TLS and in plain text
        for uri in (f"http://localhost:{port}", f"https://localhost:{port}"):
            assert heard == []
            index = MilvusIndex(
                uri, token=f"keeper:{SECRET}", prefix="p", info=EmbedderInfo("m", 4, ("mul",), 8), index_type="auto",
                timeout_s=1.0, ca=str(authority.certificate),
            )  # fmt: skip
            with pytest.raises(biem.StoreUnavailable) as failure:
                index.ping()
            index.close()
            assert SECRET not in str(failure.value)
        # Then only the first of them was heard
        eventually(lambda: heard)
        assert {base64.b64decode(word).decode() for word in heard} == {f"keeper:{SECRET}"}
    finally:
        server.stop(None)
