"""A language model chooses what is told, when it is asked for and answers; otherwise nothing changes."""

from collections.abc import Sequence

import pytest

from biem.domain.context_policy import ContextPolicy
from biem.domain.node import Hit, Hits, Node
from biem.domain.scope import Scope
from biem.engine.second_look import SecondLook
from biem.telemetry import Telemetry
from tests.concept_fakes import ScriptedReasoner
from tests.fakes import START

HERE = Scope(user="u")


class Chooser(ScriptedReasoner):
    """A model that chooses as it was told to; None is an outage."""

    def __init__(self, places: list[int] | None) -> None:
        super().__init__()
        self.places = places

    def relevant(self, scope: Scope, question: str, texts: Sequence[str]) -> list[int] | None:
        self.calls.append("relevant")
        self.asked = {"question": question, "texts": list(texts)}
        return self.places


def found(count: int) -> Hits:
    nodes = [
        Node(id=str(n), scope=HERE, text=f"text {n}", kind="event", status="active", layer="short_term", at=START,
             created_at=START, speaker="Ann")
        for n in range(count)
    ]  # fmt: skip
    return Hits((Hit(node, 1.0, {}) for node in nodes), degraded=("redis",), confidence=0.7)


def told(hits: Hits) -> list[str]:
    return [hit.node.text for hit in hits]


@pytest.mark.req("G2", partly="who chooses; the tokens saved depend on the model")
def test_what_the_model_chooses_is_told_and_nothing_else() -> None:
    # Given a model that finds two of twenty memories of use
    model = Chooser([3, 17])
    look = SecondLook(model, ContextPolicy(second_look=20), Telemetry())
    assert look.wanted(5) == 20

    # When it looks / Then these are told; it heard who said what, and had a single call
    hits = look.keep(HERE, "Which?", found(20), 5)
    assert told(hits) == ["text 3", "text 17"]
    assert (hits.degraded, hits.confidence) == (("redis",), 0.7)
    assert model.asked["question"] == "Which?"
    assert model.asked["texts"] == [f"Ann: text {n}" for n in range(20)]
    assert (model.calls, model.for_replies) == (["relevant"], 1)
    # And it may find none of use
    assert told(SecondLook(Chooser([]), ContextPolicy(second_look=20), Telemetry()).keep(HERE, "?", found(9), 5)) == []


def test_a_silent_model_changes_nothing() -> None:
    look = SecondLook(Chooser(None), ContextPolicy(second_look=20), Telemetry())
    assert told(look.keep(HERE, "Which?", found(20), 5)) == [f"text {n}" for n in range(5)]


def test_it_is_off_unless_asked_for_and_without_a_model() -> None:
    model = Chooser([0])
    for look in (
        SecondLook(model, ContextPolicy(), Telemetry()),
        SecondLook(None, ContextPolicy(second_look=9), Telemetry()),
    ):
        assert look.wanted(5) == 5
        assert len(look.keep(HERE, "Which?", found(5), 5)) == 5
    assert model.calls == []
    asked = SecondLook(model, ContextPolicy(second_look=9), Telemetry())
    assert asked.keep(HERE, "Which?", found(0), 5) == []
    assert model.calls == []


def test_a_number_out_of_range_is_refused() -> None:
    for wrong in (-1, 51):
        with pytest.raises(ValueError, match="second_look"):
            ContextPolicy(second_look=wrong)
