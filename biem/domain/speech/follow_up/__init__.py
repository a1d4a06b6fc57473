"""Questions that lean on the messages before them, in full."""

import re
from collections.abc import Sequence
from itertools import dropwhile

from biem.domain.speech.acts import is_courtesy
from biem.domain.speech.follow_up import chinese, english
from biem.domain.speech.follow_up.dialogue import Meant, Round
from biem.domain.speech.follow_up.mentioned import is_chinese
from biem.domain.text import simplified

_LONGEST = 160
"""Characters of a follow-up question: a longer message says what it is about."""
_SENTENCES = re.compile(r"(?:[^.!?。！？]|(?<=\b[DM]r)\.|(?<=\bMrs)\.|\.(?=\d))+[.!?。！？]*")
_READ = 500
"""Characters of each message before it that are read."""
_MOST = 8
"""Messages before it that are read."""


def as_meant(message: str, before: Sequence[tuple[str, str]]) -> Meant:
    """A question in full, by the messages `before` it: role (user or assistant) and text, oldest first.

    "And my sister's?" after "When is my brother's birthday?" is "When is my sister's birthday?". A message that stands
    on its own, or asks nothing, is unchanged.
    """
    if len(message) > _LONGEST:
        return Meant(message)
    rounds: list[Round] = []
    for role, text in before[-_MOST:]:
        said = simplified(text[:_READ].strip())
        if role == "user":
            full = _meant(said, rounds)
            rounds.append(Round(full.text, about=full.about))
        elif rounds:
            last = rounds.pop()
            rounds.append(Round(last.said, f"{last.reply} {said}".strip(), last.about))
        else:
            rounds.append(Round("", said))
    full = _meant(message.strip(), rounds)
    return full if full.text != message.strip() else Meant(message)


def _meant(message: str, rounds: Sequence[Round]) -> Meant:
    if not rounds or len(message) > _LONGEST:
        return Meant(message)
    said = [one.strip() for one in _SENTENCES.findall(message)]
    asked = list(dropwhile(is_courtesy, said))
    if len(asked) != 1:
        return Meant(message)
    full = (chinese if is_chinese(asked[0]) else english).meant(asked[0], rounds)
    return Meant(message) if full.text == asked[0] else full
