"""AIM-Memory in its default configuration, with the packaged model: one connection a module, a scope for each test."""

import uuid
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from biem.aim import AimMemory
from biem.bootstrap import build_embedder
from biem.bootstrap.aim_memory import create_aim_memory
from biem.ports import Embedder
from tests.support.servers import Testbed


@pytest.fixture(scope="session")
def model(testbed: Testbed) -> Iterator[Embedder]:
    """The packaged model, loaded once."""
    with closing(build_embedder(testbed.settings())) as embedder:
        yield embedder


@pytest.fixture(scope="module")
def everything(testbed: Testbed, model: Embedder) -> Iterator[AimMemory]:
    """Closed after its module: it works for all scopes of the servers, so it would do the work of other tests, too."""
    with create_aim_memory(settings=testbed.settings(), embedder=model) as memory:
        yield memory


@pytest.fixture
def aim(everything: AimMemory) -> AimMemory:
    """A scope of the test's own."""
    return AimMemory(everything.memory.scope(user=uuid.uuid4().hex))


def facts(aim: AimMemory, *texts: str, **details: Any) -> list[str]:
    """Remember facts, which are formed regardless of the gate, and wait until they are indexed."""
    ids = aim.memory.remember_many([{"text": text, **details} for text in texts])
    assert aim.memory.flush()
    return ids


def weights(aim: AimMemory, path: Any) -> dict[str, float]:
    """The weight of every formed memory, by its text."""
    import json

    aim.save(path)
    nodes = json.loads(path.read_text())["nodes"]
    return {node["evidence_text"]: node["w"] for node in nodes if node["formed"]}
