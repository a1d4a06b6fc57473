"""Vaults of notes with questions: from the data format, or a folder and lines of questions."""

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks._data import Conversation, Turn
from biem.domain.text import is_han

_DAY = datetime(2024, 1, 1, tzinfo=UTC)
_HEADING = re.compile(r"(?m)^(?=#{1,6} )")


@dataclass(frozen=True)
class Section:
    """A part of a note that can answer. `line` is where it begins in its file, from 1."""

    id: str
    note: str
    text: str
    line: int


@dataclass(frozen=True)
class NoteQuestion:
    """A question with the notes and sections that answer it."""

    text: str
    notes: tuple[str, ...]
    sections: tuple[str, ...]


@dataclass(frozen=True)
class Vault:
    """Notes by path, as they are written to a folder, and questions about them."""

    id: str
    lang: str
    files: dict[str, str]
    note_of: dict[str, str]
    """Note by path."""
    sections: tuple[Section, ...]
    questions: tuple[NoteQuestion, ...]

    def conversation(self) -> Conversation:
        """The sections as the other systems take them."""
        turns = tuple(Turn(one.id, one.note, "", one.text, _DAY) for one in self.sections)
        return Conversation(self.id, self.lang, turns, ())


def read_vaults(path: Path, limit: int | None, questions: int | None, notes: int | None = None) -> Iterator[Vault]:
    """The first vaults of a file, each with at most `questions` questions and its first `notes` notes."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            if limit is not None and number >= limit:
                return
            yield vault_of(_first_notes(json.loads(line), notes), questions)


def read_folder(questions: Path, folder: Path) -> Vault:
    """The Markdown files of a folder, cut at their headings, and questions about them.

    A line of questions has the beginnings of the paths of the notes that answer, with commas between them, a space, and
    the question; `#` begins a comment.
    """
    notes: list[dict[str, Any]] = []
    for file in sorted(folder.rglob("*.md")):
        name, text = file.relative_to(folder).as_posix(), file.read_text(encoding="utf-8")
        parts = [part for part in _HEADING.split(text) if part.strip()]
        sections = [{"section_id": f"{name}#{place}", "text": part} for place, part in enumerate(parts)]
        notes.append({"note_id": name, "path": name, "markdown": text, "sections": sections})
    asked = []
    for begins, question in _lines(questions):
        evidence = [
            note["note_id"] for note in notes if note["note_id"].startswith(tuple(filter(None, begins.split(","))))
        ]
        asked.append({"question": question, "evidence": evidence})
    lang = "zh" if is_han("".join(note["markdown"] for note in notes)) else "en"
    return vault_of({"id": questions.stem, "lang": lang, "notes": notes, "questions": asked})


def read_questions(path: Path, limit: int) -> list[str]:
    """The first questions of the first vault of a file, or of lines as `read_folder` reads them (`.txt`)."""
    if path.suffix == ".txt":
        return [question for _, question in _lines(path)][:limit]
    return [one.text for vault in read_vaults(path, 1, limit) for one in vault.questions]


def _lines(questions: Path) -> Iterator[tuple[str, str]]:
    """Each question, after the beginnings of the paths that answer it."""
    for line in questions.read_text(encoding="utf-8").splitlines():
        begins, _, question = line.partition(" ")
        if question and begins != "#":
            yield begins, question


def _first_notes(data: dict[str, Any], limit: int | None) -> dict[str, Any]:
    """The data with the first notes only, and the questions that need no other."""
    notes = data["notes"][:limit]
    there = {note["note_id"] for note in notes}
    return {
        **data,
        "notes": notes,
        "questions": [one for one in data["questions"] if there.issuperset(one["evidence"])],
    }


def vault_of(data: dict[str, Any], limit: int | None = None) -> Vault:
    """A vault of the data format. Headings that are questions of the same vault are left out of its files."""
    asked = {one["question"].strip() for one in data["questions"]}
    files, note_of, sections = {}, {}, []
    for note in data["notes"]:
        path = note["path"] if note["path"].endswith((".md", ".markdown")) else f"{note['path']}.md"
        text = _without_questions(note["markdown"], asked)
        files[path], note_of[path] = text, note["note_id"]
        parts = note.get("sections") or [{"section_id": note["note_id"], "text": text}]
        for part in parts:
            said = _without_questions(part["text"], asked)
            if said.strip():
                sections.append(Section(part["section_id"], note["note_id"], said, _line_of(text, said)))
    kept = tuple(
        NoteQuestion(one["question"], tuple(one["evidence"]), tuple(one.get("evidence_sections") or ()))
        for one in data["questions"][:limit]
        if one["evidence"]
    )
    return Vault(data["id"], data.get("lang", "zh"), files, note_of, tuple(sections), kept)


def _without_questions(text: str, asked: set[str]) -> str:
    kept = []
    for line in text.split("\n"):
        heading = line.lstrip("#").partition("{")[0].strip() if line.startswith("#") else ""
        if not heading or heading not in asked:
            kept.append(line)
    return "\n".join(kept)


def _line_of(text: str, said: str) -> int:
    """Where a section begins in its file: the line of its first line that is there."""
    for line in said.split("\n"):
        if line.strip() and (place := text.find(line)) >= 0:
            return text.count("\n", 0, place) + 1
    return 1
