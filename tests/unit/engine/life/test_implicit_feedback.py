"""Which injected memories a reply used: named by what only they have, never guessed."""

from datetime import UTC, datetime

import pytest

from biem.domain.fields import Fields
from biem.domain.node import Hit, Node
from biem.domain.scope import Scope
from biem.engine.life.implicit_feedback import echoed

AT = datetime(2026, 3, 2, 9, tzinfo=UTC)


def hit(key: str, *entities: str, speaker: str = "", numbers: tuple[str, ...] = ()) -> Hit:
    node = Node(
        id=key,
        scope=Scope(),
        text=key,
        kind="event",
        status="active",
        layer="short_term",
        at=AT,
        created_at=AT,
        speaker=speaker,
        entities=entities,
        fields=Fields(numbers=numbers),
    )
    return Hit(node, 1.0, {})


HOTEL = hit("hotel", "Hotel Avenida", "林晓", speaker="林晓")
FERRY = hit("ferry", "Barreiro", numbers=("7:40",))
DINNER = hit("dinner", "Barreiro", "Priya")


@pytest.mark.parametrize(
    ("question", "reply", "used"),
    [
        ("Where does she stay?", "At the Hotel Avenida, I think.", ["hotel"]),
        ("When does it leave?", "It leaves at 7:40.", ["ferry"]),
        ("Where does she stay?", "她住在hotel avenida。", ["hotel"]),
        ("When and where?", "At 7:40; ask at Hotel Avenida.", ["hotel", "ferry"]),
        ("Is Hotel Avenida nice?", "Hotel Avenida is lovely.", []),
        ("Where shall we go?", "To Barreiro!", []),
        ("Who are you?", "I am no 林晓.", []),
        ("When?", "In 2027:40 days.", []),
        ("And Priya?", "No idea.", []),
        ("", "", []),
    ],
    ids=["name", "number", "Chinese around it", "two", "asked", "shared", "speaker", "inside", "unsaid", "empty"],
)
def test_a_memory_was_used_when_the_reply_says_what_only_it_has(question: str, reply: str, used: list[str]) -> None:
    # Given three injected memories / When the reply comes / Then those it echoes are named, and no other
    assert echoed((HOTEL, FERRY, DINNER), question, reply) == used


def test_a_single_character_and_a_memory_without_anchors_prove_nothing() -> None:
    # Given a memory that pins down a digit, and one that was not indexed yet
    # When a reply says that digit / Then no one is praised for it
    assert echoed((hit("digit", numbers=("7",)), hit("bare")), "How many?", "7, bare") == []
