"""A conversation from end to end (A1, A64): written, refused, routed, answered, counted, saved."""

from dataclasses import asdict
from pathlib import Path

import pytest

from biem.aim import AimMemory
from biem.domain.policies.aim import AimPolicy
from tests.support.fakes import eventually

DIALOGUE = (
    ("Ann", "Anjali marries Tom in Porto on 4 October"),
    ("Ann", "她对花生严重过敏，剂量 0.3 mg"),
    ("Ann", "The caterer offers a menu for ¥9,900"),
    ("Ann", "ok"),
    ("Ann", "Anjali marries Tom in Porto on 4 October"),
)


@pytest.mark.req("A1", partly="all four mechanisms in one conversation")
def test_a_conversation_from_end_to_end(aim: AimMemory, tmp_path: Path) -> None:
    # Given a conversation
    formed = [aim.write_memory(text, speaker=who, conversation="wedding") for who, text in DIALOGUE]
    assert formed[0] is True
    assert formed[-1] is False

    # When the agent answers questions about it
    reply = aim.answer("Anjali 和谁结婚？原文", lambda prompt: "Tom", conversation="wedding")

    # Then the answer rests on what was said, in its own words, and the conversation goes on
    assert reply.mode == "strict"
    assert DIALOGUE[0][1] in [node.text for node in reply.selected_nodes]
    assert DIALOGUE[0][1] in reply.context.partition("## Evidence")[2]
    eventually(lambda: aim.get_stats("wedding")["hot_kv_size"] == len(DIALOGUE) + 2)
    stats = aim.get_stats("wedding")
    assert stats["node_bank_size"] + len(aim.memory.refusals()) <= len(DIALOGUE) + 2
    assert aim.memory.flush()
    assert aim.save(tmp_path / "wedding.json") == len(DIALOGUE) + 2


@pytest.mark.req("A66")
def test_nine_modules_test_the_design_and_all_with_its_default_configuration(aim: AimMemory) -> None:
    # Given the modules next to this one
    subjects = (
        "write_and_read", "inertia", "decay", "anchors", "refill", "answer", "persistence", "end_to_end", "statistics"
    )  # fmt: skip
    sources = {path.stem: path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py")}

    # When they are looked at / Then there is one for each subject, and each uses the memory of this test
    for subject in subjects:
        assert "aim: AimMemory" in sources[f"test_{subject}"]

    # And that is configured by default, its threshold not lowered
    assert aim.config == {"hot_window_size": 256, **asdict(AimPolicy(admission="gate"))}
    assert aim.config["write_threshold"] == 0.6


@pytest.mark.req("A64")
def test_another_retrieval_searches_inside_the_cluster_only(aim: AimMemory) -> None:
    # Given documents of another retrieval, under its own names
    texts = {f"doc-{n}": f"Document {n} tells of the {what}" for n, what in enumerate(("harbour", "kitchen", "garden"))}
    aim.memory.remember_many({"text": text, "ref": ref} for ref, text in texts.items())
    assert aim.memory.flush()
    asked: list[list[str]] = []

    def fine(query: str, ids: list[str]) -> str:
        asked.append(ids)
        return texts[aim.memory.get(ids[0]).ref or ""]

    # When a query is routed / Then that retrieval was asked once, with the ids of the cluster as its filter
    assert aim.rag("ships in the harbour", fine) == texts["doc-0"]
    assert asked == [aim.memory.aim.router.cluster(aim.memory.bound_to, "ships in the harbour")]
