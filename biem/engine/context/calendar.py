"""The events of a period in their order, which answer a question for a time.

No memory resembles "What's on next week?": those that answer it are found by the days on which their events happen
(`biem.domain.times.events`). A moved or cancelled event is shown by the message that says so.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from biem.domain.node import Hit, Hits, Node, as_read
from biem.domain.prompt.contents import Known
from biem.domain.retention import ASSISTANT
from biem.domain.scope import Scope
from biem.domain.speech.reports import is_report
from biem.domain.times.asked import AskedTime
from biem.domain.times.events import happening
from biem.engine.context.currency.rescheduled import is_called_off, tells_of_any_move, tells_of_move
from biem.engine.context.picking import Bar
from biem.ports import Filter, Records

_MOST_READ = 2_000
"""Memories that may tell of events, the newest first."""
_LEAST_AGENDA = 0.5
"""Log-odds from which a question that names a time asks for everything that happens then, if it does not rather ask
for all things of a kind."""
_SHOWN = 2
"""Lines for the last or the next time of something."""
_OF_ONE, _OF_ALL = Bar(sure=0.5, behind=1.5, worth=-1.0), Bar(sure=0.3, behind=2.5, worth=-1.0)
"""Chosen on sixteen lives of questions about times."""


class Occasion(NamedTuple):
    """A memory that tells of an event, and when that begins in the time asked for."""

    node: Node
    at: datetime


class TimedHits(NamedTuple):
    """What was told of the time that a question asks for."""

    asked: AskedTime
    hits: Hits
    at: Mapping[str, datetime]
    """When the event begins that a memory tells of, by its id."""

    @property
    def bar(self) -> Bar:
        """What lines must reach: the time speaks for those of a span, and the last time of something is one line's."""
        return _OF_ONE if self.asked.which in ("last", "next") else _OF_ALL

    def ordered(self, chosen: Sequence[Hit]) -> list[Hit]:
        """These in the order of their events; for the last or the next time that one first, and one more."""
        told = sorted((hit for hit in chosen if hit.node.id in self.at), key=lambda hit: self.at[hit.node.id])
        if self.asked.which == "last":
            return told[::-1][:_SHOWN]
        return told[:_SHOWN] if self.asked.which == "next" else told


def timed_hits(
    asked: AskedTime,
    *,
    records: Records,
    scope: Scope,
    where: Filter,
    known: Known,
    recalled: Callable[..., Hits],
) -> TimedHits | None:
    """The events of the time that a question asks for; None where only an ordinary search can answer.

    `recalled` searches for the topic of the question. Memories `known` to the prompt are left out.
    """
    if asked.which and not asked.only:
        found = recalled(asked.topic)
        at = {node.id: when for node, when in events([hit.node for hit in found], asked)}
        found[:] = [hit for hit in found if hit.node.id in at]
        return TimedHits(asked, found, at)
    told = events(map(as_read, records.told(scope.readable, asked.span, where, _MOST_READ)), asked)
    at = {node.id: when for node, when in told if not known.has(node)}
    if not asked.only:
        found = recalled(asked.topic, where=replace(where, only_ids=tuple(at)) if at else where)
        if found.grounds.get("agenda", 0.0) < max(_LEAST_AGENDA, found.grounds.get("lists", 0.0)):
            return TimedHits(asked, found, at) if at else None
        asked = replace(asked, only=True)
    return TimedHits(asked, Hits(Hit(node, 1.0, {}) for node, _ in told if node.id in at), at)


def told_within(hits: Hits, asked: AskedTime, now: datetime) -> Hits:
    """For a question for all things of a kind, those of these hits that were told, or happen, in a time that is over.

    All, if there are none, or if the time is not over: "My check-up is tomorrow, what do I take?", "lately".
    """
    if asked.ahead or asked.span[1] > now:
        return hits
    there = {node.id for node, _ in events([hit.node for hit in hits], asked)}
    start, end = asked.span
    then = [hit for hit in hits if hit.node.id in there or start <= hit.node.at < end]
    if then:
        hits[:] = then
    return hits


def events(nodes: Iterable[Node], asked: AskedTime) -> list[Occasion]:
    """The memories that tell of events in the time asked for and when these begin, in their order.

    A moved or cancelled event is shown by the message that says so. Events that were called off are last, and no
    last or next time of anything.
    """
    newest = sorted((node for node in nodes if _may_tell(node)), key=lambda node: (node.at, node.write_seq))[::-1]
    moves, found = list[Node](), list[tuple[bool, datetime, Node]]()
    for node in newest:
        at, ended = happening(node.text, node.at).within(asked.span, node.at), is_called_off(node.text)
        moved = any(tells_of_move(later.text, node.text, "", asks_time=True) for later in moves) if at else False
        if at is not None and not moved and not (asked.which and ended):
            found.append((ended, at, node))
        if tells_of_any_move(node.text):
            moves.append(node)
    found.sort(key=lambda one: (one[0], one[1], one[2].at))
    return [Occasion(node, at) for _, at, node in found]


def _may_tell(node: Node) -> bool:
    return node.source != ASSISTANT or is_report(node.text)
