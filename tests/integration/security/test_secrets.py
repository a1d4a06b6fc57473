"""No password, token or key is shown: not by a repr, an error, a traceback, a log at DEBUG, the CLI or a worker."""

import logging
import os
import pickle
import subprocess
import sys
import traceback
from collections.abc import Iterator, Mapping
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest
import typer
from pydantic import SecretStr
from typer.testing import CliRunner

import biem
from biem import bootstrap
from biem.bootstrap import Servers
from biem.cli.app import application, run
from biem.config import Settings, load_settings
from biem.errors import BiemError, ConfigError
from tests.house.test_docs import commands
from tests.support.fakes import WordEmbedder, eventually

ROOT = Path(__file__).parents[3]
SECRET = "hunter2-and-more"
NOWHERE = "127.0.0.1:9"
"""Port 9 discards; no one listens there here, so every call is refused at once."""
ENVIRONMENT = {
    "BIEM_POSTGRES_DSN": f"postgresql://ann:{SECRET}@{NOWHERE}/biem",
    "BIEM_REDIS_URL": f"redis://:{SECRET}@{NOWHERE}/0",
    "BIEM_BROKER_URL": f"redis://:{SECRET}@{NOWHERE}/1",
    "BIEM_MILVUS_URI": f"http://ann:{SECRET}@{NOWHERE}",
    "BIEM_MILVUS_TOKEN": f"ann:{SECRET}",
    "BIEM_REASONER__URL": f"http://ann:{SECRET}@{NOWHERE}/v1",
    "BIEM_REASONER__API_KEY": SECRET,
    "BIEM_WEB_TOKEN": SECRET,
    "BIEM_REASONER__SMALL_MODEL": "small",
    "BIEM_EMBEDDER__PROVIDER": "openai",
    "BIEM_EMBEDDER__MODEL": "m",
    "BIEM_EMBEDDER__URL": f"http://ann:{SECRET}@{NOWHERE}",
    "BIEM_EMBEDDER__API_KEY": SECRET,
    "BIEM_EMBEDDER__TIMEOUT_S": "0.3",
}


@pytest.fixture
def secret_settings(monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings with a secret wherever one can be, and servers that are not there."""
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    return load_settings()


@pytest.fixture
def all_logs(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """Every record of every library."""
    names = [
        None,
        *("biem", "psycopg", "psycopg.pool", "redis", "pymilvus", "grpc", "httpx", "httpcore", "celery", "kombu"),
    ]
    before = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.DEBUG)
    with caplog.at_level(logging.DEBUG):
        yield caplog
    for name, level in before.items():
        logging.getLogger(name).setLevel(level)


def told(error: BaseException) -> str:
    """All that a traceback of an error shows, with its causes, and what a crash reporter would take along."""
    shown = "".join(traceback.format_exception(error))
    seen: list[BaseException] = []
    chain: BaseException | None = error
    while chain is not None and chain not in seen:  # a library's chain may bite its own tail
        seen.append(chain)
        shown += repr(chain) + repr(chain.args)
        chain = chain.__cause__ or chain.__context__
    return shown


@pytest.mark.req("X43", "B59", partly="settings")
def test_settings_keep_their_secrets_to_themselves(secret_settings: Settings) -> None:
    shown = repr(secret_settings) + str(secret_settings) + str(secret_settings.model_dump())
    shown += secret_settings.model_dump_json() + repr(secret_settings.embedder) + repr(secret_settings.reasoner)
    assert SECRET not in shown
    # And so do the places made of them
    assert SECRET not in repr(Servers("p:" + SECRET, "r:" + SECRET, "m:" + SECRET, SECRET, embedded=False))


def test_a_possible_secret_counts_as_one() -> None:
    """By its name: a setting that is added as plain text fails here."""
    suspicious = ("password", "token", "key", "dsn", "secret", "url", "uri", "credential")

    def plain(kind: Any, name: str) -> Iterator[str]:
        for field, about in kind.model_fields.items():
            inner = about.annotation
            if hasattr(inner, "model_fields"):
                yield from plain(inner, inner.__name__)
            elif any(word in field.split("_") for word in suspicious) and "SecretStr" not in str(inner):
                yield f"{name}.{field}"

    assert list(plain(Settings, "Settings")) == []
    assert "SecretStr" in str(Settings.model_fields["postgres_dsn"].annotation)


def test_an_error_of_settings_does_not_quote_them(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (
        ("BIEM_EMBEDDER", SECRET), ("BIEM_REASONER", f"[{SECRET!r}"), ("BIEM_POSTGRES_POOL", SECRET),
        ("BIEM_MILVUS_COLLECTION", f"{SECRET}!"), ("BIEM_QUEUE", SECRET), ("BIEM_RECALL__STRICT_WORDS", f"[{SECRET}"),
    ):  # fmt: skip
        with monkeypatch.context() as environment:
            environment.setenv(name, value)
            with pytest.raises(ConfigError) as failure:
                load_settings()
        assert SECRET not in str(failure.value), name


@pytest.mark.req("B59", "X43", partly="unreachable servers")
def test_unreachable_servers_are_reported_without_their_passwords(
    secret_settings: Settings, all_logs: pytest.LogCaptureFixture
) -> None:
    # Given PostgreSQL away / When it is opened and migrated
    shown = ""
    for use in (
        lambda: biem.connect(secret_settings, embedder=WordEmbedder()),
        lambda: bootstrap.migrate(secret_settings),
        lambda: bootstrap.build_embedder(secret_settings),
        lambda: bootstrap.open_worker(secret_settings),
    ):
        with pytest.raises(BiemError) as failure:
            use()
        shown += told(failure.value)
    # Then neither the error with all of its causes nor any library's log shows the secret
    assert "PostgreSQL" in shown
    assert SECRET not in shown
    assert SECRET not in all_logs.text


@pytest.mark.long
def test_the_other_servers_fail_without_showing_theirs(
    stack: Servers, secret_settings: Settings, all_logs: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given a PostgreSQL that works, and nothing else / When a memory lives, and wakes workers, and asks a model
    half = secret_settings.model_copy(update={"postgres_dsn": SecretStr(stack.postgres_dsn), "queue": "celery"})
    failures: list[BaseException] = []
    spans: list[str] = []
    with biem.connect(half.model_copy(update={"close_timeout_s": 0.5}), embedder=WordEmbedder()) as memory:
        memory.telemetry.attach(lambda span: spans.append(repr(span)))
        gone = memory.remember("A secret is a secret", speaker="Ann")
        assert set(memory.recall("secret").degraded) == {"milvus", "redis"}
        memory.running("a secret", conversation="c")
        shown = repr(memory.erase(gone)) + repr(memory.sleep()) + repr(memory.stats()) + repr(memory)
        for use in (memory.reindex, memory._system.encoder):
            memory.remember("Another secret", speaker="Ann")
            try:
                use()
            except BiemError as error:
                failures.append(error)
    # Then nothing shows a secret
    assert failures
    assert SECRET not in shown + "".join([*spans, *map(told, failures)])
    assert SECRET not in all_logs.text


ARGUMENTS: Mapping[str, str] = {
    "text": "a text",
    "query": "a question",
    "path": "nowhere.jsonl",
    "file": "nowhere.jsonl",
}


@pytest.mark.req("B59", "X43", partly="the command line")
def test_no_command_shows_a_secret_for_any_arguments(
    secret_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given servers that are away, and every command there is
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BIEM_HOME", str(tmp_path / "home"))
    runner, outcomes = CliRunner(), {}
    app = application()
    whole = typer.main.get_command(app)
    monkeypatch.setattr("typer.testing._get_command", lambda _: whole)  # it builds them all for each call
    for name, command in commands(whole):
        words = name.split()[1:]
        if words[0] in ("local", "demo"):  # they start servers and show no setting of ours
            continue
        for parameter in command.params:
            assert not any(word in str(parameter.name) for word in ("password", "secret", "dsn")), (
                "others see arguments"
            )
            if parameter.param_type_name == "argument" and parameter.required:
                words.append(ARGUMENTS.get(str(parameter.name), "01a1fd84-914d-7ab0-a462-9f69bde926cc"))
        # When it is run
        done = runner.invoke(app, [*words], input="y\n")
        outcomes[name] = done.exit_code
        # Then what it prints holds no secret
        assert SECRET not in done.output + done.stderr, name
        assert done.exception is None or isinstance(done.exception, SystemExit | BiemError), name
        assert done.exception is None or SECRET not in told(done.exception), name
    assert len(outcomes) > 12
    assert any(outcomes.values())


TAIL = "tail-of-it"
MALFORMED = {
    "BIEM_POSTGRES_DSN": f"postgresql://ann:{SECRET}%zz{TAIL}@{NOWHERE}/biem",
    "BIEM_REDIS_URL": f"redis://:{SECRET}/{TAIL}@{NOWHERE}/0",
    "BIEM_MILVUS_URI": f"http://ann:{SECRET}@{TAIL}@{NOWHERE}",
    "BIEM_EMBEDDER__URL": f"http://{NOWHERE}/v1 ?key={SECRET}{TAIL}",
}


@pytest.mark.req("B59", "X43", partly="the command line with malformed addresses")
@pytest.mark.parametrize(
    "setting",
    [
        name if name == "BIEM_POSTGRES_DSN" else pytest.param(name, marks=pytest.mark.long)  # each runs every command
        for name in MALFORMED
    ],
)
def test_no_command_quotes_an_address_that_cannot_be_read(
    setting: str,
    secret_settings: Settings,
    tmp_path: Path,
    all_logs: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Given a password that was pasted into an address as it is, and every command there is
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BIEM_HOME", str(tmp_path / "home"))
    monkeypatch.setenv(setting, MALFORMED[setting])
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO()))
    shown, codes = "", []
    for name, command in commands(typer.main.get_command(application())):
        words = name.split()[1:]
        if words[0] in ("local", "demo", "version"):  # they read no address of ours
            continue
        for parameter in command.params:
            if parameter.param_type_name == "argument" and parameter.required:
                words.append(ARGUMENTS.get(str(parameter.name), "01a1fd84-914d-7ab0-a462-9f69bde926cc"))
        # When it is run so that it tells all it knows
        codes.append(run([*words, "--json", "--verbose"]))
        out, err = capfd.readouterr()
        shown += out + err
    # Then it names the setting, and neither output, nor log, nor traceback holds a piece of the password
    assert setting in shown or setting == "BIEM_EMBEDDER__URL"
    assert set(codes) - {0}
    assert len(codes) > 12
    for piece in (SECRET, TAIL):
        assert piece not in shown
        assert piece not in all_logs.text


@pytest.mark.req("X43", partly="workers")
@pytest.mark.parametrize(
    "role",
    [
        ("worker", "--pool", "solo"),
        pytest.param(("beat", "--pidfile", ""), marks=pytest.mark.long),
        pytest.param(("report",), marks=pytest.mark.long),
    ],
    ids=lambda r: r[0],
)
def test_a_celery_process_logs_no_secret(role: tuple[str, ...], tmp_path: Path) -> None:
    # Given a worker, beat and a report of Celery with a broker that is away / When it runs for a moment, at DEBUG
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "PYTHONPATH") if name in os.environ}
    kept["TMPDIR"] = str(tmp_path)
    words = [sys.executable, "-m", "celery", "-A", "biem.workers.app", *role]
    log = tmp_path / "said"
    with log.open("wb") as out, subprocess.Popen(
        [*words, *([] if role == ("report",) else ["--loglevel", "DEBUG"])],
        cwd=ROOT, env=kept | ENVIRONMENT | {"BIEM_SLEEP__OUTBOX_S": "1"}, stdout=out, stderr=out,
    ) as process:  # fmt: skip
        try:
            eventually(lambda: process.poll() is not None or "refused" in log.read_text())
            process.wait(3.0)
        except subprocess.TimeoutExpired:
            pass
        finally:
            process.kill()
    said = log.read_text()
    # Then it says something, and not with which password
    assert "refused" in said or "biem" in said
    assert SECRET not in said


def test_a_pickle_of_an_error_holds_no_secret(secret_settings: Settings) -> None:
    """As a task queue or a process pool would send it."""
    with pytest.raises(biem.StoreUnavailable) as failure:
        bootstrap.migrate(secret_settings)
    assert SECRET.encode() not in pickle.dumps(failure.value)
