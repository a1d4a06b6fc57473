"""Orders about the form of all answers, for a message whose answer is written: "reply in German" for "Write a haiku".

They resemble no such message, so they are searched for by a question that they answer.
"""

from collections.abc import Sequence
from dataclasses import replace

from biem.domain.node import Hit
from biem.domain.observing.style import names_a_language, orders_of_form
from biem.domain.text import is_han
from biem.domain.trust import UNTRUSTED

_OWN = ("user", "")
"""Sources of what a user said or wrote down: a text of a tool or of the web orders nothing."""


def question_about_answers(message: str) -> str:
    """What finds these orders, in the message's language."""
    return "你该怎么回答我？" if is_han(message) else "How should you answer me?"


def orders_among(hits: Sequence[Hit]) -> list[Hit]:
    """Those that hold, newest first: a later order may change an earlier one. Of the language only the newest."""
    found = list[Hit]()
    for hit in hits:
        node = hit.node
        if node.source in _OWN and node.trust != UNTRUSTED and node.valid_to is None:
            sentences = orders_of_form(node.text)
            found += [replace(hit, told=tuple(sentences))] if sentences else []
    found.sort(key=lambda hit: hit.node.at, reverse=True)
    of_language = [hit for hit in found if any(map(names_a_language, hit.told))]
    return [hit for hit in found if hit not in of_language[1:]]
