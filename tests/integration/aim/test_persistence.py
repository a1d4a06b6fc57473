"""One JSON file (A54): saved whole or not at all, and loaded anywhere."""

import json
import uuid
from pathlib import Path
from typing import Any

import pytest

from biem.aim import AimMemory
from biem.bootstrap.aim_memory import create_aim_memory, load_aim_memory
from biem.domain.designs.aim_node import AimMemoryNode
from biem.domain.scope import Scope
from biem.errors import InvalidInput, NotFound
from tests.integration.aim.conftest import facts
from tests.support.servers import Testbed


@pytest.fixture
def lived(aim: AimMemory) -> AimMemory:
    """A memory with facts, a refusal, links and inertia."""
    facts(
        aim,
        "Li Ming is allergic to peanuts",
        "林晓住在里斯本的 Hotel Avenida",
        "Li Ming is allergic to peanuts and nuts",
    )
    assert aim.write_memory("Li Ming is allergic to peanuts", speaker="Ann", conversation="c") is False
    aim.route_memory("What can Li Ming not eat?", conversation="c")
    return aim


def content(path: Path) -> dict[str, Any]:
    """A saved file without what names a scope or a moment: ids become texts."""
    saved = json.loads(path.read_text(encoding="utf-8"))
    texts = {node["id"]: node["evidence_text"] + node["speaker"] for node in saved["nodes"]}
    for node in saved["nodes"]:
        node["links"] = sorted((texts[one["target"]], one["type"], one["weight"]) for one in node["links"])
    return {
        "nodes": [{k: v for k, v in node.items() if k not in ("id", "mirror_seq")} for node in saved["nodes"]],
        "hot": [texts[key] for key in saved["hot"]],
        "inertia": saved["inertia"],
        "config": saved["config"],
    }


def linked(saved: dict[str, Any]) -> set[tuple[str, ...]]:
    """Links without their direction: which of two equal ends comes first is a matter of ids."""
    return {
        (*sorted((node["evidence_text"] + node["speaker"], target)), kind)
        for node in saved["nodes"]
        for target, kind, _ in node["links"]
    }


@pytest.mark.req("A20")
def test_a_node_has_all_its_parts_and_a_refused_text_is_no_node(lived: AimMemory, tmp_path: Path) -> None:
    # Given a memory with links and a refusal / When a node is looked at
    (refused,) = (refusal.id for refusal in lived.memory.refusals())
    first, *_ = (hit.node.id for hit in lived.memory.recall("Li Ming is allergic to peanuts") if hit.node.id != refused)
    node = lived.node(first)

    # Then every part is there, it survives JSON, and it is what a saved file has
    assert sum(value * value for value in node.proto) == pytest.approx(1.0, abs=1e-4)
    assert node.links
    assert refused not in node.links
    assert node.summary == node.evidence_text == lived.memory.get(first).text
    assert AimMemoryNode.from_json(json.loads(json.dumps(node.as_json()))) == node
    lived.save(tmp_path / "aim.json")
    (saved,) = (one for one in json.loads((tmp_path / "aim.json").read_text())["nodes"] if one["id"] == first)
    shown = node.as_json()
    assert {name: saved[name] for name in ("summary", "fields", "evidence_ptr", "evidence_text")} == {
        name: shown[name] for name in ("summary", "fields", "evidence_ptr", "evidence_text")
    }
    assert saved["w"] == pytest.approx(node.w)
    with pytest.raises(NotFound, match="refused"):
        lived.node(refused)


@pytest.mark.req("A54")
@pytest.mark.req("C14", partly="JSON is export and import")
def test_a_saved_memory_is_the_same_in_another_scope_and_twice_loaded_not_doubled(
    lived: AimMemory, testbed: Testbed, tmp_path: Path
) -> None:
    # Given a saved memory
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    assert lived.save(first) == 4

    # When it is loaded into a scope that knows nothing, twice, with its configuration
    with load_aim_memory(first, settings=testbed.settings(), scope=Scope(user=uuid.uuid4().hex)) as other:
        assert other.load(first) == 4
        other.save(second)

        # Then nodes, weights, links, inertia, HotKV and configuration are the same
        before, after = content(first), content(second)
        assert linked(after) == linked(before) != set()
        for node in (*before["nodes"], *after["nodes"]):
            del node["links"]
        assert after == before
        assert other.memory.stats()["memories"] == 4
        assert next(hit.node.text for hit in other.memory.recall("Lisbon hotel", top_k=1)).startswith("林晓")


@pytest.mark.req("A54", partly="a crash while saving")
def test_a_save_that_dies_leaves_the_file_that_was_there(
    lived: AimMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given a saved file / When a later save dies before it is complete
    path = tmp_path / "aim.json"
    lived.save(path)
    before = path.read_bytes()

    def dies(*_: object) -> None:
        raise OSError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", dies)
        with pytest.raises(OSError, match="disk is full"):
            lived.save(path)

    # Then the file is as it was, and nothing lies next to it
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["aim.json"]


@pytest.mark.parametrize(
    "text", ["", "[]", '{"format": "other"}', '{"format": "biem-aim", "version": 1}', "{" * 100_000]
)
def test_a_file_that_is_none_of_ours_is_refused_and_nothing_is_written(
    aim: AimMemory, tmp_path: Path, text: str
) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(InvalidInput):
        aim.load(path)
    assert aim.memory.stats()["memories"] == 0


@pytest.mark.req("A53")
def test_any_part_of_the_configuration_may_be_given(testbed: Testbed) -> None:
    given = {
        "hot_window_size": 512, "local_cluster_k": 64, "write_threshold": 0.4, "anchor_threshold": 0.15,
        "weight_decay_gamma": 0.85,
    }  # fmt: skip
    with create_aim_memory(given, settings=testbed.settings()) as memory:
        assert given.items() <= memory.config.items()
        assert memory.config["inertia_momentum"] == 0.85
