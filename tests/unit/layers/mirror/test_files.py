"""Files of the mirror: what is written is read back, what a person wrote stays, and names suit every system."""

import string
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.domain.mirror.root import FIELDS
from biem.domain.node import Node
from biem.domain.observing.category import BUILT_IN
from biem.domain.scope import Scope
from biem.layers.mirror.front import BrokenFront, edited, joined, parse, rendered
from biem.layers.mirror.merge import merge
from biem.layers.mirror.names import clusters, file_name, free_path, key, meant_by
from biem.layers.mirror.read import read
from biem.layers.mirror.render import changed, fields_of, whole, written_fields

AT = datetime(2026, 3, 14, 15, 9, 26, tzinfo=UTC)
ID = "019f3a5e-7c01-7000-8000-0123456789ab"
HARD = st.text(
    st.one_of(
        st.sampled_from("\n\r\t \"'\\:#-|>{}[]&*!%@`,?~\u0085\u2028\u2029\ufeff\x7f\x1b😀👩\u200d👧é中"),
        st.characters(exclude_categories=["Cs"], exclude_characters="\x00"),
    ),
    max_size=60,
)
TEXTS = st.one_of(HARD, st.sampled_from(["---\nid: x\n---\nbody", "a\n---\nb", "---", "a\r\nb\r\n", "\n\nx\n\n"]))
SCALARS = st.one_of(HARD, st.booleans(), st.none(), st.integers(-(10**9), 10**9), st.floats(-1e6, 1e6).map(float))
OWN_KEYS = st.text(string.ascii_lowercase, min_size=3, max_size=8).map(lambda word: f"my_{word}")
OWN = st.dictionaries(OWN_KEYS, st.one_of(SCALARS, st.lists(SCALARS, max_size=3)), max_size=3)


def node(**values: Any) -> Node:
    """A memory."""
    usual: dict[str, Any] = {
        "id": ID,
        "scope": Scope(),
        "text": "I drink tea.",
        "kind": "knowledge",
        "status": "active",
        "layer": "core",
        "at": AT,
        "created_at": AT,
    }
    return Node(**usual | values)


@given(TEXTS.filter(str.strip), st.lists(HARD.filter(str.strip), max_size=4, unique=True), HARD, HARD, OWN)
def test_what_is_written_is_read_back(text: str, tags: list[str], title: str, reason: str, own: dict[str, Any]) -> None:
    memory = node(text=text, tags=tuple(tags), reason=reason, metadata={"title": title, "front": own})
    data = whole(memory)
    found = read("a.md", data)
    assert not found.problem
    assert found.id == ID
    assert found.fields == written_fields(memory)
    # The same memory gives the same bytes
    assert whole(memory) == data


@given(TEXTS.filter(lambda text: text.strip() and "\r" not in text), HARD)
def test_line_breaks_and_a_byte_order_mark_change_nothing_and_stay(text: str, title: str) -> None:
    memory = node(text=text, metadata={"title": title})
    windows = b"\xef\xbb\xbf" + whole(memory).replace(b"\n", b"\r\n")
    found = read("a.md", windows)
    assert found.fields == written_fields(memory)
    again = changed(found, node(text=text, metadata={"title": title}, importance=5.0), {"importance": 5.0})
    assert again.startswith(b"\xef\xbb\xbf---\r\n")
    assert again.count(b"\n") == again.count(b"\r\n")
    assert read("a.md", again).fields["importance"] == 5.0


@given(
    st.lists(
        st.sampled_from([
            "# a comment\n", "mood: calm # why\n", "list:\n  - one\n  - two # last\n", "other: {a: [1, 2], b: 'x'}\n",
            "block: |\n  first\n  second\n", "folded: >-\n  one\n  two\n", "'quoted key': \"😀\"\n", "\n", "empty:\n",
            "numbers: [1, 2.5, no, 2024-01-01]\n",
        ]),
        unique=True,
    ),
    st.lists(st.sampled_from(['title: "old"\n', "tags:\n- a\n- b\n", "importance: 2 # mine\n"]), unique=True),
    HARD,
    st.lists(HARD.filter(str.strip), max_size=3, unique=True),
)  # fmt: skip
def test_an_edit_changes_its_values_and_keeps_every_other_line(
    own: list[str], ours: list[str], title: str, tags: list[str]
) -> None:
    source = "".join(line for pair in zip(own, [*ours, *[""] * len(own)], strict=False) for line in pair)
    source += "".join(ours[len(own) :])
    front = parse(joined(source, "body\n"))
    after = edited(front, {"title": title, "tags": tags})
    for line in own:
        assert line.strip("\n") in after
    said = {name: value.value for name, value in parse(joined(after, "body\n")).values.items()}
    assert said["title"] == title
    assert said["tags"] == tags
    assert {name: said[name] for name in said if name not in ("title", "tags")} == {
        name: value.value for name, value in front.values.items() if name not in ("title", "tags")
    }


@pytest.mark.parametrize(
    ("source", "line"),
    [("tags: [a\n", 3), ("a: 1\na: 2\n", 3), ("a: &x 1\nb: *x\n", 2), ("- a\n- b\n", 2), ("just words\n", 2)],
)
def test_front_matter_that_cannot_be_read_names_its_line(source: str, line: int) -> None:
    with pytest.raises(BrokenFront) as broken:
        parse(joined(source, "body\n"))
    assert abs(broken.value.line - line) <= 1
    assert read("a.md", joined(source, "body\n").encode()).problem


@pytest.mark.parametrize(
    "source", ["importance: high\n", "type: forever\n", "kind: odd\n", "category: No-Name\n", "expires_at: soon\n"]
)
def test_a_value_that_no_memory_can_have_is_shown_with_its_line(source: str) -> None:
    found = read("a.md", joined(f"title: x\n{source}", "body\n").encode())
    assert found.line == 3
    assert source.partition(":")[0] in found.problem
    assert not found.fields


FIELD_VALUES = st.fixed_dictionaries({name: st.integers(0, 3) for name in FIELDS if name != "text"} | {"text": HARD})


@given(FIELD_VALUES, FIELD_VALUES, FIELD_VALUES, st.sets(st.sampled_from(FIELDS)))
def test_a_merge_commutes_where_the_sides_changed_different_fields(
    base: dict[str, Any], one: dict[str, Any], other: dict[str, Any], mine: set[str]
) -> None:
    left = {name: one[name] if name in mine else base[name] for name in FIELDS}
    right = {name: other[name] if name not in mine else base[name] for name in FIELDS}
    agreed = {"file": base, "memory": base}
    there, back = merge(agreed, left, right), merge(agreed, right, left)
    assert there.lost == back.lost == ()
    # The result is the same, no matter which side is the file
    assert {**right, **there.to_memory} == {**left, **back.to_memory} | {
        name: {**right, **there.to_memory}[name]
        for name in ("text",)  # line breaks at the end are no change
    }
    assert there.to_memory == back.to_file
    assert there.to_file == back.to_memory


def test_what_both_changed_in_one_field_is_the_files() -> None:
    base = {**fields_of(node()), "title": "a"}
    merged = merge({"file": base, "memory": base}, {**base, "title": "b"}, {**base, "title": "c"})
    assert (merged.to_memory, merged.to_file, merged.lost) == ({"title": "b"}, {}, ("title",))


@given(HARD)
@pytest.mark.req("M33")
def test_a_name_suits_every_system(title: str) -> None:
    name = file_name(AT, "rule", title)
    assert name.startswith("20260314_rule_")
    assert name.endswith(".md")
    assert len(name.encode()) <= 220
    assert not set(name) & set('<>:"/\\|?*\n\r\t') and not any(ord(sign) < 32 for sign in name)  # noqa: PT018
    assert not name.removesuffix(".md").endswith((".", " "))


def test_a_long_title_is_cut_between_graphemes() -> None:
    family = "👩\u200d👩\u200d👧"
    name = file_name(AT, "rule", family * 40)
    kept = name.removeprefix("20260314_rule_").removesuffix(".md")
    assert set(clusters(kept)) == {family}
    assert len(kept) <= 80


def test_names_that_differ_in_case_or_form_are_one() -> None:
    assert key("core/CAFÉ.md") == key("core/cafe\u0301.md")
    assert free_path("core/Café.md", ID, {key("core/CAFÉ.md")}) == "core/Café_456789ab.md"
    assert free_path("core/Café.md", ID, set()) == "core/Café.md"


def test_a_folder_says_layer_and_category() -> None:
    assert meant_by("long_term/decisions/a.md", BUILT_IN) == {"category": "decision", "layer": "long_term"}
    assert meant_by("archive/short_term/tasks/a.md", BUILT_IN) == {"category": "task", "layer": "short_term"}
    assert meant_by("long_term/own/a.md", BUILT_IN) == {"layer": "long_term"}
    assert meant_by("elsewhere/a.md", BUILT_IN) == {}


@given(OWN)
def test_own_keys_are_rendered_and_read_alike(own: dict[str, Any]) -> None:
    front = parse(joined(rendered(own), "x\n"))
    assert {name: value.value for name, value in front.values.items()} == own
