"""The last step of recall: reads the current state of the best memories and builds hits with their signals."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from biem.domain.node import Hit, Node, as_read
from biem.domain.retention import ASSISTANT
from biem.domain.speech.acts import asks_for_facts, describes_by_pronoun, is_courtesy, is_statement
from biem.domain.speech.antecedents import lacks_subject, may_lack_subject, names_by_pronoun
from biem.domain.speech.reports import (
    is_report,
    knows_nothing,
    opens_another,
    reports_another_value,
    stands_for_itself,
)
from biem.domain.trust import UNTRUSTED
from biem.engine.query.request import Request
from biem.engine.recall.passages import MessagePart, passages_of, with_passages
from biem.engine.recall.rank.newer_first import newest_first
from biem.engine.recall.rank.ranker import Answer
from biem.ports import Records
from biem.ports.contradiction import ContradictionRules

_GIVEN = 40
"""Minimum characters of an answer that belongs to the request before it."""
_COMPARED = 24
"""Number of the best candidates that are compared with each other."""
_PLAIN, _SCALE = 4.0, 2.0
"""Ranking score that maps to 0.5, and its scale: on the dev dialogues the best hit of a question scores 5–12."""


def hydrate(
    records: Records, rules: ContradictionRules, request: Request, answer: Answer, way: str
) -> tuple[list[Hit], bool]:
    """Build hits from the current state of the best, with originals on request; and whether any changed since ranking.

    Of two values of one attribute the newer comes first, even if it is one of the spare hits.

    Changed means erased, or with a validity other than the ranking assumed. Messages of only thanks or assent are left
    out, unless the query is one: they answer nothing.
    """
    ordering, ranked, found = answer.ordering, answer.ranked, answer.found
    count, known = request.top_k + request.more, request.known
    places = answer.places(count + known.spare, known)
    hits: list[Hit] = []
    ceiling, changed, thanks = 1.0, False, is_courtesy(request.text)
    ids = [ordering.candidates[place].id for place in places]
    if not ids:
        return [], False
    # include the spare hits: they replace those left out, and one may hold a newer value
    replaced = _replaced(ids, answer)
    earlier_of = answer.answered(ids)
    read = list(dict.fromkeys([*ids, *replaced.values(), *earlier_of.values()]))
    live = records.candidates(request.scope.readable, read, (), request.where, pending_limit=0, evidence=request.strict)
    nodes = {key: as_read(node) for key, node in live.nodes.items()}
    there = [nodes[key] for key in ids if key in nodes]
    referred = _referred(request, records, rules, answer, there)
    read += [node.id for node in referred.values()]
    references = {node.id: reference_of(answer, nodes.get(earlier_of.get(node.id, "")), node) for node in there}
    asked_before = {key: reply.answers for key, reply in references.items() if reply.answers is not None}
    vectors = answer.vectors(read)
    likeness, changes, answering = answer.likeness(vectors), answer.changed(vectors), answer.answering(vectors)
    support = support_of(ids, answer, likeness)
    passages = passages_of(there, answer, partial(refers_back, rules=rules))
    alike = alike_of(ids, {key: asked.id for key, asked in asked_before.items()}, answer, passages)
    for place, key in zip(places, ids, strict=True):
        node, turn = nodes.get(key), answer.turns[key]
        if len(hits) < count:  # erased, or of another validity
            changed |= node is None or (node.valid_to, node.superseded_by) != (turn.valid_to, turn.superseded_by)
        if node is None or known.has(node) or (node.kind == "event" and not thanks and is_courtesy(node.text)):
            continue
        ceiling = min(ceiling, score_of(float(ranked.scores[place])))
        why: dict[str, float | str] = {**ranked.why(place), **ordering.why(key)}
        if key in found.dense:
            why["dense"] = found.dense[key]
        if key in likeness:
            why["likeness"] = likeness[key]
        if key in changes:
            why["changed"] = changes[key]
        if key in support:
            why["group"] = support[key]
        former = nodes.get(replaced.get(key, ""))
        if former is not None and former.id in likeness:
            why["former_likeness"] = likeness[former.id]
        asked, before = references[key].answers, references[key].refers_to or referred.get(key)
        if asked is not None and asked.id in likeness:
            why["asked_likeness"] = likeness[asked.id]
        if before is not None and before.id in likeness:
            why["referred_likeness"] = likeness[before.id]
        of_which = (one.id for one in (former, asked, before) if one is not None)
        if odds := [answering[one] for one in (key, *of_which) if one in answering]:
            why["answering"] = max(odds)  # of a reply, a change or a pronoun the words are in the other message
        why |= {"energy": node.energy, "status": node.status, "way": way}
        hit = Hit(
            node,
            ceiling,
            why,
            live.evidence.get(key),
            alike=alike.get(key, {}),
            replaces=former,
            answers=asked,
            refers_to=before,
            reports=references[key].reports,
        )
        hits.append(with_passages(hit, passages[key], alike) if passages.get(key) else hit)
    place_of = dict(zip(ids, places, strict=True))
    best = newest_first(request.text, hits, rules)[:count]
    return [
        replace(hit, reasons=answer.reasons(place_of[hit.node.id], likeness.get(hit.node.id))) for hit in best
    ], changed


class Reference(NamedTuple):
    """What a message has to do with the one before it: the fields of `Hit` of these names."""

    answers: Node | None = None
    refers_to: Node | None = None
    reports: bool = False


def reference_of(answer: Answer, before: Node | None, node: Node) -> Reference:
    """What a message has to do with the one before it.

    A short message answers a question; what the assistant gives or reports answers a request, and a report refers to a
    statement, which stands for itself. None is read with a less trusted one.
    """
    by_assistant = node.source == ASSISTANT
    reports = by_assistant and _reports(answer, before, node)
    if before is None or (before.source == ASSISTANT) == by_assistant or before.trust == UNTRUSTED != node.trust:
        return Reference(reports=reports)
    short = answer.answers_question(node.id, before.id) and asks_for_facts(before.text) and not knows_nothing(node.text)
    if short:
        return Reference(before, reports=by_assistant)
    if by_assistant and _gives(answer, before, node):
        return Reference(before, reports=reports)
    if not reports or opens_another(node.text):
        return Reference(reports=reports)
    return Reference(None, before, True) if stands_for_itself(before.text) else Reference(before, None, True)


def _gives(answer: Answer, before: Node, node: Node) -> bool:
    """Whether an assistant gives in it what the message before it asked for: a recipe, names, a draft."""
    return (
        len(node.text) >= _GIVEN
        and not node.text.rstrip().endswith(("?", "？"))
        and (asks_for_facts(before.text) or not is_statement(before.text))
        and answer.adds(node.id, before.id)
        and not knows_nothing(node.text)
    )


def _reports(answer: Answer, before: Node | None, node: Node) -> bool:
    """Whether the assistant tells in it more than the user said just before.

    "Added to your list" after "My mother comes too" only acknowledges, and "Friday at ten then" repeats.
    """
    if not is_report(node.text):
        return False
    if before is None or before.source == ASSISTANT:
        return True
    if stands_for_itself(before.text):
        return reports_another_value(node.text, before.text)
    return answer.adds(node.id, before.id)


def support_of(ids: Sequence[str], answer: Answer, likeness: Mapping[str, float]) -> dict[str, float]:
    """For a question for all things of a kind: how like each of these is to others that are like the question."""
    if answer.grounds.get("lists", 0.0) <= 0:
        return {}
    from biem.engine.recall.group import support_by_group  # noqa: PLC0415  few questions ask for a list

    return support_by_group(answer.vectors(ids), likeness)


def alike_of(
    ids: Sequence[str],
    questions: Mapping[str, str],
    answer: Answer,
    passages: Mapping[str, Sequence[MessagePart]] = MappingProxyType({}),
) -> dict[str, dict[str, float]]:
    """Pairs of the best of these, or of their passages, that tell of much the same.

    A short answer is as alike as the question that it answers is, too.
    """
    best = ids[:_COMPARED]
    asking = [question for question in questions.values() if question not in ids]
    vectors = answer.vectors([*best, *asking])
    vectors |= {one.key: one.vector for key in best for one in passages.get(key, ())}
    found = answer.alike(vectors)
    alike = {
        key: {other: value for other, value in others.items() if other not in asking} for key, others in found.items()
    }
    for key, question in questions.items():
        for other, value in found.get(question, {}).items():
            if other != key and other not in asking:
                best_value = max(value, alike.get(key, {}).get(other, 0.0))
                alike.setdefault(key, {})[other] = alike.setdefault(other, {})[key] = best_value
    return alike


def refers_back(text: str, rules: ContradictionRules) -> bool:
    """Whether a message does not say what it is about: it begins with a pronoun, or only gives a number."""
    if describes_by_pronoun(text) or lacks_subject(text):
        return True
    if not may_lack_subject(text):
        return False
    told = rules.matter(text)
    if told.persons:
        return False
    amounts = (number for number in told.numbers if number[0].isdigit() and ":" not in number)
    return names_by_pronoun(text) or (any(amounts) and not (told.things or told.topics))


def _referred(
    request: Request, records: Records, rules: ContradictionRules, answer: Answer, nodes: Iterable[Node]
) -> dict[str, Node]:
    """The message that each of these describes by a pronoun, by their ids: the person's nearest before it.

    Read apart, since few begin so.
    """
    opening = [node for node in nodes if node.source != ASSISTANT and refers_back(node.text, rules)]
    before = {node.id: answer.before(node.id) for node in opening}
    ids = list(dict.fromkeys(key for keys in before.values() for key in keys))
    if not ids:
        return {}
    live = records.candidates(request.scope.readable, ids, (), request.where, pending_limit=0, evidence=False).nodes
    found = {}
    for node in opening:
        earlier = (as_read(live[key]) for key in before[node.id] if key in live)
        said = [one for one in earlier if one.source != ASSISTANT and not is_courtesy(one.text)]
        whole = (one for one in said if not refers_back(one.text, rules))
        nearest = next(whole, next(iter(said), None))
        if nearest is not None and (nearest.trust != UNTRUSTED or node.trust == UNTRUSTED):
            found[node.id] = nearest
    return found


def _replaced(ids: Sequence[str], answer: Answer) -> dict[str, str]:
    """The candidate that each of these replaced, the latest of several."""
    returned = frozenset(ids)
    found = [turn for turn in answer.turns.values() if turn.superseded_by in returned]
    return {str(turn.superseded_by): turn.id for turn in sorted(found, key=lambda turn: turn.at)}


def score_of(score: float) -> float:
    """Logistic of a score, in (0, 1), centred on a typical answer's score."""
    return 1.0 / (1.0 + math.exp(-(score - _PLAIN) / _SCALE))
