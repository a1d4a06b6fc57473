"""What the designs ask of a memory, with default settings and through the public API, on real servers."""

import json
import threading
import uuid
from importlib.resources import files
from math import hypot
from pathlib import Path

import psycopg
import pytest

import biem
from biem.bootstrap import Servers
from biem.bootstrap.aim_memory import create_aim_memory
from biem.errors import EmbedderUnavailable, StoreUnavailable
from tests.support.cli_process import running
from tests.support.fakes import WordEmbedder, eventually
from tests.support.servers import Configure
from tests.support.workloads import in_milvus

SAID = "李娜 is delighted: her new GPT-4 subscription works wonderfully in Shanghai"


@pytest.mark.req("B38")
def test_a_memory_is_encoded_with_entities_mood_and_a_vector_and_never_with_a_vector_of_nothing(
    memory: biem.Memory, embedder: WordEmbedder, stack: Servers
) -> None:
    # Given an embedder that fails / When a text is remembered / Then it waits, without any vector
    embedder.failure = EmbedderUnavailable("502 Bad Gateway")
    key = memory.remember(SAID)
    eventually(lambda: memory.recall("GPT-4").degraded == ("embedder",))
    assert memory.get(key).status == "pending"
    assert memory.node(key).vector == ()
    assert in_milvus(stack.milvus_uri, ids=[key]) == []

    # When the embedder is back / Then the memory has entities, mood and a vector of length one
    embedder.failure = None
    assert memory.flush()
    node = memory.get(key)
    assert {"李娜", "GPT-4", "Shanghai"} <= set(node.entities)
    assert node.sentiment > 0.05
    assert hypot(*memory.node(key).vector) == pytest.approx(1.0, abs=1e-3)
    assert in_milvus(stack.milvus_uri, ids=[key]) == [key]


@pytest.mark.req("B41")
@pytest.mark.parametrize(("importance", "tier"), [(2.4, "L2"), (2.6, "L1")])
def test_a_stored_memory_of_any_energy_has_a_vector_and_a_node_and_a_hot_one_is_in_the_canvas_too(
    memory: biem.Memory, stack: Servers, importance: float, tier: str
) -> None:
    # Given a memory of an energy just below or above a half / When it is stored
    key = memory.remember("The lighthouse keeper paints", importance=importance, wait=True)
    graph, canvas = memory._system.associations, memory._system.recaller._tiers
    graph.refresh(memory.bound_to)

    # Then it is in L1 or not, and in the index and the graph in any case
    assert memory.get(key).tier == tier
    eventually(lambda: {entry.id for entry in canvas.read(memory.bound_to)} == ({key} if tier == "L1" else set()))
    assert in_milvus(stack.milvus_uri, ids=[key]) == [key]
    assert graph.holds(memory.bound_to, key)


@pytest.mark.req("X18")
@pytest.mark.parametrize(
    ("earlier", "later", "contradicts"),
    [
        ("我喜欢吃香菜", "我不喜欢吃香菜", True),
        ("李娜住在北京", "李娜住在上海", True),
        ("Mei likes coriander", "Mei does not like coriander", True),
        ("I know the way to the harbour", "There is no way to the harbour at noon", False),
        ("The small boat is in the harbour", "All the boats are in the harbour", False),
        ("我特别喜欢吃香菜", "我也喜欢吃香菜", False),
    ],
)
def test_a_contradiction_is_noticed_in_either_language_and_never_within_a_word(
    memory: biem.Memory, earlier: str, later: str, contradicts: bool
) -> None:
    memory.remember(earlier, kind="knowledge", wait=True)
    memory.remember(later, kind="knowledge", wait=True)
    found = [conflict for conflict in memory.conflicts(status=None) if conflict.kind != "duplicate"]
    assert [(one.older_text, one.newer_text) for one in found] == ([(earlier, later)] if contradicts else [])


@pytest.mark.req("B23")
def test_an_active_memory_has_its_links_in_postgresql_and_one_whose_links_failed_is_tried_again(
    memory: biem.Memory, stack: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given a fact, and links that cannot be written when the next one of its conversation is encoded
    first = memory.remember("Ann walks along the river with Rex", kind="knowledge", conversation="walk", wait=True)
    links, failed = memory._system.associations._links, threading.Event()

    def refused(*_: object, **__: object) -> int:
        failed.set()
        raise StoreUnavailable("the connection was lost")

    with monkeypatch.context() as away:
        away.setattr(links, "connect", refused)
        second = memory.remember("Ben walks along the river with Rex", kind="knowledge", conversation="walk")
        assert failed.wait(60)
        assert memory.get(second).status == "pending"

    # When they can be written again / Then the memory becomes active, and its links are rows that a new process reads
    assert memory.flush()
    with psycopg.connect(stack.postgres_dsn) as admin:
        query = "SELECT source_id, target_id, link_type FROM crystal_links WHERE ns = %s AND NOT deleted"
        rows = admin.execute(query, (memory.bound_to.ns,)).fetchall()
    assert {kind for source, target, kind in rows if {source, target} == {first, second}} == {"temporal", "semantic"}
    assert {link.type for link in memory.links(first)} == {"temporal", "semantic"}


@pytest.mark.req("A50")
def test_the_precise_preset_lets_some_of_a_real_dialogue_form_and_refuses_some(settings: Configure) -> None:
    # Given a dialogue, and the preset
    lines = files("biem.cli").joinpath("demo_dialogue.jsonl").read_text(encoding="utf-8").splitlines()[:60]
    turns = [json.loads(line) for line in lines]
    scope = biem.Scope(user=uuid.uuid4().hex)
    with create_aim_memory("precise_knowledge", settings=settings(), scope=scope, embedder=WordEmbedder()) as aim:
        ids = aim.memory.remember_many(
            {"text": turn["text"], "speaker": turn["speaker"], "conversation": turn["conversation"]} for turn in turns
        )
        assert aim.memory.flush()

        # When its gate has judged it / Then it has the numbers of the design, and is neither open nor closed
        policy = aim.memory._system.policies.aim
        assert aim.memory._system.policies.write.hot_window == 512
        assert (policy.local_cluster_k, policy.write_threshold) == (64, 0.7)
        assert (policy.anchor_boost, policy.store_evidence) == (3.0, True)
        assert 0 < len(aim.memory.refusals(limit=500)) < len(ids)


@pytest.mark.long
@pytest.mark.req(
    "G63", partly="in place of a local model words answer and the work waits; a broken line needs --skip-bad"
)
def test_a_provider_away_a_broken_line_and_a_damaged_cache_each_cost_no_more_than_themselves(
    memory: biem.Memory, embedder: WordEmbedder, stack: Servers, tmp_path: Path
) -> None:
    # Given a memory whose kept vector is damaged, in length and altogether
    texts = ("The tram leaves at seven", "The ferry leaves at nine")
    for text in texts:
        memory.remember(text, wait=True)
    with psycopg.connect(stack.postgres_dsn, autocommit=True) as admin:
        damage = (
            "UPDATE embeddings SET vector = %s FROM memories m WHERE m.embed_sha = sha256 AND m.ns = %s AND text = %s"
        )
        for text, vector in zip(texts, (b"\0" * 12, b"\1\2\3"), strict=True):
            assert admin.execute(damage, (vector, memory.bound_to.ns, text)).rowcount == 1

    # When the same texts are said again / Then they are embedded again, and the damage is gone
    again = memory.remember_many([{"text": text, "conversation": "again"} for text in texts], wait=True)
    assert {len(memory.node(key).vector) for key in again} == {embedder.info.dim}
    assert sorted(in_milvus(stack.milvus_uri, ids=again)) == sorted(again)

    # When the provider is away / Then words answer, and what is new waits for this very model
    embedder.failure = EmbedderUnavailable("502 Bad Gateway")
    key = memory.remember("The balloon leaves at dawn")
    hits = memory.recall("balloon")
    assert ([hit.node.id for hit in hits], hits.degraded) == ([key], ("embedder",))
    embedder.failure = None
    assert memory.flush()
    assert len(memory.node(key).vector) == embedder.info.dim

    # When a line of an import cannot be read / Then the others are there
    path = tmp_path / "chat.jsonl"
    path.write_text('{"text": "one"}\n{"text": "no end\n{"text": "two"}\n', encoding="utf-8")
    with running(tmp_path / "home") as cli:
        done = cli("import", str(path), "--skip-bad", "--no-wait", "--json", code=2).document
    assert (done["messages"], done["bad"]) == (2, 1)
