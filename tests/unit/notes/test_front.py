"""Front matter: four fields are read, broken YAML is reported, nothing grows."""

from datetime import UTC, datetime

import pytest

from biem.domain.note import FrontMatter
from biem.notes.dates import date_of
from biem.notes.front import Front, split


def fields(yaml: str) -> FrontMatter:
    found = split(f"---\n{yaml}\n---\nbody\n")
    assert not found.problem
    return found.fields


def test_four_fields_are_read_and_all_else_is_left() -> None:
    yaml = "title: Green  tea\ntags: [tea, '#drinks/hot']\naliases:\n  - 绿茶\ndate: 2024-05-02\nother: {a: 1}"
    text = f"---\n{yaml}\n---\nbody"
    found = split(text)
    assert found.fields == FrontMatter("Green tea", ("tea", "drinks/hot"), ("绿茶",), "2024-05-02")
    assert text[found.end :] == "body"


@pytest.mark.parametrize(
    ("yaml", "tags"),
    [
        ("tags: tea, green", ("tea", "green")),
        ("tags: tea green", ("tea", "green")),
        ("Tags:\n- tea\n- [no]\n- tea", ("tea",)),
        ("tag: no", ("no",)),
        ("tags:", ()),
        ("tags: {a: b}", ()),
        ("tags: [2024, 1.10]", ("2024", "1.10")),
    ],
)
def test_tags_are_taken_in_every_form(yaml: str, tags: tuple[str, ...]) -> None:
    assert fields(yaml).tags == tags


def test_values_stay_as_they_are_written() -> None:
    assert fields("title: 2024").title == "2024"
    assert fields("created: 2024-99-99").date == "2024-99-99"
    assert fields("alias: one, two words").aliases == ("one", "two words")


@pytest.mark.parametrize(
    "text",
    [
        "# a\n---\nb: c\n---\n",
        "---\n\nprose\n\n---\nmore\n",
        "---\na: b\n",
        " ---\na: b\n---\n",
        "---\n- a\n---\n",
        "----\n",
    ],
)
def test_what_only_looks_like_front_matter_is_body(text: str) -> None:
    assert split(text) == Front()


def test_empty_front_matter_is_no_body() -> None:
    assert split("---\n---\nbody") == Front(end=8)
    assert split("---\na: b\n...\nbody").end == 13


@pytest.mark.parametrize(
    ("yaml", "line", "words"),
    [
        ("title: [a", 3, "expected ',' or ']'"),
        ("a: b\nb: c: d", 3, "mapping values are not allowed"),
        ("a: &x b\nb: *x", 3, "aliases"),
        ("a: " + "[" * 40 + "]" * 40, 2, "deep"),
        ("a: \x07", 1, "not allowed"),
    ],
)
def test_broken_yaml_is_left_out_and_says_where(yaml: str, line: int, words: str) -> None:
    found = split(f"---\n{yaml}\n---\nbody\n")
    assert (found.fields, found.line) == (FrontMatter(), line)
    assert words in found.problem
    assert f"---\n{yaml}\n---\nbody\n"[found.end :] == "body\n"


def test_a_bomb_of_aliases_is_refused() -> None:
    lines = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 40)]
    assert "aliases" in split("---\n" + "\n".join(lines) + "\n---\n").problem


def test_more_than_64_kib_is_no_front_matter() -> None:
    assert split("---\na: " + "x" * (64 << 10) + "\n---\n") == Front()


HUGO = """+++
# made by a generator
title = "Green  tea"
date = 2024-05-02T10:00:00+08:00
tags = ["tea", "绿茶", 2024]
draft = false
[params]
title = "another"
+++
body
"""


def test_toml_between_plus_signs_is_read_as_yaml_is() -> None:
    found = split(HUGO)
    assert found.fields == FrontMatter("Green tea", ("tea", "绿茶", "2024"), (), "2024-05-02 10:00:00+08:00")
    assert HUGO[found.end :] == "body\n"
    assert date_of(found.fields.date) == datetime(2024, 5, 2, 2, tzinfo=UTC)
    assert split("+++\n+++\nbody") == Front(end=8)


@pytest.mark.parametrize(
    "text", ["+++\n\nprose\n\n+++\nmore\n", "+++\na = 1\n", " +++\na = 1\n+++\n", "+++\na: 1\n---\n"]
)
def test_what_only_looks_like_toml_is_body(text: str) -> None:
    assert split(text) == Front()


@pytest.mark.parametrize(
    ("toml", "line", "words"),
    [
        ("title = green", 2, "Invalid value"),
        ('a = "b"\na = "c"', 3, "overwrite"),
        ('title = "a', 2, "Illegal character"),
        ("a = " + "1" * 9_000, 1, "digits"),
        ("a = " + "[" * 9_000 + "]" * 9_000, 1, "deep"),
    ],
)
def test_broken_toml_is_left_out_and_says_where(toml: str, line: int, words: str) -> None:
    text = f"+++\n{toml}\n+++\nbody\n"
    found = split(text)
    assert (found.fields, found.line) == (FrontMatter(), line)
    assert words in found.problem
    assert text[found.end :] == "body\n"


@pytest.mark.parametrize("value", ["true", "0x" + "f" * 9_000, "{a = 1}"])
def test_values_of_toml_that_are_no_names_are_left_out(value: str) -> None:
    assert split(f"+++\ntitle = {value}\ntags = [{value}]\n+++\n").fields == FrontMatter()


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        (
            "alias:: 绿茶, Green tea\ntags:: tea, hot drinks\n\n- text\n",
            FrontMatter("", ("tea", "hot drinks"), ("绿茶", "Green tea")),
        ),
        (
            "- tags:: #tea #[[hot drinks]] [[cups]], water\n  alias:: [[绿茶]]\n- text\n",
            FrontMatter("", ("tea", "hot drinks", "cups", "water"), ("绿茶",)),
        ),
        ("\nTitle:: Green tea\ndate:: 2024-05-02\nmood::\n", FrontMatter("Green tea", date="2024-05-02")),
        ("text\ntags:: tea\n", FrontMatter()),
        ("std::vector tags:: tea\n", FrontMatter()),
        ("tags::tea\n", FrontMatter()),
        ("", FrontMatter()),
    ],
)
def test_properties_at_the_beginning_say_what_front_matter_does(text: str, fields: FrontMatter) -> None:
    found = split(text)
    assert found.fields == fields
    assert found.end == 0


def test_properties_add_to_front_matter() -> None:
    found = split("---\ntitle: Tea\ntags: [tea]\n---\n\ntitle:: Coffee\ntags:: cups, tea\nalias:: 茶\n")
    assert found.fields == FrontMatter("Tea", ("tea", "cups"), ("茶",))


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        (
            "# Meeting notes\n\nDate: January 14, 2026\nOwner: Dana\nTags: ops, on duty\n\n- x\n",
            FrontMatter("", ("ops", "on duty"), date="January 14, 2026"),
        ),
        ("# 会议\n\n日期: 2026年2月11日\n标签: 运维", FrontMatter("", ("运维",), date="2026年2月11日")),
        ("# Tea\n\nTags: one of many\nways to sort.\n", FrontMatter()),
        ("Tags: tea\n", FrontMatter()),
    ],
)
def test_properties_of_an_exported_page_stand_below_its_heading(text: str, fields: FrontMatter) -> None:
    assert split(text).fields == fields
