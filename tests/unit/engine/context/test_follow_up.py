"""Which block answers a message that leans on those before it: of its full form or of itself."""

from datetime import timedelta

import pytest

from biem.domain.node import Hit, Hits, Node
from biem.domain.scope import Scope
from biem.domain.speech.follow_up.dialogue import Meant
from biem.engine.context.block import Context
from biem.engine.context.follow_up import answer
from tests.support.fakes import START


def hit(name: str, days: int = 0) -> Hit:
    at = START + timedelta(days=days)
    node = Node(
        id=name, scope=Scope(), text=name, kind="event", status="active", layer="short_term", at=at, created_at=at,
    )  # fmt: skip
    return Hit(node, 1.0, {})


class Blocks:
    """Blocks by question; remembers what was asked."""

    def __init__(self, answers: dict[str, tuple[list[Hit], float]], found: list[Hit]) -> None:
        self.answers, self.found = answers, found
        self.asked: list[str] = []

    def __call__(self, question: str) -> tuple[Context, Hits]:
        self.asked.append(question)
        shown, sure = self.answers.get(question, ([], 0.2))
        return Context(question if shown else "", tuple(shown), confidence=sure), Hits([*shown, *self.found])


def test_what_a_person_is_asked_for_is_asked_once_and_the_reader_sees_how() -> None:
    blocks = Blocks({"Where does Ida live?": ([hit("a")], 0.9)}, [])
    block, _ = answer(blocks, "Where does she live?", Meant("Where does Ida live?"))
    assert (block.text, block.asked) == ("Where does Ida live?", "Where does Ida live?")
    assert len(blocks.asked) == 1


def test_a_message_that_stands_on_its_own_is_asked_once_as_it_is() -> None:
    blocks = Blocks({"Where?": ([hit("a")], 0.9)}, [])
    block, _ = answer(blocks, "Where?", Meant("Where?"))
    assert (block.text, block.asked, blocks.asked) == ("Where?", "", ["Where?"])


ADDED = Meant("How much, the hotel?", "the hotel", sure=False)


@pytest.mark.parametrize(
    ("full", "itself", "shown"),
    [
        (([hit("full")], 0.9), ([hit("itself")], 0.7), "full"),
        (([hit("full")], 0.75), ([hit("itself")], 0.7), "itself"),
        (([hit("full")], 0.3), ([], 0.9), "full"),
        (([], 0.9), ([hit("itself")], 0.3), "itself"),
    ],
)
def test_the_message_itself_is_answered_unless_the_thing_makes_it_surer(
    full: tuple[list[Hit], float], itself: tuple[list[Hit], float], shown: str
) -> None:
    blocks = Blocks({ADDED.text: full, "How much?": itself}, [])
    block, _ = answer(blocks, "How much?", ADDED)
    assert [one.node.id for one in block.hits] == [shown]
    assert block.asked == (ADDED.text if shown == "full" else "")


def test_where_nothing_is_found_the_reader_sees_the_full_question() -> None:
    block, _ = answer(Blocks({}, [hit("h")]), "How much?", ADDED)
    assert (block.text, block.asked) == ("", ADDED.text)


PART = Meant("Who sings, my band?", sure=False, stands=True)


@pytest.mark.parametrize(
    ("itself", "found", "shown", "searches"),
    [
        (([hit("itself")], 0.6), [], ["itself"], 1),
        (([], 0.2), [hit("singer")], ["band", "singer"], 2),
        (([], 0.2), [hit(name) for name in ("a", "b", "c", "d", "e", "singer")], [], 2),
    ],
)
def test_a_question_for_a_part_is_asked_in_full_where_it_finds_too_little_itself(
    itself: tuple[list[Hit], float], found: list[Hit], shown: list[str], searches: int
) -> None:
    # Given blocks for a question with the whole, and for the part alone / When the part is asked for
    blocks = Blocks({PART.text: ([hit("band"), hit("singer")], 0.8), "Who sings?": itself}, found)
    block, _ = answer(blocks, "Who sings?", PART)
    # Then the block with the whole is shown where that for the part is empty and its nearest hits have a line of it
    assert [one.node.id for one in block.hits] == shown
    assert len(blocks.asked) == searches
    assert block.asked == (PART.text if len(shown) > 1 else "")


@pytest.mark.parametrize(("days", "shown"), [(3, "moved"), (-3, "former")])
def test_a_thing_does_not_lead_past_a_newer_line_that_both_find(days: int, shown: str) -> None:
    # Given a question with its thing that shows a former value, and the message itself that shows another line above
    former, moved = hit("former"), hit("moved", days)
    blocks = Blocks({ADDED.text: ([former], 0.9), "How much?": ([moved, former], 0.7)}, [])

    def ask(question: str) -> tuple[Context, Hits]:
        return blocks(question)[0], Hits([moved, former])

    # When it is asked / Then the newer line is shown
    block, _ = answer(ask, "How much?", ADDED)
    assert block.hits[0].node.id == shown


@pytest.mark.parametrize(("nearest", "shown"), [("family", ["family"]), ("other", [])])
def test_a_memory_that_was_told_with_the_pronoun_answers_where_the_name_finds_nothing(
    nearest: str, shown: list[str]
) -> None:
    # Given a question with a name, whose block is empty, and a block for the message with the pronoun
    blocks = Blocks({"Where's his family?": ([hit("family")], 0.9)}, [hit(nearest)])
    # When it is asked / Then that block is shown if the name finds its first line, too
    block, _ = answer(blocks, "Where's his family?", Meant("Where's Femi's family?", pronoun=True))
    assert [one.node.id for one in block.hits] == shown
    assert block.asked == ("" if shown else "Where's Femi's family?")
