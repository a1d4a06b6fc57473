"""Whose matter a text says that it is."""

import pytest

from biem.engine.context.persons import asked_of_speaker, names_owner, states_own, without_receivers


@pytest.mark.parametrize(
    ("text", "told", "owned"),
    [
        ("The doctor saw her today and changed the tablets.", {"doctor"}, False),
        ("Irma moved it to Friday, I told her that suits me.", {"irma"}, False),
        ("Irma's lesson is on Friday.", {"irma"}, True),
        ("My sister moved to Linz.", {"me.sister"}, True),
        ("My boss moved the review.", {"me.boss"}, False),
        ("I moved it.", {"me"}, False),
        ("The twins' room was painted.", {"twins"}, True),
        ("The tulips are at 2 euros since Valentine's.", {"valentine"}, False),
        ("We sing at Irma's, it is warmer.", {"irma"}, False),
        ("The red bike is Irma's.", {"irma"}, True),
    ],
)
def test_the_owner_is_a_relative_or_said_by_a_possessive(text: str, told: set[str], owned: bool) -> None:
    assert names_owner(text, frozenset(told), frozenset()) == owned


@pytest.mark.parametrize(
    ("text", "told", "own"),
    [
        ("Enzo has desk 9 now.", {"enzo"}, True),
        ("Enzo said he isn't on desk 9 any more.", {"enzo"}, True),
        ("Enzo told me that he has switched to desk 9.", {"enzo"}, True),
        ("Enzo has moved the desk.", {"enzo"}, False),
        ("Enzo gave me desk 9.", {"enzo"}, False),
        ("Enzo is away, so I have desk 9 now.", {"enzo"}, False),
        ("小梅说她不吃辣了。", {"小梅"}, True),
        ("小梅把会改到周三了。", {"小梅"}, False),
        ("小梅搬走了，我住她那间。", {"小梅"}, False),
    ],
)
def test_who_tells_of_himself_or_acts_for_the_user(text: str, told: set[str], own: bool) -> None:
    assert states_own(text, frozenset(told)) == own


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("Irma has the car on Monday, so the trip is on Tuesday.", False),
        ("Since Irma has the car on Monday, the trip is on Tuesday.", False),
        ("The trip is on Tuesday because Irma has the car on Monday.", False),
        ("Irma has a cold, so she is at home.", True),
        ("Irma has the car on Monday.", True),
    ],
)
def test_a_reason_tells_nothing_of_its_own(text: str, own: bool) -> None:
    assert states_own(text, frozenset({"irma"})) == own


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Sold the bike to my cousin, I walk now.", "Sold the bike, I walk now."),
        ("Irma handed Doyle to Ben and gave me the rest.", "Irma handed Doyle and gave me the rest."),
        ("自行车送给侄女了。", "自行车送了。"),
        ("旧帐篷送给小唐的女儿了。", "旧帐篷送了。"),
        ("付完给岳父母的，余额还有三千。", "付完，余额还有三千。"),
        ("They gave it to me.", "They gave it to me."),
        ("他送给我一辆车。", "他送给我一辆车。"),
        ("My cousin moved to Linz.", "My cousin moved to Linz."),
    ],
)
def test_who_is_given_something_is_left_out(text: str, left: str) -> None:
    assert without_receivers(text) == left


@pytest.mark.parametrize(
    ("asked", "read"),
    [
        ("Where does Ann live?", "Where do I live?"),
        ("Where does Ann Lee live?", "Where do I live?"),
        ("Where does the user live?", "Where do I live?"),
        ("Is Ann my sister?", "Is Ann my sister?"),
        ("When is the Annual Fair?", "When is the Annual Fair?"),
    ],
)
def test_a_question_about_the_only_speaker_or_the_user_is_read_as_his(asked: str, read: str) -> None:
    assert asked_of_speaker(asked, "Ann Lee") == read
