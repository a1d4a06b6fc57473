"""Acknowledgements that only say a message of the user again: "Got it, I'll keep in mind that you row on Mondays"."""

import re
from collections.abc import Callable, Iterable

from biem.domain.node import Node
from biem.domain.retention import ASSISTANT
from biem.domain.text import late

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
"""Share of its terms that an acknowledgement may have beyond those of the message and those that acknowledge."""


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


def _adds_nothing(own: frozenset[str], other: frozenset[str]) -> bool:
    new = own - other
    return len(new) <= _NEW * len(own) and not any(any(map(str.isdigit, word)) for word in new)
