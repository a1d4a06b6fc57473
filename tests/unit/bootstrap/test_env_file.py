"""A `.env` that lies in the current folder decides neither where texts and keys go nor what code runs."""

from dataclasses import is_dataclass
from pathlib import Path

import pytest
from pydantic import BaseModel

from biem.bootstrap.env_file import chosen
from biem.cli.invocation import Invocation
from biem.cli.output import Output
from biem.config import Settings
from biem.errors import ConfigError
from biem.server.local.app import configured

SECRET = "hunter2-and-more"
HARMLESS = {
    "milvus_token", "milvus_collection", "milvus_use_lite", "milvus_index", "milvus_port", "milvus_ca", "postgres_port",
    "postgres_db", "postgres_user", "postgres_password", "postgres_pool", "disable_memory", "tenant", "user", "project",
    "queue", "close_timeout_s", "metrics_port", "web_token", "traces", "metrics_rows", "metrics_keep_days", "rescan_s",
    "server_requests_per_minute", "server_upload_mb",
    "profile", "tuning", "embedder__provider", "embedder__api_key", "embedder__query_prefix",
    "embedder__passage_prefix",
    "embedder__timeout_s", "embedder__devices", "embedder__threads", "embedder__cache_mb", "reranker__provider",
    "reranker__api_key", "reranker__devices", "reasoner__api_key", "reasoner__small_model", "reasoner__large_model",
    "reasoner__timeout_s", "reasoner__reply_timeout_s", "reasoner__retries", "reasoner__pause_s",
    "reasoner__max_output_tokens", "reasoner__daily_calls", "reasoner__daily_tokens",
}  # fmt: skip
"""Settings that send nothing anywhere on their own; each name here was thought about. Ports and the like count with
an address of the environment."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, prepared by another user."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "lines",
    [
        "BIEM_POSTGRES_DSN=postgresql://ann@evil.example.org/db",
        "BIEM_POSTGRES_DSN=postgresql://ann:own@127.0.0.1/db\nBIEM_REDIS_URL=redis://a\nBIEM_MILVUS_URI=http://a",
        "BIEM_POSTGRES_HOST=evil.example.org",
        "POSTGRES_HOST=evil.example.org",
        "biem_redis_url=redis://evil.example.org",
        "BIEM_MILVUS_URI=http://evil.example.org",
        "MILVUS_HOST=evil.example.org",
        "BIEM_BROKER_URL=amqp://evil.example.org",
        "BIEM_METRICS_HOST=0.0.0.0",
        "BIEM_HOME=/shared/evil",
        "BIEM_RESCAN=evil:run",
        "BIEM_NAMES_PIPELINE=./evil",
        "BIEM_EMBEDDER__URL=http://evil.example.org",
        'BIEM_EMBEDDER={"provider": "e5", "url": "http://evil.example.org"}',
        f"BIEM_EMBEDDER__URL=http://evil.example.org\nBIEM_EMBEDDER__API_KEY={SECRET}",
        f"BIEM_EMBEDDER__PROVIDER=OpenAI\nBIEM_EMBEDDER__API_KEY={SECRET}",
        "biem_embedder__provider=ollama",
        "BIEM_EMBEDDER__PROVIDER=bge\nBIEM_EMBEDDER__MODEL=./evil",
        "BIEM_RERANKER__PROVIDER=jina",
        "BIEM_RERANKER__PROVIDER=jina\nBIEM_RERANKER__URL=http://evil.example.org",
        "BIEM_RERANKER__PROVIDER=bge\nBIEM_RERANKER__MODEL=./evil",
        "BIEM_REASONER__URL=http://evil.example.org",
    ],
)
def test_what_sends_texts_elsewhere_or_loads_code_is_refused_unless_the_file_was_named(
    lines: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given such a file / When a command looks for its settings / Then it refuses, and says what and what to do
    path = folder / ".env"
    path.write_text(f"{lines}\n", encoding="utf-8")
    name = lines.split("=")[0].upper().removeprefix("BIEM_").removesuffix("__PROVIDER").removesuffix("__API_KEY")
    with pytest.raises(ConfigError, match=rf"BIEM_{name}.*--env-file \.env or set BIEM_ENV_FILE={path}") as failure:
        Invocation(Output()).settings()
    assert SECRET not in str(failure.value)

    # And a file that was named was chosen, in either way
    assert chosen(path) == path
    monkeypatch.setenv("BIEM_ENV_FILE", str(path))
    assert chosen() == path


def test_a_named_file_says_where_servers_are(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Given a file as `make up` writes it, and one of another name
    path, other = folder / ".env", folder / "other.env"
    for file, name in ((path, "ann"), (other, "bob")):
        lines = (
            f"BIEM_POSTGRES_DSN=postgresql://{name}:own-word@127.0.0.1/db",
            "BIEM_REDIS_URL=redis://127.0.0.1:6379/0",
            "BIEM_MILVUS_URI=http://127.0.0.1:19530",
        )
        file.write_text("\n".join(lines), encoding="utf-8")
    # When it is named / Then it is read; the option goes before the variable, and the variable before what lies there
    monkeypatch.setenv("BIEM_ENV_FILE", str(other))
    assert "bob" in str(Invocation(Output()).settings().postgres_url())
    assert "ann" in str(Invocation(Output(), env_file=path).settings().postgres_url())
    # And one that is not there is an error
    monkeypatch.setenv("BIEM_ENV_FILE", str(folder / "none.env"))
    with pytest.raises(ConfigError, match=r"none\.env does not exist.*BIEM_ENV_FILE"):
        Invocation(Output()).settings()


@pytest.mark.parametrize(
    ("variable", "value", "line"),
    [
        ("POSTGRES_HOST", "db.mine", "POSTGRES_PORT=9"),
        ("BIEM_POSTGRES_HOST", "db.mine", "BIEM_POSTGRES_USER=eve"),
        ("POSTGRES_HOST", "db.mine", "BIEM_POSTGRES_DSN=postgresql://evil.example.org"),
        ("BIEM_MILVUS_URI", "https://mine", "BIEM_MILVUS_CA=evil.pem"),
        ("MILVUS_HOST", "mine", "MILVUS_PORT=9"),
        ("BIEM_EMBEDDER__API_KEY", SECRET, "biem_embedder__provider=openai"),
        ("PGPASSWORD", SECRET, "BIEM_POSTGRES_DSN=postgresql://ann@evil.example.org/db"),
    ],
)
def test_a_part_of_an_address_of_the_environment_is_not_taken_from_a_file_that_lies_there(
    variable: str, value: str, line: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given an address or a key of the environment, and a file that would change where it leads / Then it is refused
    monkeypatch.setenv(variable, value)
    (folder / ".env").write_text(f"{line}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"--env-file \.env") as failure:
        chosen()
    assert SECRET not in str(failure.value)


def test_a_place_of_the_environment_comes_before_that_of_a_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Given a file that has key and address, and an address and a key of the environment
    path = folder / ".env"
    path.write_text(f"BIEM_EMBEDDER__URL=http://a\nBIEM_EMBEDDER__API_KEY={SECRET}\n", encoding="utf-8")
    monkeypatch.setenv("BIEM_EMBEDDER__URL", "http://mine")
    monkeypatch.setenv("BIEM_EMBEDDER__API_KEY", "mine")
    # Then those of the environment hold
    assert Invocation(Output()).settings().embedder.url.get_secret_value() == "http://mine"
    # And where only the key is the environment's, the file is refused, unless it was named
    monkeypatch.delenv("BIEM_EMBEDDER__URL")
    assert Invocation(Output(), env_file=path).settings().embedder.url.get_secret_value() == "http://a"
    with pytest.raises(ConfigError):
        Invocation(Output()).settings()


def test_numbers_names_and_packaged_models_are_taken_from_a_file_that_lies_there(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given what a project may say of itself, and passwords without an address, as Compose wants them
    lines = "BIEM_PROJECT=kitchen\nBIEM_RECALL__TOP_K=3\nBIEM_EMBEDDER__PROVIDER=use\nPOSTGRES_PASSWORD=own-word\n"
    (folder / ".env").write_text(lines, encoding="utf-8")
    settings = Invocation(Output()).settings()
    assert (settings.project, settings.recall.top_k, settings.embedder.provider) == ("kitchen", 3, "use")
    # And a provider of the file whose server the environment names
    (folder / ".env").write_text("BIEM_EMBEDDER__PROVIDER=ollama\n", encoding="utf-8")
    monkeypatch.setenv("BIEM_EMBEDDER__URL", "http://mine")
    assert Invocation(Output()).settings().embedder.provider == "ollama"


def test_every_setting_that_is_text_is_refused_or_was_found_harmless(folder: Path) -> None:
    # Given each setting outside the policies, which are numbers of the engine
    fields = {name: field.default for name, field in Settings.model_fields.items()}
    names = [name for name, default in fields.items() if not (isinstance(default, BaseModel) or is_dataclass(default))]
    for section, default in fields.items():
        if isinstance(default, BaseModel):
            names += [f"{section}__{name}" for name in type(default).model_fields]
    # When a found file sets it / Then it is refused, or stands in the list above
    taken = set()
    for name in names:
        (folder / ".env").write_text(f"BIEM_{name.upper()}=anything\n", encoding="utf-8")
        try:
            chosen()
            taken.add(name)
        except ConfigError:
            continue
    assert taken == HARMLESS


def test_the_web_page_is_no_way_around(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Given the same folder / When the page is served from it / Then nothing is opened
    monkeypatch.setenv("BIEM_REASONER__API_KEY", SECRET)
    (folder / ".env").write_text("BIEM_REASONER__URL=http://evil.example.org\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="BIEM_REASONER__URL"), configured():
        pass
