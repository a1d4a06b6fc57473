"""`memory.observe`: what is worth keeping becomes memories, once, at the level whose it is."""

import pytest

import biem


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
