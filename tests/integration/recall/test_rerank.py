"""A reranking server behind recall, and the context block, on real servers."""

import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

import biem
from biem.config import RerankerSettings
from biem.domain.policies.recall import RerankPolicy
from tests.support.fakes import WordEmbedder
from tests.support.model_servers.rerank import Reply, RerankServer
from tests.support.servers import Configure

QUERY = "where does Ann keep the key"
TEXTS = ("Ann keeps the bread in the box", "the key is under the mat", "where does Ann keep the key", "Bob sleeps")


@pytest.fixture
def server() -> Iterator[RerankServer]:
    with RerankServer() as running:
        yield running


def opened(settings: Configure, url: str, **policy: float) -> biem.Memory:
    """A memory that has the texts, with a reranker where there is a URL."""
    reranker = RerankerSettings(provider="jina", model="fake", url=url) if url else RerankerSettings()
    chosen = settings(reranker=reranker, rerank=RerankPolicy(**policy))  # type: ignore[arg-type]
    memory = biem.connect(chosen, scope=biem.Scope(user=uuid.uuid4().hex), embedder=WordEmbedder())
    memory.remember_many({"text": text} for text in TEXTS)
    memory.flush()
    return memory


def texts(hits: biem.Hits) -> list[str]:
    return [hit.node.text for hit in hits]


@pytest.mark.req("G48")
def test_no_reranker_is_asked_by_default_one_is_asked_once_and_its_failure_leaves_the_rule(
    settings: Configure, server: RerankServer
) -> None:
    # Given memories without a reranker / When something is recalled / Then no model is asked
    with opened(settings, "") as memory:
        rule = texts(memory.recall(QUERY, top_k=2))
    assert server.calls == []

    # Given a reranker to which the rule's last is best
    best = "Bob sleeps"

    def change(good: dict[str, object]) -> dict[str, object]:
        documents = server.calls[-1].body["documents"]
        rows = [{"index": n, "relevance_score": 0.9 if text == best else 0.1} for n, text in enumerate(documents)]
        return good | {"results": rows}

    server.default = Reply(change=change)
    with opened(settings, server.url, pause_s=0.0, timeout_s=30.0) as memory:  # a busy machine is no outage
        # When something is recalled / Then it was asked exactly once, about more than is wanted, and has the last word
        hits = memory.recall(QUERY, top_k=2)
        assert len(server.calls) == 1
        assert len(server.calls[0].body["documents"]) == len(TEXTS)
        assert texts(hits)[0] == best
        assert hits[0].why["rerank"] == 0.9
        assert hits.degraded == ()

        # And when it fails / Then the rule stands, and the answer says so
        server.default = Reply(status=503)
        hits = memory.recall(QUERY, top_k=2)
        assert (texts(hits), hits.degraded) == (rule, ("reranker",))
        assert len(server.calls) == 2


@pytest.mark.req("G48", partly="notes")
def test_notes_are_put_in_order_once_too_and_a_failure_leaves_the_rule(
    settings: Configure, server: RerankServer, tmp_path: Path
) -> None:
    # Given notes of which the reranker likes best the one that the rule has last
    for name, text in {"key": "the key is under the mat", "box": "the box has a key", "cat": "a cat sleeps"}.items():
        (tmp_path / f"{name}.md").write_text(f"# {name}\n\n## Place\n\n{text}\n", encoding="utf-8")

    def change(good: dict[str, object]) -> dict[str, object]:
        documents = server.calls[-1].body["documents"]
        rows = [{"index": n, "relevance_score": 0.9 if "cat" in text else 0.1} for n, text in enumerate(documents)]
        return good | {"results": rows}

    server.default = Reply(change=change)
    with opened(settings, server.url, pause_s=0.0, timeout_s=30.0) as memory:
        memory.notes.add(tmp_path)
        memory.notes.sync()
        # When they are searched for one / Then it was asked once, about all of them, with their headings
        [hit] = memory.notes.search("where is the key", top_k=1)
        assert (hit.note.title, hit.score, hit.why["rerank"], len(server.calls)) == ("cat", 0.9, 0.9, 1)
        assert sorted(text.split(" ")[0] for text in server.calls[0].body["documents"]) == ["box", "cat", "key"]
        # And once for memories and once for notes where both answer
        hits = memory.recall(QUERY, top_k=2)
        assert len(server.calls) == 3
        assert hits.notes[0].note.title == "cat"
        # And when it fails / Then the rule stands, and the answer says so
        server.default = Reply(status=503)
        found = memory.notes.search("where is the key", top_k=1)
        assert (found[0].note.title, found.degraded) == ("key", ("reranker",))
        memory.erase(user=memory.bound_to.user)


@pytest.mark.req("X49", partly="the reranker")
def test_a_reranker_that_hangs_costs_its_time_limit_once(settings: Configure, server: RerankServer) -> None:
    # Given a server that thinks for ever, and half a second of patience
    release = threading.Event()
    server.default = Reply(before=lambda: release.wait(30))
    with opened(settings, server.url, timeout_s=0.5, pause_s=60.0) as memory:
        # When something is recalled twice / Then the first waits so long, and the second not at all
        started = time.monotonic()
        assert memory.recall(QUERY).degraded == ("reranker",)
        first = time.monotonic() - started
        assert 0.4 < first < 10.0
        assert memory.recall(QUERY).degraded == ("reranker",)
        assert len(server.calls) == 1
    release.set()


@pytest.mark.req("C31", "M11", "X47", partly="core memories of the scope and the user come first, as they are now")
def test_core_memories_of_user_and_project_begin_every_block(memory: biem.Memory) -> None:
    # Given a rule of the user's, another of a project, and one of another user's
    project = memory.scope(project="garden")
    rule = memory.remember("always answer in French", layer="core", importance=5)
    project.remember("we plant nothing poisonous", layer="core")
    memory.scope(user=uuid.uuid4().hex).remember("a secret of another user", layer="core")
    project.remember("the lemon tree stands in the yard", wait=True)

    # When the project is asked anything / Then both come first, the great one first
    block = project.context("where is the lemon tree?")
    today = f"{memory.now():%Y-%m-%d}"
    assert block.text.startswith(
        f'## Core Memories\n\n- unknown, {today}: "always answer in French"\n'
        f'- unknown, {today}: "we plant nothing poisonous"\n\n## Relevant Memories\n\n1. unknown, '
    )
    assert [hit.node.text for hit in block.hits[:2]] == ["always answer in French", "we plant nothing poisonous"]
    assert "secret" not in block.text

    # And what is archived or erased is shown no more
    memory.archive(rule)
    assert "French" not in project.context("where is the lemon tree?").text
