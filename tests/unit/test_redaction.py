"""Passwords stay out of messages: unreadable addresses are refused unquoted, and what is known is hidden."""

import io
import logging
import pickle
import traceback
from collections.abc import Callable, Iterator
from urllib.parse import quote

import pytest
from pydantic import ValidationError

from biem import redaction
from biem.adapters.addresses import require_broker, require_http, require_milvus, require_postgres, require_redis
from biem.adapters.http_json import JsonService
from biem.config import EmbedderSettings, Settings
from biem.errors import ConfigError, StoreUnavailable
from biem.redaction import hidden, learn, learn_url

SECRET = "hunter2-and-more"
TAIL = "tail-of-it"
BROKEN = {
    "a percent sign": f"{SECRET}%zz{TAIL}",
    "an at sign": f"{SECRET}@{TAIL}",
    "a slash": f"{SECRET}/{TAIL}",
    "a blank": f"{SECRET} {TAIL}",
    "a line break": f"{SECRET}\n{TAIL}",
}
"""Passwords that were pasted into a URL as they are."""
MARKS = {"a question mark": f"{SECRET}?{TAIL}", "a number sign": f"{SECRET}#{TAIL}"}
"""These libpq takes."""
REQUIRE: dict[str, Callable[[str, str], str]] = {
    "postgresql": require_postgres, "rediss": require_redis, "https": require_milvus, "http": require_http,
    "amqp": require_broker,
}  # fmt: skip


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What one test teaches, no other knows."""
    factory = logging.getLogRecordFactory()
    monkeypatch.setattr(redaction, "_known", set())
    monkeypatch.setattr(redaction, "_pattern", None)
    yield
    logging.setLogRecordFactory(factory)


def told(error: BaseException | None) -> str:
    """All that an error, its causes and its context say."""
    shown = "".join(traceback.format_exception(error))
    while error is not None:
        shown += repr(error) + str(pickle.dumps(error.args))
        error = error.__cause__ or error.__context__
    return shown


@pytest.mark.req("B59", "X43", partly="malformed addresses")
@pytest.mark.parametrize("scheme", REQUIRE)
@pytest.mark.parametrize("password", [*BROKEN.values(), *MARKS.values()], ids=[*BROKEN, *MARKS])
def test_an_address_that_no_client_can_read_is_refused_and_not_quoted(scheme: str, password: str) -> None:
    if scheme == "postgresql" and password in MARKS.values():
        assert require_postgres(f"postgresql://ann:{password}@h:5432/db")
        return
    # Given a password that was pasted into an address / When it is looked at / Then the setting is named, and no more
    with pytest.raises(ConfigError, match=r"BIEM_SOME_URL .*percent-encoded") as failure:
        REQUIRE[scheme](f"{scheme}://ann:{password}@h:5432/db", "BIEM_SOME_URL")
    assert not {SECRET, TAIL} & {word for word in (SECRET, TAIL) if word in told(failure.value)}
    # And encoded it is taken
    good = f"{scheme}://ann:{quote(password, safe='')}@h:5432/db"
    assert REQUIRE[scheme](good, "BIEM_SOME_URL") == good


@pytest.mark.parametrize(
    "dsn",
    [
        f"host=h password={SECRET} {TAIL}", f"host=h password='{SECRET}", f"ann:{SECRET}@h/db", SECRET,
        f"mysql://ann:{SECRET}@h/db", f"postgresql://ann:{SECRET}@h:port/db", f"postgresql://h/db?passwrd={SECRET}",
        f"host=h port={SECRET}", f"postgresql://ann:1234/{SECRET}@h/db",
    ],
)  # fmt: skip
def test_what_libpq_cannot_read_is_not_quoted(dsn: str) -> None:
    with pytest.raises(ConfigError, match="BIEM_POSTGRES_DSN") as failure:
        require_postgres(dsn)
    assert SECRET not in told(failure.value)


@pytest.mark.parametrize(
    ("require", "good"),
    [
        (require_postgres, "postgresql:///db?host=/run/postgresql&user=ann@server"),
        (require_postgres, "postgresql://ann@[::1]:5432,h2:5433/db?sslmode=verify-full"),
        (require_postgres, "host=/run/postgresql dbname=db password='a b'"),
        (require_postgres, "postgresql://%2Fvar%2Frun/db"),
        (require_redis, "rediss://:p%40ss@h:6379/0?ssl_ca_certs=/a@b/ca.pem"),
        (require_redis, "unix:///run/valkey.sock?db=0"),
        (require_milvus, "unix:/home/ann/.biem/run/milvus.sock"),
        (require_milvus, "/home/ann/memories.db"),
        (require_broker, "amqp://ann:p@h//;amqp://ann:p@h2//"),
        (require_broker, "redis+socket:///run/valkey.sock"),
        (lambda url: require_http(url, "BIEM_EMBEDDER__URL"), "https://h.example.org/v1?api-version=2024-02-01"),
    ],
)
def test_addresses_that_clients_read_are_taken(require: Callable[[str], str], good: str) -> None:
    assert require(good) == good


@pytest.mark.req("B59", "X43", partly="what other programs' errors quote")
@pytest.mark.parametrize("password", [SECRET, *BROKEN.values(), *MARKS.values(), "密码是长的一个", f'{SECRET}"\\'])
def test_no_message_of_ours_and_no_log_record_holds_what_settings_hold(password: str) -> None:
    # Given settings with that password, well-formed or not
    dsn = f"postgresql://ann:{password}@h:5432/db"
    settings = Settings(postgres_dsn=dsn, redis_url=f"redis://:{password}@h", milvus_uri="http://h")
    log = io.StringIO()
    handler = logging.StreamHandler(log)
    logger = logging.getLogger("some.package")
    logger.addHandler(handler)
    # When a library quotes it, as it is, in part, or encoded, and we pass that on and log it
    shown = repr(settings) + str(settings.model_dump())
    for said in (dsn, password, quote(password), password.partition("@")[2] or password, repr(password)):
        try:
            raise ValueError(f'bad value "{said}" in address')
        except ValueError as error:
            shown += str(StoreUnavailable(f"PostgreSQL said: {error}")) + hidden(said) + redaction.traceback_of(error)
            logger.exception("it failed with %s", said)
            logger.warning(f"again {said}")
    logger.removeHandler(handler)
    # Then it is shown nowhere
    shown += log.getvalue()
    for part in {password, quote(password), *([] if password.isascii() is False else [SECRET, TAIL])}:
        assert part not in shown, part
    assert "***" in log.getvalue()


def test_a_key_in_the_query_of_a_server_is_not_shown() -> None:
    # Given a server that is called with its key in the address
    url = f"https://ann:{SECRET}@h.example.org/v1/embeddings?api_key={SECRET}-2&api-version=2024"
    service = JsonService(url, api_key=f"{SECRET}-3", setting="BIEM_EMBEDDER__", connections=1)
    # When it is shown / Then it has a host and no key, and a client's words about it have none, either
    assert service.shown == "https://h.example.org/v1/embeddings"
    assert SECRET not in repr(service) + service.hide(f"POST {url} {SECRET}-2 {SECRET}-3")
    service.close()


def test_errors_of_settings_in_a_program_show_no_input() -> None:
    for make in (
        lambda: Settings(embedder={"api_key": [SECRET]}),
        lambda: Settings(postgres_pool=SECRET),
        lambda: EmbedderSettings(timeout_s=SECRET),
    ):
        with pytest.raises(ValidationError) as failure:
            make()
        assert SECRET not in told(failure.value)


def test_words_are_no_secrets() -> None:
    # Given passwords that our own messages say, and short ones / When they are learnt / Then messages stay readable
    for word in ("postgres", "redis", "a", "key"):
        learn(word)
    learn_url("redis://:milvus@h:6379/0")
    learn("hunter2")
    assert hidden("start postgres and redis, a key, milvus; hunter22 hunter2") == (
        "start postgres and redis, a key, milvus; hunter22 ***"
    )
