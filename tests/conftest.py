"""Real servers for every test above the unit tests: one embedded stack a session, one scope a test."""

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

import biem
from biem.bootstrap import Servers, servers
from biem.config import Settings
from tests.fakes import WordEmbedder


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """A developer's own environment must not decide what a test does."""
    import os

    for name in os.environ:
        if name.startswith(("BIEM_", "MILVUS_", "POSTGRES_", "DISABLE_MEMORY")):
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of the session's servers."""
    return tmp_path_factory.mktemp("home") / "biem"


@pytest.fixture(scope="session")
def stack(home: Path) -> Iterator[Servers]:
    """The session's servers, with a migrated database."""
    settings = Settings(home=home)
    with servers(settings) as where:
        biem.connect(settings, embedder=WordEmbedder()).close()
        yield where


@pytest.fixture
def embedder() -> WordEmbedder:
    """An embedder of the test's own."""
    return WordEmbedder()


@pytest.fixture
def memory(stack: Servers, home: Path, embedder: WordEmbedder) -> Iterator[biem.Memory]:
    """A memory in a scope of the test's own."""
    with biem.connect(Settings(home=home), scope=biem.Scope(user=uuid.uuid4().hex), embedder=embedder) as opened:
        yield opened
