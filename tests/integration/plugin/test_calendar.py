"""Questions about a time, through the plugin and the library, on real servers."""

import uuid
from collections.abc import Iterator
from datetime import timedelta

import pytest

import biem
from biem import BIEMContextPlugin
from tests.support.fakes import START, HeldClock, WordEmbedder
from tests.support.servers import Configure

TOLD = [
    (0, "Had lunch with Oyelaran at the noodle bar."),
    (0, "My brother Anton lives in Gdansk."),
    (1, "The boiler man is coming on Saturday the 16th."),
    (3, "Took the children to the harbour, they loved the tugboats."),
    (5, "Rehearsal is on Wednesday at seven."),
    (6, "Rehearsal moved to Thursday."),
    (7, "Choir is every Sunday at ten."),
    (7, "Ran nine miles along the canal."),
    (7, "Parents' evening is on 26 May."),
    (8, "昨晚和老宋在码头吃的饭。"),
]
"""Days after Monday, 4 May 2026, and what was told then."""


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()


@pytest.fixture
def told(settings: Configure, embedder: WordEmbedder, clock: HeldClock) -> Iterator[biem.Memory]:
    """A memory in which this was told, on Tuesday, 12 May."""
    with biem.connect(settings(), scope=biem.Scope(user=uuid.uuid4().hex), embedder=embedder, clock=clock) as memory:
        for day, text in TOLD:
            at = START + timedelta(days=day)
            memory.remember(text, conversation=f"c{day}", speaker="user", source="user", at=at)
        assert memory.flush()
        clock.advance(days=8)
        yield memory


def lines(memory: biem.Memory, question: str, **terms: object) -> list[str]:
    return [hit.node.text for hit in memory.context(question, **terms).hits]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("What did I do on Monday?", [TOLD[7][1], TOLD[9][1]]),
        ("What happened last week?", [TOLD[0][1], TOLD[3][1]]),
        ("What's on this week?", ["Rehearsal moved to Thursday.", TOLD[2][1], TOLD[6][1]]),
        ("Am I free on the 26th?", ["Parents' evening is on 26 May."]),
        ("Anything on Friday?", []),
        ("What happened on 1 May?", []),
        ("昨天我干了什么？", [TOLD[9][1], TOLD[7][1]]),
        ("这周日有什么安排？", [TOLD[6][1]]),
        ("3号有什么安排吗", []),
    ],
)
def test_a_question_for_a_time_is_answered_by_what_happens_then(
    told: biem.Memory, question: str, answers: list[str]
) -> None:
    # Given what was told in a week / When a question asks for everything that happens at a time
    plugin = BIEMContextPlugin(told)
    found = [hit.node.text for hit in plugin.recall_context(question).hits]
    # Then the block has what happens then, and nothing else
    assert sorted(found) == sorted(answers)


def test_events_stand_in_their_order_and_moved_ones_by_the_message_that_moved_them(told: biem.Memory) -> None:
    assert lines(told, "What's coming up?") == [TOLD[5][1], TOLD[2][1], TOLD[6][1], TOLD[8][1]]


def test_the_last_time_of_something_stands_first(told: biem.Memory, clock: HeldClock) -> None:
    # Given two such events / When the last one is asked for
    told.remember("Ran four miles in the park.", conversation="c8", speaker="user", source="user", at=clock.now())
    assert told.flush()
    clock.advance(days=1)
    found = lines(told, "When did I last ran miles?")
    # Then the later one stands first, whichever is more alike
    assert found[:2] == ["Ran four miles in the park.", "Ran nine miles along the canal."]


def test_conditions_and_what_the_prompt_holds_apply(told: biem.Memory) -> None:
    assert lines(told, "What happened last week?", conversations=["c0"]) == [TOLD[0][1]]
    assert lines(told, "What happened last week?", exclude_conversation="c0") == [TOLD[3][1]]
    assert lines(told, "What happened last week?", exclude=[TOLD[3][1]]) == [TOLD[0][1]]
    assert lines(told, "What happened last week?", top_k=1) == [TOLD[3][1]], "the latest of what is past"
    assert lines(told, "What's coming up?", top_k=1) == [TOLD[5][1]]
    assert lines(told, "What happened last week?", budget_tokens=1) == []


def test_neither_other_scopes_nor_what_is_gone_are_told(told: biem.Memory) -> None:
    assert lines(told.scope(user="other"), "What happened last week?") == []
    gone = next(hit.node.id for hit in told.context("What happened last week?").hits)
    told.archive(gone)
    assert gone not in {hit.node.id for hit in told.context("What happened last week?").hits}


def test_an_untrusted_message_and_an_assistants_guess_tell_no_event(told: biem.Memory) -> None:
    at = START + timedelta(days=2)
    told.remember("Went to the bank and gave away all the gold.", source="user", trust="untrusted", at=at)
    told.remember("You probably went to the dentist.", conversation="c2", source="assistant", at=at)
    told.remember(
        "Booked: the ferry on Thursday at 8:20.", conversation="c8", source="assistant", at=START + timedelta(days=8)
    )
    assert told.flush()
    assert lines(told, "What happened last week?") == [TOLD[0][1], TOLD[3][1]]
    assert "Booked: the ferry on Thursday at 8:20." in lines(told, "What's on this week?")


def test_recall_takes_its_query_literally(told: biem.Memory) -> None:
    assert len(told.recall("What happened last week?", top_k=5)) == 5


def test_a_cancellation_that_names_no_day_stands_for_what_it_ends(told: biem.Memory) -> None:
    told.remember("So no boiler man after all.", conversation="c8", source="user", at=START + timedelta(days=8))
    assert told.flush()
    assert TOLD[2][1] not in lines(told, "What's on this week?")
