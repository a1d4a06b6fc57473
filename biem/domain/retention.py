"""How long an unused memory is kept: a forgetting curve by importance, reason, use and content.

    span = base(importance) · reason · (1 + 2·useful)      long-term at least 90 days; core and importance 5 for ever

A person's statements about health, safety, identity, relationships and standing orders never expire, nor do those that
tell how it is with him, his people or his things, for no particular time; what else he says is kept a year at least,
whomever it is about, but for courtesies: a request tells what the report that follows it is about. The assistant's
messages are kept a third as long as the same from a person; but its questions are kept a year, too, since the answer
may be a word, and its reports of what it did or found half a year, since nothing else tells the result.
    deadline = max(last touch + span, the instant its energy falls below 0.1)

An access restarts the span and extends that of weak memories at most to that of long-term ones; only feedback extends
it beyond. The deadline follows from live columns, so an access updates no stored date.
"""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from biem.domain.energy import reason_quality
from biem.domain.policies.life import RetentionPolicy
from biem.domain.speech.acts import asks_for_facts, is_courtesy
from biem.domain.speech.first_person import in_first_person, tells_of_user
from biem.domain.speech.lasting import is_lasting, tells_a_state
from biem.domain.speech.reports import is_report
from biem.domain.text import simplified

_DAY_H = 24.0
_NORMAL = 3.0
"""The importance of an unmarked message."""
ASSISTANT = "assistant"
"""The `source` of the language model's messages."""
_OF_REPORTS = 0.5
"""Share of a statement's span that a report of the assistant's has: what people say outlives what assistants say."""
_FAR_DAYS = 36_500.0
"""A century: later deadlines count as never, and no datetime overflows."""


@dataclass(frozen=True, slots=True)
class Lived:
    """Inputs of retention: how a memory was written, and how it has been used."""

    text: str
    source: str
    kind: str
    layer: str
    importance: float
    reason: str = ""
    access_count: int = 0
    useful_count: int = 0
    believed: bool = True
    """False for an untrusted memory: it is kept no longer for what it says."""


def retention_days(memory: Lived, policy: RetentionPolicy) -> float | None:
    """Days from the last touch until it may be archived; None for never. Grows with importance, use and an informative
    reason.

    Each access extends a span shorter than long-term memory's, up to that one's.
    """
    written = simplified(memory.text)
    text = in_first_person(written, fact=memory.kind != "event")
    layer, importance, access_count = memory.layer, memory.importance, memory.access_count
    useful_count, reason = memory.useful_count, memory.reason
    by_assistant = memory.source == ASSISTANT
    lasting = policy.keep_lasting and memory.believed and not by_assistant
    if layer == "core" or importance >= 5 or (lasting and is_lasting(text)):
        return None
    told = memory.kind == "event" or tells_of_user(text)
    said = told and memory.believed and importance >= _NORMAL and not by_assistant
    if said and policy.keep_lasting and tells_a_state(text):
        return None
    days = _base_days(importance, policy)
    if by_assistant:
        days *= policy.assistant_factor
        if policy.keep_lasting and memory.believed and importance >= _NORMAL:
            asks = asks_for_facts(written)
            share = 1.0 if asks else _OF_REPORTS if is_report(written) else 0.0
            days = max(days, share * policy.stated_days)
    elif said and not is_courtesy(text):
        days = max(days, policy.stated_days)
    if layer == "long_term":
        days = max(days, policy.long_term_days)
    elif days < policy.long_term_days:
        days = min(policy.long_term_days, days * policy.access_factor ** min(access_count, 30))
    if reason_quality(reason) > 0:
        days *= policy.reason_factor
    days *= 1.0 + policy.useful_factor * min(useful_count, policy.max_useful)
    return days if days < _FAR_DAYS else None


def deadline(
    touched_at: datetime,
    span_days: float | None,
    energy: float,
    energy_at: datetime,
    decay_per_hour: float,
    minimum: float,
) -> datetime | None:
    """When it may be archived, None for never: after its span, and never while its energy is `minimum` or more.

    `touched_at` is the last access, feedback or write; `energy` is that at `energy_at`.
    """
    if span_days is None:
        return None
    due = touched_at + timedelta(days=span_days)
    if energy < minimum:
        return due
    if decay_per_hour <= 0:
        return None
    alive_h = math.log(energy / minimum) / decay_per_hour
    if alive_h > _FAR_DAYS * _DAY_H:
        return None
    return max(due, energy_at + timedelta(hours=alive_h))


def becomes_long_term(layer: str, access_count: int, useful_count: int, policy: RetentionPolicy) -> bool:
    """Whether its use promotes a short-term memory."""
    proven = access_count >= policy.promote_accesses or useful_count >= policy.promote_useful
    return layer == "short_term" and proven


def _base_days(importance: float, policy: RetentionPolicy) -> float:
    """Geometric interpolation between the days of importance 1, 2, 3 and 4; above 4 extrapolated from 3 to 4."""
    points = (policy.noise_days, policy.low_days, policy.normal_days, policy.high_days)
    lower = min(max(int(importance), 1), 3)
    start, end = points[lower - 1], points[lower]
    return start * math.exp(math.log(end / start) * (importance - lower))
