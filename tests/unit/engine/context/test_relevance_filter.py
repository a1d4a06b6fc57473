"""A language model chooses what is shown, when it is asked for and answers; otherwise nothing changes."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from biem.config import Settings
from biem.domain.node import Hit, Hits, Node
from biem.domain.policies.context import ContextPolicy
from biem.domain.scope import Scope
from biem.domain.tokens import estimate_tokens
from biem.engine.context.block import render
from biem.engine.context.relevance_filter import RelevanceFilter
from biem.telemetry import Telemetry
from tests.support.concept_fakes import ScriptedReasoner
from tests.support.fakes import START

HERE = Scope(user="u")


class Chooser(ScriptedReasoner):
    """A model that chooses as it was instructed to; None is an outage."""

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
def test_what_the_model_chooses_is_shown_and_nothing_else() -> None:
    # Given a model that finds two of twenty memories of use
    model = Chooser([3, 17])
    look = RelevanceFilter(model, ContextPolicy(second_look=20), Telemetry())
    assert look.wanted(5) == 20

    # When it looks / Then these are shown; it heard who said what, and had a single call
    hits = look.keep(HERE, "Which?", found(20), 5)
    assert told(hits) == ["text 3", "text 17"]
    assert (hits.degraded, hits.confidence) == (("redis",), 0.7)
    assert model.asked["question"] == "Which?"
    assert model.asked["texts"] == [f"Ann: text {n}" for n in range(20)]
    assert (model.calls, model.for_replies) == (["relevant"], 1)
    # And it may find none of use
    assert (
        told(RelevanceFilter(Chooser([]), ContextPolicy(second_look=20), Telemetry()).keep(HERE, "?", found(9), 5))
        == []
    )


class Reader(Chooser):
    """A model that reads: what says the wanted words is of use, except every n-th text, where it errs."""

    def __init__(self, wanted: Sequence[str], *, errs: int = 0) -> None:
        super().__init__([])
        self.wanted, self.errs, self.read = wanted, errs, 0

    def relevant(self, scope: Scope, question: str, texts: Sequence[str]) -> list[int] | None:
        chosen = []
        for place, text in enumerate(texts):
            self.read += 1
            wrong = self.errs > 0 and self.read % self.errs == 0
            if all(word in text for word in self.wanted) != wrong:
                chosen.append(place)
        return chosen


def hits_of(texts: Sequence[str]) -> Hits:
    hits = found(len(texts))
    hits[:] = [replace(hit, node=replace(hit.node, text=text)) for hit, text in zip(hits, texts, strict=True)]
    return hits


@pytest.mark.req("G2", partly="the tokens of seven among a hundred; the model is scripted")
def test_seven_of_a_hundred_memories_are_shown_for_a_fifth_of_the_tokens_of_all() -> None:
    # Given a hundred memories, of which seven are about the violin: the recall finds fifty, with these among them
    texts = [f"In week {n} we talked about the {'violin' if n % 14 == 3 else 'garden'} lesson" for n in range(100)]
    relevant = [text for text in texts if "violin" in text]
    assert len(relevant) == 7
    best = [*texts[60:95], *relevant, *texts[:15]]
    candidates = hits_of(list(dict.fromkeys(best))[:50])
    policy = ContextPolicy(second_look=50, item_chars=200)

    # When the model has looked at them / Then all seven are shown, and nothing else, for a fifth of the tokens at most
    kept = RelevanceFilter(Reader(["violin"]), policy, Telemetry()).keep(HERE, "violin?", candidates, 5)
    block = render(kept, policy, 10_000)
    assert sorted(hit.node.text for hit in block.hits) == sorted(relevant)
    everything = render(hits_of(texts), policy, 100_000)
    assert len(everything.hits) == 100
    assert estimate_tokens(block.text) <= 0.2 * estimate_tokens(everything.text)


@pytest.mark.req("G3", partly="the mechanism; the model is scripted and errs once in forty")
def test_what_is_only_like_the_question_is_left_out_and_hardly_anything_else() -> None:
    # Given forty questions, each with two answers among eight near misses that say nearly the same
    people = [f"Person{n}" for n in range(40)]
    model = Reader(["moved to"], errs=41)
    look = RelevanceFilter(model, ContextPolicy(second_look=10), Telemetry())
    right = shown = before = 0
    for who in people:
        answers = [f"{who} moved to Lisbon in March", f"{who} moved to the river side"]
        misses = [f"{who} thought of moving somewhere {n} times" for n in range(8)]
        candidates = hits_of([*misses[:3], answers[0], *misses[3:6], answers[1], *misses[6:]])
        before += len(candidates)
        kept = told(look.keep(HERE, f"Where did {who} move?", candidates, 5))
        right += len(set(kept) & set(answers))
        shown += len(kept)

    # When the model, which errs now and then, has looked / Then precision has risen and recall has hardly fallen
    assert right / shown > 0.85 > 80 / before
    assert right / 80 >= 0.95


def test_a_silent_model_changes_nothing() -> None:
    look = RelevanceFilter(Chooser(None), ContextPolicy(second_look=20), Telemetry())
    assert told(look.keep(HERE, "Which?", found(20), 5)) == [f"text {n}" for n in range(5)]


def test_it_is_off_unless_asked_for_and_without_a_model() -> None:
    model = Chooser([0])
    for look in (
        RelevanceFilter(model, ContextPolicy(), Telemetry()),
        RelevanceFilter(None, ContextPolicy(second_look=9), Telemetry()),
    ):
        assert look.wanted(5) == 5
        assert len(look.keep(HERE, "Which?", found(5), 5)) == 5
    assert model.calls == []
    asked = RelevanceFilter(model, ContextPolicy(second_look=9), Telemetry())
    assert asked.keep(HERE, "Which?", found(0), 5) == []
    assert model.calls == []


def test_a_number_out_of_range_is_refused() -> None:
    for wrong in (-1, 51):
        with pytest.raises(ValueError, match="second_look"):
            Settings(context=ContextPolicy(second_look=wrong))
