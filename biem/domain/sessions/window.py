"""Which messages of a session fit into a window."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from biem.domain.sessions.session import SessionMessage, Window


def fitting(system: Sequence[SessionMessage], newest: Iterable[SessionMessage], budget: int, held: int) -> Window:
    """The window of at most `budget` tokens: system messages, then the newest whole rounds that fit.

    `newest`: the other messages, newest first; read only as far as needed. `held`: how many messages the session has.
    System messages and the newest round are always there, also when they alone exceed the budget.
    """
    tokens = sum(message.tokens for message in system)
    taken: list[SessionMessage] = []
    for _, group in groupby(newest, key=lambda message: message.round):
        round_ = list(group)
        cost = sum(message.tokens for message in round_)
        if taken and tokens + cost > budget:
            break
        taken += round_
        tokens += cost
    messages = (*system, *reversed(taken))
    return Window(messages, tokens, max(0, held - len(messages)))
