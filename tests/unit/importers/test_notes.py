"""Memories of mem0, graphs of the MCP reference server and Markdown notes become knowledge with times and tags."""

import os
from datetime import UTC, datetime
from pathlib import Path

from tests.unit.importers.files import found, records, write

OLD = datetime(2024, 2, 3, 4, 5, 6, tzinfo=UTC)


def aged(path: str | Path) -> str:
    """Let a file have been modified long ago."""
    os.utime(path, (OLD.timestamp(), OLD.timestamp()))
    return str(path)


MEMORIES: list[dict[str, object]] = [
    {"id": "m1", "memory": "喜欢喝龙井", "user_id": "ann", "hash": "h", "metadata": {"project": "x", "score": 3},
     "categories": ["food", "food", " "], "created_at": "2024-07-20T01:30:36.275141-07:00",
     "updated_at": "2025-01-01T00:00:00Z"},
    {"id": "m2", "memory": "Lives in Graz", "user_id": "ann", "created_at": None, "updated_at": None},
    {"id": "m3", "memory": None},
]  # fmt: skip


def test_mem0_is_read_from_a_list_or_from_results(tmp_path: Path) -> None:
    plain, left, bad = found(write(tmp_path / "list", MEMORIES))
    assert bad == []
    assert [(r.text, r.kind, r.tags) for r in plain] == [
        ("喜欢喝龙井", "knowledge", ("food",)),
        ("Lives in Graz", "knowledge", ()),
    ]
    assert plain[0].at == datetime(2024, 7, 20, 8, 30, 36, 275_141, tzinfo=UTC)
    assert plain[1].at is None
    assert plain[0].metadata == {
        "memory_id": "m1", "user_id": "ann", "updated_at": "2025-01-01T00:00:00Z",
        "metadata": {"project": "x", "score": 3},
    }  # fmt: skip
    assert left == {"without text": 1}
    relations = [{"source": "ann", "relationship": "likes", "target": "tea"}]
    wrapped = records(write(tmp_path / "object", {"relations": relations, "results": MEMORIES, "more": [1]}))
    assert [r.ref for r in wrapped] == [r.ref for r in plain]
    assert records(write(tmp_path / "none", {"results": []})) == []


def test_mem0_text_that_was_changed_there_is_another_memory(tmp_path: Path) -> None:
    (before,) = records(write(tmp_path / "a", [MEMORIES[1]]))
    (after,) = records(write(tmp_path / "b", [MEMORIES[1] | {"memory": "Lives in Linz"}]))
    (same,) = records(write(tmp_path / "c", [MEMORIES[1] | {"updated_at": "2026-01-01T00:00:00Z"}]))
    assert before.ref == same.ref != after.ref


GRAPH = [
    {"type": "entity", "name": "林晓", "entityType": "person", "observations": ["对花生过敏", "林晓住在杭州", "", 5]},
    {"type": "entity", "name": "Acme", "entityType": "company", "observations": []},
    {"type": "relation", "from": "林晓", "to": "Acme", "relationType": "works_at"},
    {"type": "relation", "from": "", "to": "Acme", "relationType": "x"},
    {"type": "other"},
]


def test_a_graph_of_the_mcp_server_becomes_a_text_for_each_fact(tmp_path: Path) -> None:
    read, left, bad = found(aged(write(tmp_path / "memory.jsonl", *GRAPH)))
    assert bad == []
    assert [r.text for r in read] == [
        "林晓: 对花生过敏", "林晓住在杭州", "林晓: 5", "Acme (company)", "林晓 works at Acme",
    ]  # fmt: skip
    assert {r.at for r in read} == {OLD}
    assert {r.kind for r in read} == {"knowledge"}
    assert read[0].tags == ("person",)
    assert read[0].metadata == {"entity": "林晓", "entity_type": "person"}
    assert read[4].metadata == {"relation": "works_at", "from": "林晓", "to": "Acme"}
    assert left == {"relation without ends": 1, "neither entity nor relation": 1}
    assert len({r.ref for r in read}) == 5


BASIC = """---
title: Coffee Brewing
permalink: coffee/brewing
tags: [coffee, '#drinks']
created: 2025-01-02
---

# Coffee Brewing

Some intro about [[Grinders|grinding]].

## Observations
- [method] Pour over gives clarity #filter (from a course)
- [偏好] 水温九十三度 #水温
- [x] a task that is done
- [link](https://example.org/#anchor)

## Relations
- relates_to [[Espresso]]
- Met [[Ann]] at the fair
"""


def test_a_note_of_basic_memory_gives_observations_relations_and_prose(tmp_path: Path) -> None:
    (tmp_path / "brew.md").write_text(BASIC, encoding="utf-8")
    read, left, bad = found(str(tmp_path / "brew.md"))
    assert (bad, left) == ([], {})
    assert [r.text for r in read] == [
        "Coffee Brewing\nSome intro about grinding.",
        "Coffee Brewing: Pour over gives clarity (from a course)",
        "Coffee Brewing: 水温九十三度",
        "Coffee Brewing > Observations\n- [x] a task that is done\n- [link](https://example.org/#anchor)",
        "Coffee Brewing relates to Espresso",
        "Coffee Brewing > Relations\n- Met Ann at the fair",
    ]
    assert read[1].tags == ("method", "coffee", "drinks", "filter")
    assert read[2].tags == ("偏好", "coffee", "drinks", "水温")
    assert {r.at for r in read} == {datetime(2025, 1, 2, tzinfo=UTC)}
    assert [r.line for r in read] == [10, 13, 14, 15, 19, 20]
    assert read[4].metadata == {
        "path": "brew.md", "title": "Coffee Brewing", "permalink": "coffee/brewing", "relation": "relates_to",
        "to": "Espresso", "links": ["Espresso"],
    }  # fmt: skip
    assert read[0].metadata["links"] == ["Grinders"]


def test_a_vault_of_obsidian_is_read_file_by_file(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    (vault / ".obsidian").mkdir(parents=True)
    (vault / ".obsidian" / "app.md").write_text("# hidden")
    (vault / "日记").mkdir()
    (vault / "日记" / "2024-05-01.md").write_text("今天去了[[苏州#园林|园林]]。 #旅行/江南 #2024", encoding="utf-8")
    (vault / "code.md").write_text(
        "---\ntags: a, b\ndate: nonsense\n---\n```sh\n# no heading #notag\n- [cat] no observation\n```\n![[pic.png]]\n",
        encoding="utf-8",
    )
    (vault / "odd.md").write_text("---\nx: [\n---\nText under it", encoding="utf-8")
    (vault / "template.md").write_text("---\ndate: {{date}}\n---\nText", encoding="utf-8")
    (vault / "empty.md").write_text("", encoding="utf-8")
    (vault / "picture.png").write_bytes(b"\x89PNG\0\0")
    (vault / "loop").symlink_to(vault)
    aged(vault / "code.md")

    read, left, bad = found(str(vault))
    assert bad == []
    by_path = {r.metadata["path"]: r for r in read}
    diary = by_path["日记/2024-05-01.md"]
    assert diary.text == "2024-05-01\n今天去了园林。 #旅行/江南 #2024"
    assert diary.at == datetime(2024, 5, 1, tzinfo=UTC)
    assert diary.tags == ("旅行/江南",)  # a number alone is no tag
    assert diary.metadata["links"] == ["苏州"]
    assert by_path["code.md"].at == OLD
    assert by_path["code.md"].tags == ("a", "b")
    assert "# no heading" in by_path["code.md"].text
    assert by_path["odd.md"].text == "odd\nText under it"
    assert left == {
        "hidden file or folder": 1, "symbolic link": 1, "file of another format": 1, "front matter that is no YAML": 2,
    }  # fmt: skip


def test_long_sections_are_divided_between_paragraphs_and_repeats_keep_apart(tmp_path: Path) -> None:
    paragraphs = [f"Paragraph {number} " + "words " * 100 for number in range(9)]
    path = tmp_path / "long.md"
    path.write_text(
        "# Long\n\n" + "\n\n".join(paragraphs) + "\n\n# Again\n\nsame\n\n# Again\n\nsame\n", encoding="utf-8"
    )
    read = records(str(path))
    assert len(read) == 5
    assert all(len(r.text) < 2_200 for r in read)
    assert [r.text for r in read if r.text.endswith("same")] == ["long > Again\nsame"] * 2
    assert len({r.ref for r in read}) == 5
    assert [r.ref for r in records(str(path))] == [r.ref for r in read]
    path.write_text("# New\n\nsection before\n\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    assert {r.ref for r in records(str(path))} > {r.ref for r in read}  # what was there is the same memory
