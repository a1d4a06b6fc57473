"""Summaries of a part of a conversation."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from biem.adapters import analyzers
from biem.domain.scope import Scope
from biem.layers.summary import by_model, by_sentences
from biem.ports.layers.sessions import Summable
from biem.ports.reasoner import Reasoner

AT = datetime(2026, 5, 4, tzinfo=UTC)
ANALYZER = analyzers.build()


def said(*texts: str) -> list[Summable]:
    """Messages of the user and the assistant in turns."""
    roles: Any = ("user", "assistant")
    return [Summable(n, roles[n % 2], text, AT, f"m{n}", "", "trusted") for n, text in enumerate(texts)]


class Model:
    """A model that says how much it was given, or nothing."""

    def __init__(self, answers: Sequence[str | None] = ()) -> None:
        self.given: list[int] = []
        self._answers = list(answers)

    def summarise(self, scope: Scope, texts: Sequence[str], max_chars: int) -> str | None:
        """The next answer."""
        self.given.append(sum(map(len, texts)))
        return self._answers.pop(0) if self._answers else f"summary {len(self.given)}"[:max_chars]


@pytest.mark.parametrize(
    ("talk", "kept", "dropped"),
    [
        (
            ("Hello!", "Hi there!", "Which bus goes there?", "Bus 14 leaves from the old bridge at 9:40.", "Thanks"),
            "Bus 14 leaves from the old bridge",
            ("Hello", "Thanks", "Which bus"),
        ),
        (
            ("你好", "你好！", "登录模块用什么实现?", "登录模块用 JWT 实现，令牌两小时后过期。", "谢谢"),
            "登录模块用 JWT 实现",
            ("你好", "谢谢", "什么实现"),
        ),
    ],
)  # fmt: skip
def test_without_a_model_it_has_what_tells_most(talk: tuple[str, ...], kept: str, dropped: tuple[str, ...]) -> None:
    # Given a talk with courtesies and a question / When it is summarised / Then the statement is left
    summary = by_sentences(ANALYZER, said(*talk), 300)
    assert kept in summary
    assert not [word for word in dropped if word in summary]


def test_it_keeps_the_order_the_speakers_and_the_limit() -> None:
    # Given more than fits / When it is summarised / Then the lines are whole, in order, and say who spoke
    talk = said(*(f"Crate {n} with the {word} lamp stands in hall {n}." for n, word in enumerate("abcdefghij" * 3)))
    summary = by_sentences(ANALYZER, talk, 300)
    lines = summary.split("\n")
    assert 0 < len(summary) <= 300
    assert all(line.startswith(("user: Crate", "assistant: Crate")) for line in lines)
    numbers = [int(line.split()[2]) for line in lines]
    assert numbers == sorted(numbers)
    assert by_sentences(ANALYZER, talk, 300) == summary


def test_what_repeats_is_shown_once_and_nothing_gives_nothing() -> None:
    assert by_sentences(ANALYZER, said(*["The lamp is green."] * 5), 500).count("lamp") == 1
    assert by_sentences(ANALYZER, said("Hello", "ok", "Really?"), 500) == ""
    assert by_sentences(ANALYZER, [], 500) == ""


def test_a_model_reads_long_parts_in_pieces() -> None:
    # Given a round that is longer than a model reads at once
    model, scope = Model(), Scope()

    # When it is summarised / Then each call gets at most 12,000 characters, and all of it was given
    summary = by_model(cast(Reasoner, model), scope, said("x" * 30_000, "y" * 5_000), 1_000)
    assert max(model.given) <= 12_000
    assert sum(model.given) >= 35_000
    assert summary == "\n".join(f"summary {n + 1}" for n in range(len(model.given)))


def test_summaries_of_pieces_that_are_too_long_are_summarised_again() -> None:
    model = Model(["a" * 400, "b" * 400, "c" * 400, "all of it"])
    assert by_model(cast(Reasoner, model), Scope(), said("x" * 30_000), 1_000) == "all of it"


def test_where_the_model_fails_there_is_none() -> None:
    assert by_model(cast(Reasoner, Model([None])), Scope(), said("The lamp is green."), 1_000) is None
    assert by_model(cast(Reasoner, Model(["a", None])), Scope(), said("x" * 20_000), 1_000) is None
