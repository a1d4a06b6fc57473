"""A `.env` of the current folder does not redirect where a key of the environment is sent."""

from pathlib import Path

import pytest

from biem.bootstrap.env_file import require_own_addresses
from biem.cli.output import Output
from biem.cli.session import Session
from biem.errors import ConfigError
from biem.web.app import configured

SECRET = "hunter2-and-more"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, prepared by somebody else."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("BIEM_EMBEDDER__API_KEY", "BIEM_EMBEDDER__URL=http://evil.example.org"),
        ("BIEM_EMBEDDER__API_KEY", 'BIEM_EMBEDDER={"url": "http://evil.example.org"}'),
        ("BIEM_EMBEDDER__API_KEY", "biem_embedder__provider=openai"),
        ("BIEM_RERANKER__API_KEY", "BIEM_RERANKER__URL=http://evil.example.org"),
        ("BIEM_REASONER__API_KEY", "BIEM_REASONER__URL=http://evil.example.org"),
        ("BIEM_MILVUS_TOKEN", "BIEM_MILVUS_URI=http://evil.example.org"),
        ("BIEM_MILVUS_TOKEN", "MILVUS_HOST=evil.example.org"),
        ("BIEM_MILVUS_TOKEN", "BIEM_MILVUS_CA=evil.pem"),
        ("POSTGRES_PASSWORD", "BIEM_POSTGRES_HOST=evil.example.org"),
        ("BIEM_POSTGRES_PASSWORD", "POSTGRES_PORT=9"),
        ("PGPASSWORD", "BIEM_POSTGRES_DSN=postgresql://ann@evil.example.org/db"),
    ],
)
def test_a_file_that_lies_there_does_not_lead_a_key_elsewhere(
    key: str, line: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given a key in the environment, and a file of the folder that says where to send it
    monkeypatch.setenv(key, SECRET)
    (folder / ".env").write_text(f"{line}\n", encoding="utf-8")
    # When a command reads its settings / Then it refuses and says what to do
    with pytest.raises(ConfigError, match=r"--env-file \.env") as failure:
        Session(Output()).settings()
    assert SECRET not in str(failure.value)


@pytest.mark.parametrize(
    "lines",
    [
        "BIEM_EMBEDDER__URL=http://evil.example.org",
        "BIEM_EMBEDDER__URL=http://127.0.0.1:9",
        'BIEM_EMBEDDER={"provider": "e5", "url": "http://evil.example.org"}',
        f"BIEM_EMBEDDER__URL=http://evil.example.org\nBIEM_EMBEDDER__API_KEY={SECRET}",
        f"BIEM_EMBEDDER__PROVIDER=OpenAI\nBIEM_EMBEDDER__API_KEY={SECRET}",
        "biem_embedder__provider=ollama",
        "BIEM_RERANKER__PROVIDER=jina\nBIEM_RERANKER__URL=http://evil.example.org",
        "BIEM_REASONER__URL=http://evil.example.org",
    ],
)
def test_a_file_that_lies_there_does_not_send_texts_to_a_server_of_its_choice(lines: str, folder: Path) -> None:
    # Given no key anywhere but in the file / When a command reads its settings / Then it refuses all the same
    (folder / ".env").write_text(f"{lines}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"texts.*--env-file \.env") as failure:
        Session(Output()).settings()
    assert SECRET not in str(failure.value)
    # And a file that was named was chosen
    Session(Output(), env_file=folder / ".env").settings()


def test_a_place_of_the_environment_comes_before_that_of_a_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Given a file that has key and address, and an address and a key of the environment
    path = folder / ".env"
    path.write_text(f"BIEM_EMBEDDER__URL=http://a\nBIEM_EMBEDDER__API_KEY={SECRET}\n", encoding="utf-8")
    monkeypatch.setenv("BIEM_EMBEDDER__URL", "http://mine")
    monkeypatch.setenv("BIEM_EMBEDDER__API_KEY", "mine")
    # Then those of the environment hold
    assert Session(Output()).settings().embedder.url.get_secret_value() == "http://mine"
    # And where only the key is the environment's, the file is refused, unless it was named
    monkeypatch.delenv("BIEM_EMBEDDER__URL")
    assert Session(Output(), env_file=path).settings().embedder.url.get_secret_value() == "http://a"
    with pytest.raises(ConfigError):
        require_own_addresses(path)


def test_servers_with_their_own_passwords_and_packaged_models_are_taken_from_a_file_that_lies_there(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given a file as `make up` writes it, and the embedder that is packaged
    lines = (
        "BIEM_POSTGRES_DSN=postgresql://ann:own-word@127.0.0.1/db",
        "BIEM_REDIS_URL=redis://127.0.0.1:6379/0",
        "BIEM_MILVUS_URI=http://127.0.0.1:19530",
        "BIEM_EMBEDDER__PROVIDER=use",
    )
    (folder / ".env").write_text("\n".join(lines), encoding="utf-8")
    assert Session(Output()).settings().embedder.provider == "use"
    # And a provider of the file whose server the environment names
    (folder / ".env").write_text("BIEM_EMBEDDER__PROVIDER=ollama\n", encoding="utf-8")
    monkeypatch.setenv("BIEM_EMBEDDER__URL", "http://mine")
    assert Session(Output()).settings().embedder.provider == "ollama"


def test_the_web_page_is_no_way_around(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Given the same folder / When the page is served from it / Then nothing is opened
    monkeypatch.setenv("BIEM_REASONER__API_KEY", SECRET)
    (folder / ".env").write_text("BIEM_REASONER__URL=http://evil.example.org\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="BIEM_REASONER__URL"), configured():
        pass
