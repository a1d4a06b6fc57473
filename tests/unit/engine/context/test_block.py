"""The block an agent's model reads."""

import dataclasses
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.config import Settings
from biem.domain.designs.numbers import NUMBERS
from biem.domain.node import Hit, Node, new_id
from biem.domain.policies.context import ContextPolicy
from biem.domain.scope import Scope
from biem.domain.tokens import estimate_tokens
from biem.engine.context.block import BlockReader, Context, render
from tests.support.fakes import START

POLICY = ContextPolicy()
PLENTY = 100_000

anything = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)


def hit(text: str, energy: float = 0.5, **values: Any) -> Hit:
    node = Node(
        id=new_id(),
        scope=Scope(),
        text=text,
        kind="event",
        status="active",
        layer="short_term",
        created_at=START,
        energy=energy,
        **{"at": START, **values},
    )
    return Hit(node, 1.0, {})


def block(*hits: Hit, budget: int = PLENTY, **policy: Any) -> Context:
    return render(hits, dataclasses.replace(POLICY, **policy), budget)


@pytest.mark.req("B56", "B57", partly="in the profile biem; the default block says who spoke and quotes the text")
def test_the_block_of_the_profile_biem_is_the_one_of_the_design() -> None:
    # Given memories with and without speaker and entities, and a long one, and the numbers of the profile
    numbers = {one.setting.removeprefix("context."): one.value for one in NUMBERS["biem"] if "context." in one.setting}
    hits = (
        hit("I am allergic to peanuts", 0.854, speaker="Li Ming", entities=("Li Ming", "peanuts")),
        hit("他喜欢北京", 0.5),
        hit("word " * 100, 0.12),
    )

    # When they are shown
    shown = block(*hits, **numbers)

    # Then it reads like this
    assert shown.text == (
        "## Relevant Memories\n"
        "\n"
        "1. [● E=0.85] I am allergic to peanuts\n"
        "   Entities: Li Ming, peanuts\n"
        "2. [○ E=0.50] 他喜欢北京\n"
        "3. [◌ E=0.12] " + ("word " * 40)[:197].rstrip() + "..."
    )
    assert shown.hits == hits
    assert str(shown) == shown.text


def test_a_line_of_the_block_has_its_speaker_its_date_and_its_text_in_quotation_marks() -> None:
    # Given a message of a person, of a user and of an assistant without a name, and a fact
    hits = (
        hit("I am allergic to peanuts", speaker="Li Ming", entities=("Li Ming", "Hospital 6")),
        hit("我住在北京", source="user"),
        hit('You said: "Oslo"', source="assistant"),
        hit("the sky is blue"),
    )
    # When they are shown, with and without marks / Then each line says whose words it tells, and since when
    assert block(*hits).text == (
        "## Relevant Memories\n"
        "\n"
        '1. Li Ming, 2026-05-04: "I am allergic to peanuts"\n'
        "   Entities: Hospital 6\n"
        '2. you, 2026-05-04: "我住在北京"\n'
        "3. assistant, 2026-05-04: \"You said: 'Oslo'\"\n"
        '4. unknown, 2026-05-04: "the sky is blue"'
    )
    assert block(hits[3], marks=True).text.endswith('1. [○ E=0.50] unknown, 2026-05-04: "the sky is blue"')


@pytest.mark.req("B52", partly="nothing to tell")
def test_nothing_to_tell_gives_an_empty_block() -> None:
    # Given no hits, or no room / When they are shown / Then there is no heading either
    assert block().text == ""
    one = hit("something")
    assert block(one, budget=0) == Context("", (), left_out=1, omitted={one.node.id: "budget"})
    assert render((), POLICY, PLENTY, ("milvus",)).degraded == ("milvus",)


@pytest.mark.req("B52", "B56", partly="defaults: five memories, 200 characters, five entities")
def test_the_designs_numbers_are_the_defaults() -> None:
    # Given the default policy / When it is read / Then it has the design's numbers
    assert (POLICY.top_k, POLICY.item_chars, POLICY.entities) == (5, 200, 5)


@pytest.mark.req("B57", partly="in the block")
@pytest.mark.parametrize(("energy", "start"), [(0.71, "1. [● E=0.71]"), (0.7, "1. [○ E=0.70]"), (0.3, "1. [◌ E=0.30]")])
def test_each_item_shows_its_energy_where_marks_are_wanted(energy: float, start: str) -> None:
    # Given an energy / When it is shown / Then its sign and number are there
    assert block(hit("x", energy), marks=True).text.splitlines()[2].startswith(start)


@pytest.mark.req("B56", partly="lengths")
def test_long_texts_and_many_entities_are_cut() -> None:
    # Given too much of both / When it is shown
    lines = block(hit("爱" * 500, entities=tuple(f"name{n}" for n in range(9)))).text.splitlines()

    # Then 200 characters and five entities are left
    assert lines[2] == f'1. unknown, 2026-05-04: "{"爱" * 197}..."'
    assert lines[3] == "   Entities: name0, name1, name2, name3, name4"


def test_entities_that_the_item_says_already_are_not_paid_for_twice() -> None:
    # Given entities of which the text and the speaker say two / When it is shown / Then the others are listed
    said = hit("I am allergic to Peanuts", speaker="Li Ming", entities=("Li Ming", "peanuts", "Hospital 6"))
    assert block(said).text.splitlines()[3:] == ["   Entities: Hospital 6"]
    assert len(block(hit("I like tea", entities=("tea",))).text.splitlines()) == 3


def test_the_same_text_is_shown_once() -> None:
    # Given a text twice, once with other white space / When they are shown / Then the first is
    first = hit("tea at five")
    assert block(first, hit("tea  at\nfive"), hit("coffee")).hits[0] is first
    assert len(block(first, hit("tea  at\nfive"), hit("coffee")).hits) == 2


def test_whole_items_only_and_smaller_ones_after_a_great_one_still_fit() -> None:
    # Given a great memory between two small ones, and room for the small ones only
    small, great, last = hit("tea"), hit("word " * 40), hit("coffee")

    # When they are shown in little room / Then the numbers have no gap
    shown = block(small, great, last, budget=42)
    assert shown.hits == (small, last)
    assert [line[:2] for line in shown.text.splitlines()[2:]] == ["1.", "2."]


@given(texts=st.lists(anything, max_size=8), budget=st.integers(0, 200))
def test_the_block_never_takes_more_than_its_budget(texts: list[str], budget: int) -> None:
    # Given any memories / When they are shown in a budget / Then the whole block is within it
    assert estimate_tokens(block(*map(hit, texts), budget=budget).text) <= budget


def test_tokens_are_guessed_per_character_in_chinese_and_per_four_in_english() -> None:
    # Given texts of both languages / When their tokens are guessed / Then the guess is careful
    assert estimate_tokens("") == 0
    assert estimate_tokens("北京") == 2
    assert estimate_tokens("abcd") == 1
    assert estimate_tokens("abcde") == 2
    assert estimate_tokens("北京 ok") == 3


def test_what_holds_no_more_says_until_when_it_held() -> None:
    # Given a message that was contradicted later, and one that was not
    ended = hit("I live in Beijing", valid_to=datetime(2026, 5, 2, tzinfo=UTC))
    ended = dataclasses.replace(ended, why={"held_until": "2026-05-02T00:00:00+00:00"})

    # When the block is rendered / Then the reader can tell them apart
    text = block(hit("I moved to Shanghai"), ended).text
    assert 'I live in Beijing" (until 2026-05-02)' in text
    assert 'Shanghai" (until' not in text


def test_a_chinese_line_is_marked_in_chinese() -> None:
    why = {"held_until": "2026-05-02T00:00:00+00:00"}
    ended = hit("我住在北京", valid_to=datetime(2026, 5, 2, tzinfo=UTC), reason="公司在那儿")

    assert '"我住在北京" (理由："公司在那儿") (有效至 2026-05-02)' in block(dataclasses.replace(ended, why=why)).text


def test_what_is_disputed_says_since_when_and_in_which_words() -> None:
    disputes = {"disputed_by": "x", "disputed_since": "2026-05-02"}
    whole = dataclasses.replace(hit("The pool opens at 8"), why=disputes)
    part = dataclasses.replace(hit("琴房在三楼，周一调音"), why={**disputes, "disputed_claim": "琴房在三楼"})

    text = block(whole, part).text
    assert 'at 8" (disputed since 2026-05-02)' in text
    assert '(2026-05-02 起有争议："琴房在三楼")' in text


# -- picking and ordering ----------------------------------------------------------------------------------------------


def scored(text: str, score: float, days: int = 0, **values: Any) -> Hit:
    return dataclasses.replace(hit(text, at=START + timedelta(days=days), **values), score=score)


def shown(context: Context) -> list[str]:
    return [one.node.text for one in context.hits]


@pytest.mark.req("C31", partly="ordered for reading")
def test_what_is_picked_is_shown_best_first_or_in_the_order_it_happened() -> None:
    # Given hits whose best is the newest / When two of them have room / Then the best two are shown, in either order
    hits = (scored("c newest", 0.9, 3), scored("a oldest", 0.8, 1), scored("b between", 0.7, 2))
    room = estimate_tokens(block(*hits[:2]).text) + 3
    assert shown(block(*hits, budget=room)) == ["c newest", "a oldest"]
    assert shown(block(*hits)) == ["c newest", "a oldest", "b between"]
    assert shown(block(*hits, order="time")) == ["a oldest", "b between", "c newest"]
    assert [line[:2] for line in block(*hits, order="time").text.splitlines()[2:]] == ["1.", "2.", "3."]


@pytest.mark.req("C31", partly="no near-duplicates")
def test_what_nearly_repeats_a_better_one_is_not_shown_and_other_numbers_are_no_repetition() -> None:
    # Given texts that differ in a little word, in a number, and in nothing but case and order
    story = "we met Ann and Bob at the old harbour in Lisbon for a long dinner with fish and wine last summer"
    hits = (
        scored(story + " 5", 0.9),
        scored(story.replace("last", "this") + " 5", 0.8),
        scored(story + " 7", 0.7),
        scored("we slept", 0.7),
    )
    # When they are shown / Then only the little word is a repetition
    reader = BlockReader(terms_of=lambda text: text.lower().split())
    assert shown(render(hits, POLICY, PLENTY, (), reader)) == [hits[0].node.text, hits[2].node.text, "we slept"]
    strict = dataclasses.replace(POLICY, repeat_from=1.0)
    assert len(render(hits, strict, PLENTY, (), reader).hits) == 4


def test_no_more_are_shown_than_are_wanted() -> None:
    hits = [scored(text, 0.9) for text in ("one", "two", "three")]
    assert shown(render(hits, POLICY, PLENTY, most=2)) == ["one", "two"]


def test_a_long_text_shows_what_the_question_is_about() -> None:
    # Given a long message whose end answers / When it is shown for a question / Then the end is there
    text = "I had a long day at work today. " * 12 + "My sister Eva moved to Oslo."
    reader = BlockReader({"eva", "oslo"}, lambda said: said.lower().replace(".", "").split())
    line = render([hit(text)], POLICY, PLENTY, (), reader).text.splitlines()[2]
    assert "Eva moved to Oslo." in line
    assert len(line) < 250
    assert "Eva" not in block(hit(text)).text


@pytest.mark.parametrize(
    "wrong",
    [
        {"order": "alphabet"},
        {"layout": "xml"},
        {"drop": -1.0},
        {"repeat_from": 0.0},
        {"top_k": 0},
        {"item_chars": 0},
        {"recent": -1},
    ],
)
def test_numbers_that_mean_nothing_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="context"):
        Settings(context=ContextPolicy(**wrong))


def test_each_hit_that_is_not_shown_has_the_reason() -> None:
    # Given a hit, one that repeats it, one that does not fit, one that does, and one more than there are places
    first, again, long = hit("Ann paints barns"), hit("Ann paints barns"), hit("word " * 60)
    second, third = hit("Bo rows"), hit("Cid sings")

    # When two may be shown within the budget
    shown = render([first, again, long, second, third], POLICY, 60, most=2)

    # Then the others have their reasons, and only what did not fit counts as left out
    assert shown.hits == (first, second)
    assert shown.omitted == {again.node.id: "repeats", long.node.id: "budget", third.node.id: "places"}
    assert shown.left_out == 1
