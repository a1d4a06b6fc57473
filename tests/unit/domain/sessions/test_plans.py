"""Which messages are in a window, and which are trimmed: whole rounds of any size."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.domain.sessions.session import Role, SessionMessage
from biem.domain.sessions.trimming import SLICE_CHARS, Outline, next_slice
from biem.domain.sessions.window import fitting

AT = datetime(2026, 5, 4, tzinfo=UTC)


def message(seq: int, round_: int, tokens: int, role: Role = "user") -> SessionMessage:
    """One message."""
    return SessionMessage(seq, role, f"text {seq}", tokens, round_, AT)


@st.composite
def talks(draw: Any) -> list[SessionMessage]:
    """Rounds of one to four messages of any size."""
    sizes = draw(st.lists(st.lists(st.integers(0, 90), min_size=1, max_size=4), max_size=12))
    found: list[SessionMessage] = []
    for round_, tokens in enumerate(sizes, 1):
        for size in tokens:
            found.append(message(len(found) + 1, round_, size))
    return found


@pytest.mark.req("M46", partly="the window")
@given(talks(), st.integers(1, 500), st.integers(0, 60))
def test_a_window_has_the_newest_whole_rounds_that_fit(talk: list[SessionMessage], budget: int, first: int) -> None:
    # Given a talk with a system message / When its window is taken
    system = [message(0, 0, first, "system")]
    window = fitting(system, reversed(talk), budget, len(talk) + 1)

    # Then it has the system message and whole rounds up to the newest, in order
    inside = window.messages[1:]
    assert window.messages[0].role == "system"
    assert list(inside) == talk[len(talk) - len(inside) :]
    rounds = {one.round for one in inside}
    assert [one for one in talk if one.round in rounds] == list(inside)
    assert window.tokens == first + sum(one.tokens for one in inside)
    assert window.left_out == len(talk) - len(inside)
    # And it fits, unless it is the newest round alone; one round more would not fit
    assert window.tokens <= budget or len(rounds) <= 1
    if len(inside) < len(talk):
        next_round = talk[len(talk) - len(inside) - 1].round
        assert window.tokens + sum(one.tokens for one in talk if one.round == next_round) > budget


@st.composite
def outlines(draw: Any) -> list[Outline]:
    """What may be trimmed of a session."""
    sizes = draw(
        st.lists(st.lists(st.tuples(st.integers(1, 90), st.integers(0, 5_000)), min_size=1, max_size=4), max_size=12)
    )
    found: list[Outline] = []
    for round_, messages in enumerate(sizes, 1):
        for tokens, chars in messages:
            found.append(Outline(len(found) + 1, round_, tokens, chars))
    return found


@pytest.mark.req("M46", "M47", partly="which rounds are trimmed")
@given(outlines(), st.integers(0, 400), st.integers(0, 1_000))
def test_slices_take_the_oldest_whole_rounds_until_the_target_is_reached(
    outline: list[Outline], others: int, target: int
) -> None:
    # Given a session whose protected messages have `others` tokens / When it is trimmed slice by slice
    left, tokens = list(outline), others + sum(one.tokens for one in outline)
    while (part := next_slice(left, tokens, target)) is not None:
        taken = [one for one in left if one.seq <= part.last]
        # Then each slice is of whole rounds, not too long unless it is one, and no more than needed
        assert (part.first, part.messages) == (left[0].seq, len(taken))
        assert part.tokens == sum(one.tokens for one in taken)
        assert {one.round for one in taken}.isdisjoint(one.round for one in left[len(taken) :])
        assert sum(one.chars for one in taken) <= SLICE_CHARS or len({one.round for one in taken}) == 1
        last = sum(one.tokens for one in taken if one.round == taken[-1].round)
        assert tokens - part.tokens + last > target
        left, tokens = left[len(taken) :], tokens - part.tokens
    # And in the end the target is reached, or nothing else may be trimmed
    assert tokens <= target or not left


def test_a_window_says_in_one_line_what_it_leaves_out() -> None:
    talk = [message(1, 1, 10), message(2, 2, 10), message(3, 3, 10)]
    assert fitting([], reversed(talk), 30, 3).note == ""
    assert fitting([], reversed(talk), 20, 3).note == "1 earlier message of this session left out"
    assert fitting([], reversed(talk), 20, 1_203).note == "1,201 earlier messages of this session left out"
