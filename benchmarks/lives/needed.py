"""Messages with requests and questions that need them, as files have them, and lives with such messages among theirs.

`requests/*.txt` has a line each: what a user told, and requests and questions that need it, with tabs between them;
`ordinary/*.txt` requests and questions for which nothing helps that was told.
"""

import random
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from benchmarks.lives.facts import Life, Question, Turn
from benchmarks.lives.grammar import Lang

REQUESTS = sorted((Path(__file__).parent / "requests").glob("*.txt"))
ORDINARY = sorted((Path(__file__).parent / "ordinary").glob("*.txt"))
_TOLD, _ORDINARY = 12, 6
"""Messages that are put into a life, each asked for once, and ordinary requests."""


@dataclass(frozen=True, slots=True)
class Told:
    """A message with the requests and questions that need it."""

    text: str
    asked: Sequence[str]

    def group(self, groups: int) -> int:
        """One of so many groups, by its text."""
        return zlib.crc32(self.text.encode()) % groups


def told_in(files: Sequence[Path]) -> Iterator[Told]:
    """The lines of these files. Raises ValueError for a line without a request."""
    for file in files:
        for number, line in enumerate(file.read_text("utf-8").splitlines(), start=1):
            text, *asked = line.split("\t")
            if not asked:
                raise ValueError(f"{file.name}:{number}: no request after a tab")
            yield Told(text, asked)


def ordinary_in(files: Sequence[Path]) -> list[str]:
    """The lines of these files."""
    return [line for file in files for line in file.read_text("utf-8").splitlines()]


def with_needed(one: Life, told: Sequence[Told], ordinary: Sequence[str]) -> Life:
    """The life with twelve of these messages among its own; asked are a request for each, and six ordinary ones."""
    draw = random.Random(zlib.crc32(one.id.encode()))
    name, turns, questions = f"needed-{one.id}", list(one.turns), list[Question]()
    for number, chosen in enumerate(draw.sample(told, _TOLD)):
        place = draw.randrange(1, len(turns) + 1)
        before = turns[place - 1]
        lang = _lang(chosen.text)
        said = Turn(
            f"{name}-t{number}", before.at + timedelta(seconds=1), before.session, "user", lang, chosen.text, "tell",
            key=f"needed-{number}",
        )  # fmt: skip
        turns.insert(place, said)
        text, this = draw.choice(chosen.asked), frozenset((said.id,))
        questions.append(
            Question(f"{name}-q{number}", text, _lang(text), "after", 0, "now", "needed", (this,), relevant=this)
        )
    for number, text in enumerate(draw.sample(ordinary, _ORDINARY)):
        questions.append(Question(f"{name}-o{number}", text, _lang(text), "after", 0, "unknown", "ordinary"))
    return replace(one, id=name, turns=tuple(turns), questions=tuple(replace(q, before=len(turns)) for q in questions))


def _lang(text: str) -> Lang:
    return "zh" if any("\u4e00" <= letter <= "\u9fff" for letter in text) else "en"
