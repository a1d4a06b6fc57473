"""Conflicts: what is said of a decision."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

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
