"""Messages with questions that they answer, and questions that they only seem to answer.

`near/*.txt` has a line each, with tabs between: what a user told, two questions that it answers, the second in other
words, and three that it does not answer, though their subject or words are much the same. `en_29` and `zh_25` have
texts of other kinds instead: extracted facts, minutes, channels, tickets, diaries, mails, documentation, logs, rules;
`en_30` and `zh_26` sections of notes under their headings.
In `requests_*` they are two requests that need the message ("Draft a menu" an allergy) and two of the same field for
which it is of no use. Those of files whose names begin with `held_out` are by other writers, and nothing is fitted to
them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_FOLDER = Path(__file__).parent / "near"
_HELD_OUT = "held_out"
DEV = sorted(file for file in _FOLDER.glob("*.txt") if not file.name.startswith(_HELD_OUT))
HELD_OUT = sorted(_FOLDER.glob(f"{_HELD_OUT}*.txt"))
_ANSWERED, _NEAR = 2, (2, 3)


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a user with questions about it."""

    text: str
    answered: Sequence[str]
    """Plain words first, then other words."""
    near: Sequence[str]


def messages_in(files: Sequence[Path]) -> Iterator[Message]:
    """The lines of these files. Raises ValueError for a line without two questions and two or three more."""
    for file in files:
        for number, line in enumerate(file.read_text("utf-8").splitlines(), start=1):
            text, *questions = line.split("\t")
            if len(questions) - _ANSWERED not in _NEAR or not all((text, *questions)):
                raise ValueError(f"{file.name}:{number}: {len(questions)} questions instead of four or five")
            yield Message(text, questions[:_ANSWERED], questions[_ANSWERED:])
