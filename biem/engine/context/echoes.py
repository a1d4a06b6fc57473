"""Acknowledgements that only say a message of the user again: "Got it, I'll keep in mind that you row on Mondays"."""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta

from biem.domain.node import Node
from biem.domain.retention import ASSISTANT
from biem.domain.speech.acts import is_statement
from biem.domain.text import late
from biem.engine.context.lines import RatedLine
from biem.engine.context.same_subject import lift

_ACKNOWLEDGES = late(
    r"\b(?:got it|noted|understood|(?:keep|bear) (?:that |this |it )?in mind|(?:'ll|will) (?:remember|note)"
    r"|(?:'ve|have) (?:now )?(?:noted|saved|recorded|stored|updated|remembered|made a note|written (?:it |that )?down)"
    r"|thank(?:s| you) for (?:telling|letting|sharing|the))\b"
    r"|记[住下录得着]|[知明][道白]了?|了解|收到|告知",
    re.IGNORECASE,
)
_PHRASES = (
    "thanks thank you for telling me letting me know sharing great lovely okay ok sure perfect wonderful alright got",
    "it so noted note understood keep bear in mind will remember have saved recorded stored updated made written down",
    "好的 明白了 明白 我明白 知道了 了解 收到 太好了 谢谢你告诉我 谢谢告知 感谢 我会记得 我会记住 我记住了 我记下了",
    "已记录 已经记下 记下来了 你的 你们 您的 你对 你是 我的 我们 我对 我是",
)
_READ = 1_000
"""Maximum characters that are searched for an acknowledgement."""
_NEW = 0.25
"""Share of its terms that an acknowledgement may have beyond those of the message and those that acknowledge …"""
_NEW_IN_REPLY = 0.5
"""… and if it is the reply to that message: "the numbers go to Ines", "Noted: Ines gets the numbers"."""
_REPLY = timedelta(minutes=2)
"""Time within which a reply follows."""


def is_echo(
    node: Node, words: frozenset[str], said: Iterable[frozenset[str]], terms_of: Callable[[str], Iterable[str]]
) -> bool:
    """Whether the assistant acknowledges one of these messages without adding anything.

    `words`: its index terms; `said`: those of each message of a person.
    """
    if node.source != ASSISTANT or _ACKNOWLEDGES.search(node.text[:_READ]) is None:
        return False
    own = words.difference(*(terms_of(phrase) for phrase in _PHRASES))
    return any(_adds_nothing(own, other) for other in said)


def echoed(lines: Sequence[RatedLine], terms_of: Callable[[str], Iterable[str]]) -> dict[str, RatedLine]:
    """The messages of a person that replies of the assistant only acknowledge, by the ids of the replies."""
    found: dict[str, RatedLine] = {}
    people = [line for line in lines if line.hit.node.source != ASSISTANT and line.hit.node.kind == "event"]
    for line in lines:
        node = line.hit.node
        if node.source != ASSISTANT or _ACKNOWLEDGES.search(node.text[:_READ]) is None:
            continue
        last = _replied_to(line, people)
        own = line.terms.difference(*map(terms_of, _PHRASES))
        if last is not None and _adds_nothing(own, last.terms, _NEW_IN_REPLY):
            found[node.id] = last
    return found


def lift_repeated(lines: Sequence[RatedLine], terms_of: Callable[[str], Iterable[str]]) -> None:
    """Lift a statement of a person above a reply of the assistant that only repeats it: 好的，周六去.

    Not above the report of what was done on it.
    """
    people = [line for line in lines if line.hit.node.source != ASSISTANT and is_statement(line.hit.node.text)]
    for line in lines:
        if line.hit.node.source == ASSISTANT and not line.hit.reports:
            last = _replied_to(line, people)
            own = line.terms.difference(*map(terms_of, _PHRASES))
            if last is not None and line.worth > last.worth and _adds_nothing(own, last.terms):
                lift(last, line)


def _replied_to(reply: RatedLine, people: Sequence[RatedLine]) -> RatedLine | None:
    """The last of these messages of people before a reply in its conversation, if it is recent enough."""
    node = reply.hit.node
    said = [
        other
        for other in people
        if other.hit.node.conversation == node.conversation and timedelta() < node.at - other.hit.node.at <= _REPLY
    ]
    return max(said, key=lambda other: other.hit.node.at, default=None)


def _adds_nothing(own: frozenset[str], other: frozenset[str], most: float = _NEW) -> bool:
    new = own - other
    return len(new) <= most * len(own) and not any(any(map(str.isdigit, word)) for word in new)
