"""Conflicts: what is said of a decision."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from biem.cli.output import to_json
from biem.client.wire import decoded, encoded
from biem.domain.conflict import Conflict

FOUND = Conflict(
    id="c",
    kind="update",
    older_id="a",
    newer_id="b",
    older_text="My mother lives in Ghent",
    newer_text="My mother moved to Bruges",
    confidence=0.9,
    rule="renewed",
    subject="me.mother: home",
    created_at=datetime(2026, 3, 1, tzinfo=UTC),
)


def test_a_decision_is_explained_with_whose_attribute_changed_and_who_decided() -> None:
    # Given an update that a rule decided / Then its explanation tells whom it is about, the rule, and the outcome
    decided = replace(FOUND, status="resolved", resolution="keep_new", decided_by="rule")
    assert decided.explanation == (
        "The newer one changes what the older one says about your mother (home) (rule: renewed, 90 % sure). "
        "Both are the speaker's own words about the same thing. Decided by the rule: the newer one holds."
    )
    assert FOUND.explanation.endswith("Nothing is decided: prompts show both, with their times.")


def test_a_decision_about_chinese_texts_is_explained_in_chinese() -> None:
    told = replace(FOUND, newer_text="我妈搬到布鲁日了", subject="me.妈妈: 家", status="ignored", decided_by="user")
    assert told.explanation == (
        "新的一条关于你的妈妈 (家)改变了旧的一条所说的（规则：renewed，把握 90%）。由用户决定：不算冲突。"
    )


def test_a_conflict_without_a_subject_is_explained_too() -> None:
    assert replace(FOUND, kind="contradiction", subject="").explanation.startswith("These two cannot both hold (rule:")


@pytest.mark.parametrize(
    ("subject", "newer", "about"),
    [
        ("me.mother: home", "我妈妈搬到青岛了", "关于你的妈妈 (住处)改变"),
        ("i 妈妈: home", "我妈妈搬到青岛了", "关于你的妈妈 (住处)改变"),
        ("i: employer", "I left Otto", " about you (employer) ("),
        ("me.妈妈: home", "My mother moved to Ghent", " about your mother (home) ("),
        ("jana: phone", "Jana has a new number", " about jana (phone) ("),
        ("kennel puppies", "Two puppies are left in the kennel", " about kennel puppies ("),
        ("me", "I moved", " about you ("),
    ],
)
def test_a_subject_is_named_in_the_language_of_the_explanation(subject: str, newer: str, about: str) -> None:
    # Given a subject in the words of the rules / Then relatives, attributes and the speaker are named for a reader
    assert about in replace(FOUND, subject=subject, newer_text=newer).explanation


def test_only_what_a_rule_decided_claims_the_speakers_own_words() -> None:
    # Given a decision of a person, and one of a rule in Chinese / Then only the latter gives the ground of a rule
    decided = replace(FOUND, status="resolved", resolution="keep_new", decided_by="user")
    assert "own words" not in decided.explanation
    told = replace(decided, newer_text="我妈搬到布鲁日了", decided_by="rule")
    assert "两条都是说话人自己说的，说的是同一件事。由规则决定：以新的为准。" in told.explanation


@pytest.mark.parametrize(
    ("subject", "newer", "parts"),
    [
        ("me.mother: home", "My mother moved to Bruges", ("your mother", "", "home")),
        ("me.wedding day: date", "我的纪念日是9月9日", ("你的wedding day", "", "date")),
        ("me: birthday", "我的生日其实是九月三日", ("你", "", "birthday")),
        ("me: milk lorri come", "The milk lorries come at 5:45, the lorry is new", ("you", "milk lorry come", "")),
        ("me: hous", "Nothing of it is said", ("you", "hous", "")),
        ("me: train graz", "The train to Graz leaves at nine now", ("you", "train graz", "")),
        ("kennel puppies", "Two puppies are left in the kennel", ("", "kennel puppies", "")),
        ("", "No, that is wrong", ("", "", "")),
    ],
)
def test_a_record_names_possessor_and_entity_or_attribute(subject: str, newer: str, parts: tuple[str, ...]) -> None:
    found = replace(FOUND, subject=subject, newer_text=newer, attribute="")
    assert (found.possessor, found.entity, found.attribute) == parts


def test_the_attribute_of_the_rule_is_kept() -> None:
    assert replace(FOUND, attribute="called", subject="jana: name").attribute == "called"


def test_what_is_derived_follows_the_decision() -> None:
    # Given a decision of a rule / When it is taken back / Then the record no longer says that a rule decided
    decided = replace(FOUND, status="resolved", resolution="keep_new", decided_by="rule")
    assert (decided.standing, replace(decided, explanation="other").explanation) == ("own_words", decided.explanation)
    undone = replace(decided, status="pending", resolution=None, decided_by=None)
    assert (undone.standing, undone.explanation) == ("open", FOUND.explanation)


def test_a_record_over_http_and_in_json_has_what_the_listing_for_people_says() -> None:
    over_http = json.loads(encoded(list[Conflict], [FOUND]))[0]
    printed = json.loads(to_json({"conflicts": [FOUND]}))["conflicts"][0]
    for record in (over_http, printed):
        assert record["explanation"] == FOUND.explanation
        assert (record["possessor"], record["attribute"], record["standing"]) == ("your mother", "home", "open")
    assert decoded(list[Conflict], encoded(list[Conflict], [FOUND])) == [FOUND]
