"""What a recall returns of the best: hits with what they replaced and what they are like."""

from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from biem.adapters import contradiction
from biem.adapters.analyzers import build
from biem.domain.node import Node
from biem.domain.policies.ranking import RankPolicy
from biem.domain.policies.recall import RecallPolicy
from biem.domain.prompt.contents import NOTHING
from biem.domain.scope import Scope
from biem.engine.query.request import Request
from biem.engine.recall.hits import hydrate
from biem.engine.recall.rank.pool import Found
from biem.engine.recall.rank.ranker import Ranker
from biem.engine.recall.rank.score import rank
from biem.ports import EVERYTHING
from biem.ports.readers import Turn, Turns
from biem.ports.records import Candidates
from tests.support.fakes import START

ANALYZER = build()
ASKED, REST = (np.eye(2, dtype=np.float32)[row] for row in range(2))
TEXTS = {"old": "The course is on Monday.", "new": "No, Thursday.", "other": "It rains in Graz."}
VECTORS = {"old": ASKED, "new": REST, "other": REST}


class Table:
    """Has these memories."""

    def __init__(self, **gone: bool) -> None:
        self._nodes = {
            key: Node(
                id=key, scope=Scope(), text=text, kind="event", status="active", layer="short_term", created_at=START,
                at=START + timedelta(hours=place), source="user", superseded_by="new" if key == "old" else None,
            )
            for place, (key, text) in enumerate(TEXTS.items())
            if not gone.get(key)
        }  # fmt: skip

    def candidates(self, scopes: object, ids: list[str], *rest: object, **more: object) -> Candidates:
        return Candidates({key: self._nodes[key] for key in ids if key in self._nodes}, {}, frozenset(), {})


def hits_of(table: Any) -> dict[str, Any]:
    """The best two of three, by id."""
    turns = {
        key: Turn(
            key, "ns", ANALYZER.lexemes(text), VECTORS[key], "event", "", "c", START + timedelta(hours=place), place,
            False, True, START + timedelta(hours=1) if key == "old" else None, "new" if key == "old" else None,
        )
        for place, (key, text) in enumerate(TEXTS.items())
    }  # fmt: skip
    ranker = Ranker(ANALYZER, lambda one, rows: (rows @ one).tolist(), RecallPolicy(), RankPolicy())
    asked, now = ranker.asked("When is the course?"), START + timedelta(days=1)
    found = Found(vector=ASKED)
    answer = ranker.answer(asked, Turns(turns, [], frozenset()), found, {}, now=now, top_k=2, order=rank)
    request = Request(Scope(), "When is the course?", 2, EVERYTHING, False, "", 0.0, NOTHING, 0)
    return {hit.node.id: hit for hit in hydrate(table, contradiction.build(), request, answer, "search")[0]}


def test_a_hit_says_what_it_replaced_and_how_like_the_question_that_was() -> None:
    # Given a correction that is unlike the question / When it is returned / Then it names what it corrected
    hits = hits_of(Table())
    assert hits["new"].replaces.text == TEXTS["old"]
    assert hits["new"].why["former_likeness"] == 1.0
    assert hits["new"].why["likeness"] == 0.0
    assert all(hit.replaces is None for key, hit in hits.items() if key != "new")


def test_what_was_replaced_and_erased_is_not_named() -> None:
    assert hits_of(Table(old=True))["new"].replaces is None


class Talk:
    """Has the messages of one talk, each by a source."""

    def __init__(self, *said: tuple[str, str], gone: str = "") -> None:
        self.turns: dict[str, Turn] = {}
        self._nodes: dict[str, Node] = {}
        for place, (source, text) in enumerate(said):
            key, at = f"{source} {place}", START + timedelta(minutes=place)
            asks = text.endswith("?")
            self.turns[key] = Turn(
                key, "ns", ANALYZER.lexemes(text), ASKED if asks else REST, "event", "", "c", at, place, asks, True,
                None, None,
            )  # fmt: skip
            self._nodes[key] = Node(
                id=key, scope=Scope(), text=text, kind="event", status="active", layer="short_term", created_at=START,
                at=at, source=source, trust="untrusted" if text == gone else "trusted",
            )  # fmt: skip

    def candidates(self, scopes: object, ids: list[str], *rest: object, **more: object) -> Candidates:
        return Candidates({key: self._nodes[key] for key in ids}, {}, frozenset(), {})

    def hits(self) -> dict[str, Any]:
        ranker = Ranker(ANALYZER, lambda one, rows: (rows @ one).tolist(), RecallPolicy(), RankPolicy())
        asked = ranker.asked("How many shows are there?")
        turns = Turns(self.turns, [tuple(self.turns)], frozenset())
        now = START + timedelta(days=1)
        answer = ranker.answer(asked, turns, Found(vector=ASKED), {}, now=now, top_k=5, order=rank)
        request = Request(Scope(), asked.text, 5, EVERYTHING, False, "", 0.0, NOTHING, 0)
        table: Any = self
        return {hit.node.text: hit for hit in hydrate(table, contradiction.build(), request, answer, "search")[0]}


def test_a_short_message_names_the_question_of_the_assistant_that_it_answers() -> None:
    # Given a talk in which the assistant asks and the user answers in a word / Then the hit has the question
    question = "How many shows do you play?"
    hits = Talk(("user", "I act."), ("assistant", question), ("user", "Six."), ("user", "Good night to all.")).hits()
    assert hits["Six."].answers.text == question
    assert hits["Six."].why["asked_likeness"] == 1.0
    assert [text for text, hit in hits.items() if hit.answers is not None] == ["Six."]


def test_a_report_of_the_assistant_names_the_request_if_it_says_more() -> None:
    asked, done = "Put the six shows into the calendar.", "Done, I set them to 7 May and 8 May."
    assert Talk(("user", asked), ("assistant", done)).hits()[done].answers.text == asked
    said, again = "The six shows are on 7 May.", "Changed to 7 May."
    hit = Talk(("user", said), ("assistant", again)).hits()[again]
    assert (hit.answers, hit.reports) == (None, False)
    more = "The hall is taken then, so I moved the last one to 9 May."
    hit = Talk(("user", said), ("assistant", more)).hits()[more]
    assert (hit.answers, hit.refers_to.text, hit.reports) == (None, said, True)  # a statement stands for itself
    said, remark = "We play in the old barn.", "Barns are lovely and dry."
    hit = Talk(("user", said), ("assistant", remark)).hits()[remark]
    assert (hit.answers, hit.refers_to, hit.reports) == (None, None, False)
    advice = "You could hang the posters in the market hall, too."
    assert Talk(("user", asked), ("assistant", advice)).hits()[advice].answers is None
    also = "Also, the hall called: the piano was tuned on 3 May."
    hit = Talk(("user", asked), ("assistant", also)).hits()[also]
    assert (hit.answers, hit.reports) == (None, True)
    assert Talk(("assistant", asked), ("assistant", done)).hits()[done].answers is None


def test_what_answers_no_question_of_the_assistant_names_none() -> None:
    # a longer message says of what it speaks; a person's question is no assistant's; nor is an untrusted one told
    question = "How many shows do you play?"
    long = "We walked along the old canal past boats, barges, swans, mills, bridges, gardens and a brewery."
    assert Talk(("assistant", question), ("user", long)).hits()[long].answers is None
    assert Talk(("user", question), ("user", "Six.")).hits()["Six."].answers is None
    assert Talk(("assistant", question), ("assistant", "Six?")).hits()["Six?"].answers is None
    assert Talk(("assistant", question), ("user", "Six."), gone=question).hits()["Six."].answers is None


def test_a_message_that_describes_by_a_pronoun_has_the_message_that_it_describes() -> None:
    # Given a talk in which the user says what it is about in the message before / Then the hit has that message
    kiln, said = "The kiln won't fire any more.", "It's a Nabertherm, nine years old."
    hits = Talk(("user", "I act."), ("user", kiln), ("assistant", "What a pity."), ("user", said)).hits()
    assert hits[said].refers_to.text == kiln
    assert "referred_likeness" in hits[said].why
    assert [text for text, hit in hits.items() if hit.refers_to is not None] == [said]
    # and no thanks, no message of the assistant, and no untrusted one
    told = Talk(("user", kiln), ("user", "Thanks!"), ("assistant", "It's a pity."), ("user", said)).hits()
    assert told[said].refers_to.text == kiln
    assert Talk(("assistant", kiln), ("user", said)).hits()[said].refers_to is None
    assert Talk(("user", kiln), ("user", said), gone=kiln).hits()[said].refers_to is None


NOTES = """Notes of the theatre group from last night, with everyone there:
- the barn is booked for us until May
- we play six shows of it, all sold out by now
- It's a comedy in three acts, nine years old
- the costumes are at Ida's place"""


def test_a_message_of_several_statements_has_those_nearest_to_the_question_as_passages() -> None:
    # Given notes of which one item is near the question, and another begins with a pronoun / When they are returned
    talk = Talk(("user", NOTES), ("user", "Good night to all."))
    talk.turns["user 0"] = talk.turns["user 0"]._replace(
        parts=np.stack([REST, ASKED, np.array([0.6, 0.8], np.float32), REST])
    )
    hit = talk.hits()[NOTES]

    # Then the nearest statements are hits of their own text, the nearest with the id of the message
    by_id = {one.node.id: one for one in hit.passages}
    near, second = by_id["user 0"], by_id["user 0#2"]
    assert list(by_id) == ["user 0#0", "user 0", "user 0#2", "user 0#3"]
    assert near.node.text == "we play six shows of it, all sold out by now"
    assert {one.whole for one in hit.passages} == {"user 0"}
    assert (near.why["likeness"], second.why["likeness"]) == (1.0, pytest.approx(0.6))
    assert near.alike["user 0#2"] == second.alike["user 0"] == pytest.approx(0.6)

    # And one that does not say what it is about has the statement before it
    assert second.refers_to.text == near.node.text
    assert near.refers_to is None


def test_of_many_statements_the_best_are_kept_and_the_nearest_of_each_message() -> None:
    # Given a list of thirty items that are near the question, each a little less, and one that is far from it
    items = "\n".join(f"- the show number {number} is in hall {number}" for number in range(30))
    rows = [(1.0 - number / 100, number / 100) for number in range(30)]
    talk = Talk(("user", items), ("user", NOTES))
    talk.turns["user 0"] = talk.turns["user 0"]._replace(parts=np.array(rows, dtype=np.float32))
    talk.turns["user 1"] = talk.turns["user 1"]._replace(parts=np.stack([REST, REST, REST, REST]))
    hits = talk.hits()

    # When they are returned / Then the near ones of all are kept, and one of the far message
    assert [one.why["likeness"] for one in hits[items].passages] == pytest.approx([1.0 - n / 100 for n in range(8)])
    assert len(hits[NOTES].passages) == 1


def test_statements_that_another_version_divided_otherwise_are_not_read() -> None:
    talk = Talk(("user", NOTES), ("user", "Good night to all."))
    talk.turns["user 0"] = talk.turns["user 0"]._replace(parts=np.stack([REST, ASKED]))
    assert talk.hits()[NOTES].passages == ()


def test_an_offer_of_help_is_no_question_that_a_message_answers() -> None:
    offer = "How can I help you today?"
    assert Talk(("assistant", offer), ("user", "Six.")).hits()["Six."].answers is None


def test_a_short_answer_is_as_alike_as_the_question_that_it_answers() -> None:
    # Given an answer that is like nothing / Then it is as like another message as its question is, in both directions
    question, later = "How many shows do you play?", "Is it eight shows now?"
    hits = Talk(("assistant", question), ("user", "Six."), ("user", "We sail."), ("user", later)).hits()
    assert hits["Six."].alike[hits[later].node.id] == hits[later].alike[hits["Six."].node.id] == 1.0
    assert question not in hits or hits[question].node.id not in hits["We sail."].alike
