"""Thirty notes in two languages with sixty questions: the note that answers is among the candidates."""

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

import biem
from biem.domain.policies.jobs import SleepPolicy
from tests.support.servers import Configure

_FILE = Path(__file__).with_name("labelled.txt")


def labelled() -> tuple[dict[str, str], list[tuple[str, str]]]:
    """The notes by path, and each question with the path of the note that answers it."""
    files: dict[str, str] = {}
    questions: list[tuple[str, str]] = []
    path = ""
    for line in _FILE.read_text("utf-8").splitlines():
        if line.startswith("=== "):
            path = line.removeprefix("=== ")
            files[path] = ""
        elif line.startswith("? "):
            questions.append((line.removeprefix("? "), path))
        else:
            files[path] += f"{line}\n"
    return files, questions


@pytest.fixture
def memory(settings: Configure) -> Iterator[biem.Memory]:
    """A memory with the packaged embedder."""
    alone = settings(sleep=SleepPolicy(off=("notes",)))
    with biem.connect(alone, scope=biem.Scope(user=uuid.uuid4().hex)) as opened:
        yield opened
        opened.erase(user=opened.bound_to.user)


@pytest.mark.req("G47")
def test_the_note_that_answers_is_among_ten_candidates(memory: biem.Memory, tmp_path: Path) -> None:
    # Given thirty notes, and sixty questions in other words than theirs
    files, questions = labelled()
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    memory.notes.add(tmp_path, name="labelled")
    assert memory.notes.sync().pending == 0
    assert (len(files), len(questions)) == (30, 60)
    # When each is asked / Then there are ten candidates to choose from, of several notes
    found = []
    for question, path in questions:
        paths = [hit.note.path for hit in memory.recall(question, top_k=10, sources=("notes",)).notes]
        assert len(paths) == 10
        assert len(set(paths)) >= 4
        found.append(path in paths)
    # And the note that answers is among them for at least nineteen questions of twenty
    assert sum(found) / len(found) >= 0.95
