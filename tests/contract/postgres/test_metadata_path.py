"""Conditions on metadata mean the same in Python, in a jsonpath of PostgreSQL and in the index of metadata."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

from biem.adapters.postgres.database import Database
from biem.adapters.postgres.metadata_path import metadata_path, scoped_path
from biem.adapters.postgres.readers import PostgresSelection
from biem.adapters.postgres.records import PostgresRecords
from biem.domain.metadata_filter import meets, parse_where
from biem.domain.scope import Scope
from biem.ports import Filter
from tests.contract.conftest import Admin, write
from tests.support.fakes import HeldClock

KEYS = ("score", "项目", 'a "quoted" key', "back\\slash", "$dollar", "a.b", "sp ace", "emoji 🌿", "é", "is", "ns", "*")
TEXTS = (
    "",
    "1",
    "true",
    "null",
    "x",
    "X",
    "é",
    "e\u0301",
    "项目",
    'say "hi"',
    "back\\slash",
    "tab\t",
    "\u2028",
    "🌿",
    "a\nb",
)
NUMBERS = (0, -0.0, 1, 1.0, 1.5, -1, 3, 2**53, 2**53 + 1, 2**63, 10**30, 1e300, -1e-300, 0.1, 0.1 + 0.2, 0.3)
SCALARS = st.one_of(st.sampled_from(TEXTS), st.sampled_from(NUMBERS), st.booleans(), st.none())
VALUES = st.one_of(
    SCALARS,
    st.lists(st.one_of(SCALARS, st.lists(SCALARS, max_size=2)), max_size=3),
    st.dictionaries(st.sampled_from(KEYS), SCALARS, max_size=1),
)
ORDERED = st.one_of(st.sampled_from(TEXTS), st.sampled_from(NUMBERS))
KEY = st.sampled_from([key for key in KEYS if not key.startswith("$")])
MEANT = st.one_of(
    SCALARS,
    st.builds(lambda operator, value: {operator: value}, st.sampled_from(["$eq", "$ne"]), SCALARS),
    st.builds(lambda operator, value: {operator: value}, st.sampled_from(["$gt", "$gte", "$lt", "$lte"]), ORDERED),
    st.builds(
        lambda operator, values: {operator: values}, st.sampled_from(["$in", "$nin"]), st.lists(SCALARS, max_size=3)
    ),
    st.builds(lambda there: {"$exists": there}, st.booleans()),
)


@pytest.mark.long
@pytest.mark.parametrize("of", ["$", "$.is"])
def test_a_path_meets_what_python_says_it_meets(of: str, admin: Admin) -> None:
    document = "%s::jsonb" if of == "$" else "scoped_metadata('n', %s::jsonb)"

    @settings(max_examples=800, deadline=None, derandomize=True)
    @given(
        st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=3), st.dictionaries(KEY, MEANT, min_size=1, max_size=2)
    )
    def agree(metadata: dict[str, Any], where: dict[str, Any]) -> None:
        conditions = parse_where(where)
        query = f"SELECT ({document} @@ %s::jsonpath) IS TRUE"
        row = admin.execute(query.encode(), (Jsonb(metadata), metadata_path(conditions, of))).fetchone()
        assert row == (meets(conditions, json.loads(json.dumps(metadata))),), (metadata, where)

    agree()


def test_strings_are_ordered_by_code_points_in_both(admin: Admin) -> None:
    for text in (*TEXTS, "\ue000", "\uffff", "a", "B"):
        for other in (*TEXTS, "\ue000", "\U00010000", "b"):
            conditions = parse_where({"k": {"$gte": other}})
            row = admin.execute(
                "SELECT (%s::jsonb @@ %s::jsonpath) IS TRUE", (Jsonb({"k": text}), metadata_path(conditions))
            ).fetchone()
            assert row == (meets(conditions, {"k": text}),) == (text >= other,), (text, other)


@pytest.mark.parametrize(
    "where",
    [
        {"project": "p1"}, {"project": {"$in": ["p1", "p2"]}}, {"score": {"$gte": 7}}, {"score": 3.0}, {"tags": "b"},
        {"owner": None}, {"owner": {"$exists": True}}, {"project": "p1", "score": {"$lt": 5}},
        {"project": "p1", "owner": {"$exists": False}}, {"project": {"$ne": "p1"}}, {"owner": {"$exists": False}},
        {"project": {"$nin": []}}, {"project": {"$in": []}}, {"project": "no such"},
    ],
    ids=str,
)  # fmt: skip
def test_few_that_meet_conditions_are_found_by_the_index_and_no_others(
    where: dict[str, Any], records: PostgresRecords, pool: Database, scope: Scope, other: Scope, admin: Admin
) -> None:
    # Given memories with metadata and without, some of them archived, and the same in another scope
    selection = PostgresSelection(pool, clock=HeldClock(), decay_per_hour=0.1, model="m")
    made: list[dict[str, Any]] = [
        {
            "project": f"p{n % 4}",
            "score": n % 10,
            "tags": ["a", "b"][: n % 3],
            **({"owner": None} if n % 5 == 0 else {}),
        }
        for n in range(40)
    ] + [{}] * 5
    writes = [write(f"said {n}", kind="event", metadata=metadata) for n, metadata in enumerate(made)]
    records.remember(scope, writes)
    records.remember(other, [write(f"said {n}", kind="event", metadata=metadata) for n, metadata in enumerate(made)])
    admin.execute(
        "UPDATE memories SET status = 'archived' WHERE id = ANY (%s::uuid[])", ([writes[1].id, writes[3].id],)
    )
    conditions = parse_where(where)
    expected = {one.id for n, one in enumerate(writes) if n not in (1, 3) and meets(conditions, one.draft.metadata)}

    # When they are asked for / Then they are named, unless no index can tell, and never more than wanted
    filtered = Filter(metadata=conditions)
    assert set(selection.matching([scope], filtered, None) or ()) == expected
    by_index = selection.matching([scope], filtered, 45)
    if scoped_path(conditions, [scope.ns]) is None:
        assert by_index is None
    else:
        assert by_index is not None
        assert set(by_index) == expected
        assert len(by_index) == len(expected)
        if len(expected) > 1:
            assert selection.matching([scope], filtered, len(expected) - 1) is None
        both = selection.matching([scope, other], filtered, 90)
        assert both is not None
        assert len(both) >= 2 * len(expected)
    # And further conditions hold, too
    assert selection.matching([scope], Filter(metadata=conditions, kinds=("task",)), 45) in ([], None)
    assert selection.matching([scope], Filter(metadata=conditions, kinds=("task",)), None) == []


def test_the_function_shows_nothing_of_a_scope_that_was_not_named(
    records: PostgresRecords, service: Admin, scope: Scope, other: Scope
) -> None:
    for one in (scope, other):
        records.remember(one, [write("said", kind="event", metadata={"project": "x"})])
    ask = "SELECT count(*) FROM memories_with_metadata(%s, %s::jsonpath, 10)"
    path = scoped_path(parse_where({"project": "x"}), [scope.ns, other.ns])
    for seen, names, count in (
        (scope.ns, [scope.ns, other.ns], 1), (scope.ns, [other.ns], 0), ("", [scope.ns, other.ns], 0),
        (f"{scope.ns},{other.ns}", [scope.ns, other.ns], 2), ("*", [scope.ns, other.ns], 2),
        (scope.ns, [None, other.ns], 0),
    ):  # fmt: skip
        with service.transaction():
            service.execute("SELECT set_config('biem.ns', %s, true)", (seen,))
            assert service.execute(ask, (names, path)).fetchone() == (count,), (seen, names)
