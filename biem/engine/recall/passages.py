"""Messages of several statements as hits of their statements: a block judges and tells each as a line.

Kept of a message are the statements with the highest likeness to the query, and those that by their vectors answer it
best. The nearest of them has the id of the message, so that what is known of the message is known of it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from biem.domain.node import PASSAGE, Hit, Node
from biem.domain.speech.parts import parts_of
from biem.engine.recall.rank.ranker import Answer
from biem.ports import Vector, Vectors

_KEPT = 2
"""Statements of a message that are kept for their likeness, and at most as many others for their odds of an answer."""


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
    """The nearest statements of those of these messages that have several, by the ids of the messages."""
    held = [(node, answer.turns[node.id].parts) for node in nodes]
    texts = [(node, parts_of(node.indexed_text), vectors) for node, vectors in held if vectors is not None]
    return {
        node.id: nearest(node, parts, vectors, answer, refers_back)
        for node, parts, vectors in texts
        if len(parts) == len(vectors)  # else another version has divided it, or it was revised since
    }


def nearest(
    node: Node, parts: Sequence[str], vectors: Vectors, answer: Answer, refers_back: Callable[[str], bool]
) -> list[MessagePart]:
    """The nearest of the statements of a message, in their order; none if nothing is known of their likeness."""
    numbered = {f"{node.id}{PASSAGE}{number}": vector for number, vector in enumerate(vectors)}
    likeness, answering = answer.likeness(numbered), answer.answering(numbered)
    if not likeness:
        return []
    changed, keys = answer.changed(numbered), list(numbered)
    by_likeness = sorted(keys, key=lambda key: -likeness[key])[:_KEPT]
    by_odds = sorted(answering, key=lambda key: -answering[key])[:_KEPT]
    found = []
    for number, key in enumerate(keys):
        if key not in by_likeness and key not in by_odds:
            continue
        text = parts[number].removeprefix(f"{node.speaker}: ") if node.speaker and not number else parts[number]
        why, before = {"likeness": likeness[key]}, None
        if key in changed:
            why["changed"] = changed[key]
        of_which = [key]
        if number and refers_back(text):
            before, of_which = parts[number - 1], [key, keys[number - 1]]
            why["referred_likeness"] = likeness[keys[number - 1]]
        if answering:
            why["answering"] = max(answering[one] for one in of_which)
        own = node.id if key == by_likeness[0] else key
        found.append(MessagePart(own, text, numbered[key], why, before))
    return found


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
