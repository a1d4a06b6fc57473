"""Conversation files: one JSON object a line, plain or gzipped (see docs/benchmarks/README.md for the format)."""

import gzip
import itertools
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from biem.errors import InvalidInput

_EPOCH = datetime(2024, 1, 1, tzinfo=UTC)
"""Where the synthetic clock of a conversation without timestamps starts."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One message. `at` is strictly increasing within its conversation."""

    id: str
    session: str
    speaker: str
    text: str
    """With the caption of its image, where there is one."""
    at: datetime

    @property
    def indexed_text(self) -> str:
        """What every system indexes: a message is found by who said it, too."""
        return f"{self.speaker}: {self.text}" if self.speaker else self.text


@dataclass(frozen=True, slots=True)
class Question:
    """One question and the turns that answer it. Finding any member of a group finds the group."""

    id: str
    text: str
    category: str
    groups: tuple[frozenset[str], ...]
    sessions: frozenset[str]
    before: int | None
    """Only turns with a smaller position may be searched."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns and the questions about them. `without_evidence` questions were left out; `unresolved` ids name no turn."""

    id: str
    lang: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]
    without_evidence: int = 0
    unresolved: int = 0


def data_name(path: Path) -> str:
    """What a file is called in a report: its name without folders and endings."""
    return path.name.removesuffix(".gz").removesuffix(".jsonl")


def read_conversations(path: Path, limit: int | None = None, questions: int | None = None) -> Iterator[Conversation]:
    """The first `limit` conversations of a file, each with at most `questions` questions.

    Raises `InvalidInput` naming file and line for anything that is not a conversation, and for a file without any.
    """
    found = 0
    for place, line in itertools.islice(_lines(path), limit):
        try:
            yield _conversation(json.loads(line), questions)
        except json.JSONDecodeError as exc:
            raise InvalidInput(f"{place}: this is not JSON ({exc.msg} at column {exc.colno})") from exc
        except KeyError as exc:
            raise InvalidInput(f"{place}: the key {exc} is missing") from exc
        except (TypeError, AttributeError, ValueError) as exc:
            raise InvalidInput(f"{place}: this is not a conversation ({exc})") from exc
        found += 1
    if not found and limit != 0:
        raise InvalidInput(f"{path}: the file holds no conversation")


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    opener = gzip.open if path.suffix == ".gz" else open
    number = 0
    try:
        with opener(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield f"{path}, line {number}", line
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as exc:
        raise InvalidInput(f"{path}, after line {number}: cannot be read ({exc})") from exc


def _conversation(raw: Mapping[str, Any], limit: int | None) -> Conversation:
    turns = tuple(_turns(raw["turns"]))
    session_of = {turn.id: turn.session for turn in turns}
    if len(session_of) != len(turns):
        raise ValueError("two turns have the same turn_id")
    with_evidence = [question for question in raw["questions"] if question.get("evidence")]
    questions = tuple(_question(question, session_of) for question in with_evidence[:limit])
    gold = (gold_id for question in questions for group in question.groups for gold_id in group)
    return Conversation(
        id=str(raw["id"]),
        lang=str(raw.get("lang") or "en"),
        turns=turns,
        questions=questions,
        without_evidence=len(raw["questions"]) - len(with_evidence),
        unresolved=sum(gold_id not in session_of for gold_id in gold),
    )


def _turns(raw: list[Mapping[str, Any]]) -> Iterator[Turn]:
    """Turns of one session often share a timestamp: a second more each keeps them in order for `until`."""
    last = _EPOCH - timedelta(seconds=1)
    first = True
    for entry in raw:
        stamp = entry.get("timestamp")
        said = _aware(datetime.fromisoformat(stamp)) if stamp else None
        at = said if said and first else max(said or last, last + timedelta(seconds=1))
        first, last = False, at
        text = "\n".join(part for part in (str(entry["text"]), entry.get("caption")) if part)
        yield Turn(str(entry["turn_id"]), str(entry["session"]), str(entry.get("speaker") or ""), text, at)


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _question(raw: Mapping[str, Any], session_of: Mapping[str, str]) -> Question:
    groups = raw.get("evidence_groups") or [[gold_id] for gold_id in dict.fromkeys(raw["evidence"])]
    gold = tuple(frozenset(map(str, group)) for group in groups if group)
    derived = {session_of[gold_id] for group in gold for gold_id in group if gold_id in session_of}
    return Question(
        id=str(raw.get("qid") or raw["question"]),
        text=str(raw["question"]),
        category=str(raw.get("category") or ""),
        groups=gold,
        sessions=frozenset(map(str, raw.get("evidence_sessions") or derived)),
        before=raw.get("before_turn"),
    )
