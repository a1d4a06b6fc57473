"""`memory.observe`: what is worth keeping becomes memories, once, at the level whose it is."""

import json
import uuid
from pathlib import Path

import pytest
from pydantic import SecretStr

import biem
from biem.config.models import ReasonerSettings
from tests.support.fakes import WordEmbedder
from tests.support.model_servers.chat import ChatServer
from tests.support.servers import Configure

PROMPTS = Path(biem.__file__).parent / "adapters" / "reasoner" / "prompts"


@pytest.mark.req("M57", "G9", "G13", partly="stored")
def test_units_are_stored_once_at_their_level(memory: biem.Memory) -> None:
    # Given a project of a user, and a message with a habit, a decision, a note and small talk
    project = memory.scope(project="shop")
    text = "Hi! I never eat nuts because they make me ill. We decided to use gRPC. Note: the key hangs in the shed. ok?"

    # When it is observed / Then nothing is stored unless that is wanted
    assert [unit.memory_id for unit in project.observe(text)] == [None, None, None]
    assert project.stats()["memories"] == 0
    units = project.observe(text, store=True)
    assert [(unit.category, unit.level) for unit in units] == [
        ("preference", "user"), ("decision", "project"), ("note", "project"),
    ]  # fmt: skip
    # And the user's own is at the user's level, with its reason, tags and category
    habit = memory.get(units[0].memory_id or "")
    assert (habit.text, habit.reason, habit.layer) == ("I never eat nuts", "they make me ill", "core")
    assert "nuts" in habit.tags
    assert habit.metadata == {"category": "preference"}
    assert project.get(units[1].memory_id or "").layer == "long_term"
    # And saying it again stores nothing twice
    assert [unit.memory_id for unit in project.observe(text, store=True)] == [unit.memory_id for unit in units]
    assert (memory.stats()["memories"], project.stats()["memories"]) == (1, 2)
    # And a category can be asked for
    found = project.recall("What did we decide?", where={"category": "decision"})
    assert [hit.node.id for hit in found] == [units[1].memory_id]


def test_nothing_is_kept_of_small_talk_and_what_is_no_text_is_refused(memory: biem.Memory) -> None:
    assert memory.observe("How are you?", store=True) == ()
    with pytest.raises(biem.InvalidInput):
        memory.observe(3)  # type: ignore[arg-type]


@pytest.mark.req("G55")
def test_a_model_may_propose_units_which_are_checked_against_the_message(settings: Configure) -> None:
    # Given the prompts, which ask what it is, why, and why this, in this order
    for name, asked in (
        ("en", ("What is it? The judgment", "Why does it matter? The reason", "Why this? The tags")),
        ("zh", ("是什么？论断", "为什么重要？理由", "为什么是它？标签")),
    ):
        prompt = (PROMPTS / f"observe.{name}.txt").read_text(encoding="utf-8")
        places = [prompt.index(question) for question in asked]
        assert places == sorted(places)
    text = "I always use tabs. Ann moved to Lisbon in May for her new job at the harbour. Lovely day!"
    offered = [
        {
            "judgment": "Ann moved to Lisbon in May",
            "reason": "her new job at the harbour",
            "tags": ["Ann", "Lisbon", "x"],
        },
        {"judgment": "Bob moved to Oslo", "reason": "", "tags": []},  # not said
        {"judgment": "I always use tabs", "reason": "", "tags": []},  # recognised by a rule already
        {"judgment": "Did Ann move in May?", "reason": "", "tags": []},  # a question
        {"judgment": "Ann moved", "reason": "she hates rain", "tags": ["Ann"]},  # stated by the first
    ]
    with ChatServer() as server:
        server.says(json.dumps(offered), "no JSON")
        model = ReasonerSettings(url=SecretStr(server.url), small_model="m", api_key=SecretStr("k"))
        scope = biem.Scope(user=uuid.uuid4().hex, project="shop")
        with biem.connect(settings(reasoner=model), scope=scope, embedder=WordEmbedder()) as memory:
            memory.remember("something")  # a scope without any memory has no budget
            # When a message is observed with the model
            units = memory.observe(text, store=True, model=True)
            # Then it adds what the message says and no rule has found, with its three parts, and nothing core
            assert [(unit.rule, unit.judgment, unit.layer) for unit in units] == [
                ("habit", "I always use tabs", "core"), ("model", "Ann moved to Lisbon in May", "long_term"),
            ]  # fmt: skip
            assert (units[1].reason, units[1].tags) == ("her new job at the harbour", ("Ann", "Lisbon"))
            assert units[1].memory_id
            # And without an answer, or without being asked, the rules' units are all
            assert [unit.rule for unit in memory.observe(text, model=True)] == ["habit"]
            assert [unit.rule for unit in memory.observe(text)] == ["habit"]
            assert len(server.calls) == 2
