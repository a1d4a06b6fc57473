"""A memory that mirrors on request only, and helpers on its files."""

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

import biem
from biem.domain.policies.jobs import SleepPolicy
from tests.support.fakes import WordEmbedder
from tests.support.servers import Configure


@pytest.fixture(scope="module")
def system(settings: Configure) -> Iterator[biem.Memory]:
    """One system for all tests of a module; each has its own user."""
    alone = settings(sleep=SleepPolicy(off=("notes", "mirror", "sessions")), queue="none")
    with biem.connect(alone, scope=biem.Scope(user=uuid.uuid4().hex), embedder=WordEmbedder()) as opened:
        yield opened


@pytest.fixture
def memory(system: biem.Memory) -> Iterator[biem.Memory]:
    """The memory of a user that no other test is."""
    opened = system.scope(user=uuid.uuid4().hex)
    yield opened
    opened.erase(user=opened.bound_to.user)


@pytest.fixture
def project(memory: biem.Memory) -> biem.Memory:
    """A project of the same user."""
    return memory.scope(project="lake")


def files_of(root: Path) -> dict[str, bytes]:
    """The Markdown files of a folder by path."""
    return {str(file.relative_to(root)): file.read_bytes() for file in sorted(root.rglob("*.md"))}


def text_of(data: bytes) -> str:
    """The text of a file, without front matter."""
    text = data.decode()
    return (text.partition("\n---\n")[2] if text.startswith("---\n") else text).strip()
