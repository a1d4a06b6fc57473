"""What notes say of facts in memory, and what memories say of which note is meant."""

from collections.abc import Callable
from pathlib import Path

import pytest

import biem
from biem.errors import InvalidInput, NotFound

Write = Callable[[str, str], None]
RENT = "The office rent is 1200 euros a month."
RAISED = "# Office\n\n## Costs\n\nCleaning is done on Fridays. The office rent is 1500 euros a month.\n"


@pytest.fixture
def write(memory: biem.Memory, tmp_path: Path) -> Write:
    """Writes a note of the only library, and syncs it."""
    memory.notes.add(tmp_path, name="vault")

    def written(path: str, text: str) -> None:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
        memory.notes.sync()

    return written


def compared(memory: biem.Memory) -> dict[str, int]:
    """What the job found."""
    return dict(memory._system.notes.facts().run(memory.bound_to))


@pytest.mark.req("G56", partly="a note refutes")
def test_a_note_that_contradicts_a_fact_is_listed_and_reported_until_a_person_decides(
    memory: biem.Memory, write: Write
) -> None:
    fact = memory.remember(RENT, wait=True)
    write("office.md", RAISED)
    # When facts are compared with notes
    assert compared(memory) == {"compared": 1, "contradicts": 1, "confirms": 0}
    # Then the verdict names both, nothing changed, and the memory is shown with the note that disagrees
    [verdict] = memory.notes.verdicts()
    assert (verdict.kind, verdict.memory_id, verdict.place) == ("contradicts", fact, "office.md:5")
    assert verdict.sentence == "The office rent is 1500 euros a month."
    assert memory.get(fact).status == "active"
    assert memory.recall("What is the office rent?")[0].why["note_disagrees"] == "office.md:5"
    assert "(a note disagrees: office.md:5)" in memory.context("What is the office rent?").text
    # And it is compared once only
    assert compared(memory)["compared"] == 0
    # When the note is believed / Then the memory is archived with the reason, and can be restored
    memory.notes.decide(verdict.id, "note")
    assert memory.recall("What is the office rent?") == []
    assert memory.notes.verdicts() == []
    assert memory.restore(fact)
    assert "note_disagrees" not in memory.recall("What is the office rent?")[0].why


def test_a_memory_that_is_believed_is_reported_without_the_note(memory: biem.Memory, write: Write) -> None:
    fact = memory.remember(RENT, wait=True)
    write("office.md", RAISED)
    compared(memory)
    [verdict] = memory.notes.verdicts()
    with pytest.raises(InvalidInput, match="note or memory"):
        memory.notes.decide(verdict.id, "neither")
    with pytest.raises(NotFound):
        memory.notes.decide(fact, "memory")
    memory.notes.decide(verdict.id, "memory")
    assert memory.notes.verdicts() == []
    assert [each.status for each in memory.notes.verdicts(status=None)] == ["dismissed"]
    assert "note_disagrees" not in memory.recall("What is the office rent?")[0].why
    assert memory.get(fact).status == "active"


@pytest.mark.req("G56", partly="a note confirms")
def test_a_note_that_says_the_same_counts_once_as_useful(memory: biem.Memory, write: Write) -> None:
    fact = memory.remember(RENT, wait=True)
    write("office.md", f"# Office\n\n## Costs\n\n{RENT}\n")
    assert compared(memory) == {"compared": 1, "contradicts": 0, "confirms": 1}
    assert memory.get(fact).useful_count == 1
    # When another note is added / Then the first one is not counted again
    write("other.md", "# Garden\n\nThe tomatoes are red.\n")
    assert compared(memory) == {"compared": 1, "contradicts": 0, "confirms": 0}
    assert memory.get(fact).useful_count == 1


def test_a_verdict_goes_with_its_note_and_its_memory(memory: biem.Memory, write: Write, tmp_path: Path) -> None:
    fact = memory.remember(RENT, wait=True)
    write("office.md", RAISED)
    compared(memory)
    (tmp_path / "office.md").unlink()
    memory.notes.sync()
    assert memory.notes.verdicts() == []
    # Given the note again, with the fact in another wording
    write("office.md", RAISED)
    memory.revise(fact, text="The office rent is 1300 euros a month.")
    memory.flush()
    assert compared(memory)["contradicts"] == 1
    memory.erase(fact)
    assert memory.notes.verdicts(status=None) == []


def test_messages_of_a_chat_are_not_judged_by_notes(memory: biem.Memory, write: Write) -> None:
    memory.remember(RENT, kind="event", wait=True)
    write("office.md", RAISED)
    assert compared(memory)["compared"] == 0


@pytest.mark.req("G56", partly="experience guides")
@pytest.mark.parametrize("language", ["python", "rust"])
def test_what_memories_name_decides_between_notes_that_are_alike(
    memory: biem.Memory, write: Write, language: str
) -> None:
    # Given the same text in two folders, and a memory that names one of them
    for folder in ("python", "rust"):
        write(f"{folder}/files.md", "# Files\n\n## Reading\n\nOpen the file, read every line, and close it again.\n")
    question = "How do I read a file line by line for the report?"
    memory.remember("The report is written in another tool.", tags=[language], wait=True)
    # When notes are asked alone, both are alike; next to that memory its folder comes first
    scores = {hit.note.path: hit.score for hit in memory.notes.search(question)}
    assert scores["python/files.md"] == pytest.approx(scores["rust/files.md"])
    found = memory.recall(question).notes
    assert found[0].note.path == f"{language}/files.md"
    assert found[0].why["guided"] > 0 == found[1].why["guided"]
    # Also where only one note is wanted, which may not be the best without the memory
    [one] = memory.recall(question, top_k=1).notes
    assert (one.note.path, one.chunk.body) == (found[0].note.path, found[0].chunk.body)
