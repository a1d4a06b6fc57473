"""Whose memory it is."""

import pickle
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.domain.scope import MAX_NAME_CHARS, Scope
from biem.errors import InvalidInput

names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20).filter(
    str.strip
)
scopes = st.builds(Scope, names, names, st.one_of(st.just(""), names))


@pytest.mark.req("X39", "D13", partly="names become hashes")
@given(scope=scopes)
def test_what_reaches_a_store_is_a_hash_for_any_names(scope: Scope) -> None:
    # Given any names / When they become a key / Then it has 32 hexadecimal digits
    assert len(scope.ns) == 32
    assert set(scope.ns) <= set("0123456789abcdef")


@pytest.mark.req("C24", partly="scopes never share a key")
@given(first=scopes, second=scopes)
def test_different_scopes_have_different_keys(first: Scope, second: Scope) -> None:
    # Given two scopes / When both become keys / Then they are equal exactly when the scopes are
    assert (first.ns == second.ns) == (first == second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Scope("a", "b", "c"), Scope("a", "b/c")),
        (Scope("a/b", "c"), Scope("a", "b/c")),
        (Scope("ab", "c"), Scope("a", "bc")),
        (Scope("a", "b"), Scope("A", "b")),
        (Scope("a", "b"), Scope("a", "b ")),
        (Scope("a", "b"), Scope("b", "a")),
    ],
)
def test_names_that_look_alike_when_joined_are_different_scopes(first: Scope, second: Scope) -> None:
    # Given names whose parts could be mixed up / When they become keys / Then they differ
    assert first.ns != second.ns


@pytest.mark.req("X9", partly="scopes")
def test_a_key_is_the_same_in_every_process_and_after_pickling() -> None:
    # Given another process
    code = "from biem.domain.scope import Scope; print(Scope('t', 'u', '项目').ns)"

    # When both make a key
    theirs = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONHASHSEED": "7"}, capture_output=True, text=True, check=True
    )

    # Then they agree
    scope = Scope("t", "u", "项目")
    assert theirs.stdout.strip() == scope.ns == pickle.loads(pickle.dumps(scope)).ns


@pytest.mark.req("C24", partly="what a scope may read")
def test_a_project_reads_its_own_and_its_users_memories_and_a_user_only_his_own() -> None:
    # Given a project and its user
    project, user = Scope("t", "u", "p"), Scope("t", "u")

    # When each is asked what it reads / Then the user's level is shared downwards only
    assert project.readable == (project, user)
    assert user.readable == (user,)
    assert Scope("other", "u", "p").readable[1] != user


@pytest.mark.parametrize(
    "arguments",
    [
        {"tenant": ""},
        {"user": " \t"},
        {"user": "a\0b"},
        {"project": "\ud800"},
        {"user": "x" * (MAX_NAME_CHARS + 1)},
        {"tenant": None},
        {"user": 7},
        {"project": b"p"},
    ],
)
def test_names_that_cannot_be_kept_are_refused_by_part(arguments: dict[str, str]) -> None:
    # Given such a name / When a scope is made / Then the message says which part
    [part] = arguments
    with pytest.raises(InvalidInput, match=part):
        Scope(**arguments)


def test_the_longest_names_and_an_empty_project_are_accepted() -> None:
    # Given names at their limit / When a scope is made / Then it is
    longest = "爱" * MAX_NAME_CHARS
    assert Scope(longest, longest, longest).ns != Scope(longest, longest, "").ns


def test_a_scope_is_shown_by_its_names() -> None:
    # Given scopes / When they are shown / Then empty parts are left out
    assert str(Scope("t", "u", "p")) == "t/u/p"
    assert str(Scope()) == "default/default"


def test_a_name_has_256_characters_at_most() -> None:
    assert Scope(user="u" * 256).user == "u" * 256
    with pytest.raises(InvalidInput, match="256"):
        Scope(user="u" * 257)
