"""Questions for all things of a kind, with messages that tell of such things one by one, and with some that do not.

`lists/*.txt` has a line each, nine fields with ` | ` between them: two questions for the same things, the second in
quite other words, four messages of which each tells of one, and three of the same user that only seem to belong to
them: of another person, a plan that came to nothing, another matter.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

LISTS = sorted((Path(__file__).parent / "lists").glob("*.txt"))
ASKED, THINGS, NEAR = 2, 4, 3


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of things."""

    asked: Sequence[str]
    things: Sequence[str]
    near: Sequence[str]


def kinds_in(files: Sequence[Path]) -> Iterator[Kind]:
    """The lines of these files. Raises ValueError for a line of another number of fields."""
    for file in files:
        for number, line in enumerate(file.read_text("utf-8").splitlines(), start=1):
            fields = [field.strip() for field in line.split(" | ")]
            if len(fields) != ASKED + THINGS + NEAR or not all(fields):
                raise ValueError(f"{file.name}:{number}: {len(fields)} fields instead of nine")
            yield Kind(fields[:ASKED], fields[ASKED : ASKED + THINGS], fields[ASKED + THINGS :])
