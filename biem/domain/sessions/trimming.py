"""Which messages of a session are trimmed next: whole rounds, oldest first, one slice at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

SLICE_CHARS = 12_000
"""Characters of one slice; a model reads 16,000 at once. A longer round is a slice of its own."""


@dataclass(frozen=True, slots=True)
class Outline:
    """A message that may be trimmed, without its content."""

    seq: int
    round: int
    tokens: int
    chars: int


@dataclass(frozen=True, slots=True)
class Slice:
    """Messages `first` to `last`, system messages between them excepted, with their number and tokens."""

    first: int
    last: int
    messages: int
    tokens: int


def next_slice(outline: Sequence[Outline], tokens: int, target: int) -> Slice | None:
    """The oldest whole rounds to trim from a session of `tokens`, until at most `target` remain; None when none are.

    `outline`: what may be trimmed, oldest first. A slice has at most `SLICE_CHARS` characters, or is one round.
    """
    taken: list[Outline] = []
    chars = 0
    for _, group in groupby(outline, key=lambda message: message.round):
        round_ = list(group)
        size = sum(message.chars for message in round_)
        if tokens - sum(message.tokens for message in taken) <= target or (taken and chars + size > SLICE_CHARS):
            break
        taken += round_
        chars += size
    if not taken:
        return None
    return Slice(taken[0].seq, taken[-1].seq, len(taken), sum(message.tokens for message in taken))
