"""Small collections of kinds that no development set has, written for `benchmarks.shapes` before it ranked them.

A support team's tickets, a household's log, a game master's notes (`benchmarks/collections`), each in English and, with
the same ids, in Chinese. A line of a file is an item: id, place (and author), English, Chinese, separated by bars; or,
after "?", a question: the ids of the items that answer it, English, Chinese.
"""

from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

from benchmarks._data import Conversation, Question, Turn
from benchmarks.lives.grammar import Lang
from benchmarks.lives.schedule import START

_FOLDER = Path(__file__).parent / "collections"
_Item = Callable[[Sequence[str], int, str], Turn]


def _ticket(fields: Sequence[str], place: int, text: str) -> Turn:
    key, ticket, author = fields
    return Turn(key, ticket, author, text, START + place * timedelta(hours=3))


def _entry(fields: Sequence[str], _: int, text: str) -> Turn:
    key, day = fields
    return Turn(key, "log", "", text, START + timedelta(days=int(day)))


def _note(fields: Sequence[str], place: int, text: str) -> Turn:
    key, heading = fields
    return Turn(key, heading, "", text, START + place * timedelta(seconds=1))


_KINDS: dict[str, tuple[str, _Item]] = {
    "support tickets": ("tickets.txt", _ticket),
    "household log": ("household.txt", _entry),
    "world notes": ("world.txt", _note),
}


def written(lang: Lang) -> dict[str, Conversation]:
    """The collections by name."""
    return {name: _read(_FOLDER / file, item, lang) for name, (file, item) in _KINDS.items()}


def _read(file: Path, item: _Item, lang: Lang) -> Conversation:
    turns: list[Turn] = []
    questions: list[Question] = []
    for line in file.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        *fields, english, chinese = (field.strip() for field in line.removeprefix("? ").split("|"))
        text = english if lang == "en" else chinese
        if line.startswith("?"):
            groups = tuple(frozenset((key,)) for key in fields[0].split())
            questions.append(Question(f"{file.stem} {len(questions)}", text, file.stem, groups, frozenset(), None))
        else:
            turns.append(item(fields, len(turns), text))
    return Conversation(file.stem, lang, tuple(turns), tuple(questions))
