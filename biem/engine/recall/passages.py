"""Messages of several statements as hits of their statements: a block judges and tells each as a line.

Kept are the nearest statement of each message, and of all those with the highest likeness to the query, and those that
by their vectors answer it best. The nearest has the id of the message, so that what is known of this is known of it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from biem.domain.node import PASSAGE, Hit, Node
from biem.domain.speech.parts import parts_of
from biem.engine.recall.rank.ranker import Answer
from biem.ports import Vector

_BEST = 8
"""Statements kept for their likeness besides the nearest of each message, and as many for their odds of an answer."""


class MessagePart(NamedTuple):
    """A statement of a message."""

    key: str
    """The id of the message, for all but the nearest with `#` and the number of the statement."""
    text: str
    vector: Vector
    why: Mapping[str, float]
    before: str | None
    """The statement before it, where this one does not say what it is about."""


def passages_of(
    nodes: Iterable[Node], answer: Answer, refers_back: Callable[[str], bool]
) -> dict[str, list[MessagePart]]:
    """The nearest statements of those of these messages that have several, in their order, by the ids of the messages.

    None if nothing is known of their likeness.
    """
    held = [(node, answer.turns[node.id].parts) for node in nodes]
    divided = [(node, parts_of(node.indexed_text), vectors) for node, vectors in held if vectors is not None]
    divided = [one for one in divided if len(one[1]) == len(one[2])]  # else another version divided it otherwise
    vectors = {f"{node.id}{PASSAGE}{number}": vector for node, _, rows in divided for number, vector in enumerate(rows)}
    likeness, answering, changed = answer.likeness(vectors), answer.answering(vectors), answer.changed(vectors)
    if not likeness:
        return {}
    best = {*_highest(likeness), *_highest(answering)}
    found = dict[str, list[MessagePart]]()
    for node, parts, rows in divided:
        keys = [f"{node.id}{PASSAGE}{number}" for number in range(len(rows))]
        near = max(keys, key=lambda key: likeness[key])
        for number, key in enumerate(keys):
            if key != near and key not in best:
                continue
            text = parts[number].removeprefix(f"{node.speaker}: ") if node.speaker and not number else parts[number]
            why, before, of_which = {"likeness": likeness[key]}, None, [key]
            if key in changed:
                why["changed"] = changed[key]
            if number and refers_back(text):
                before, of_which = parts[number - 1], [key, keys[number - 1]]
                why["referred_likeness"] = likeness[keys[number - 1]]
            if answering:
                why["answering"] = max(answering[one] for one in of_which)
            own = node.id if key == near else key
            found.setdefault(node.id, []).append(MessagePart(own, text, vectors[key], why, before))
    return found


def _highest(values: Mapping[str, float]) -> list[str]:
    return sorted(values, key=lambda key: -values[key])[:_BEST]


def with_passages(hit: Hit, passages: Sequence[MessagePart], alike: Mapping[str, Mapping[str, float]]) -> Hit:
    """The hit, with a hit for each of its passages."""
    of_message = {name: value for name, value in hit.why.items() if name not in ("answering", "referred_likeness")}
    hits = (
        replace(
            hit,
            node=replace(hit.node, id=one.key, text=one.text),
            why={**of_message, **one.why},
            alike=alike.get(one.key, {}),
            replaces=None,
            refers_to=None if one.before is None else replace(hit.node, text=one.before),
        )
        for one in passages
    )
    return replace(hit, passages=tuple(hits))
