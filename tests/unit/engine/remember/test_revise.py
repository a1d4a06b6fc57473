"""What may be revised, and what happens when another process was faster."""

from collections.abc import Callable
from dataclasses import fields, replace
from datetime import datetime, timedelta
from typing import Any, cast

import pytest

from biem.adapters.analyzers import RuleAnalyzer
from biem.domain.node import Draft, Node, new_id
from biem.domain.policies.writing import WritePolicy
from biem.domain.revision import REVISABLE, Revision
from biem.domain.scope import Scope
from biem.engine.remember.hot_write_behind import HotFeed
from biem.engine.remember.revise import Reviser
from biem.engine.remember.writer import Writer
from biem.errors import BiemError, InvalidInput, NotFound, RevisionConflict, StoreUnavailable
from biem.ports import HotStore, JobQueue, Records
from biem.ports.revisions import Change, Revisions
from biem.telemetry import Telemetry
from tests.support.fakes import START, HeldClock

SCOPE = Scope(user="u")
KEY = new_id()


class Shelf:
    """One memory with its history: the port `Revisions`, and `get` of the port `Records`."""

    def __init__(self) -> None:
        self.node = Node(
            id=KEY, scope=SCOPE, text="Ann likes tea", kind="knowledge", status="active", layer="short_term",
            at=START, created_at=START, tags=("a",),
        )  # fmt: skip
        self.former: list[Node] = []
        self.changes: list[Change] = []
        self.meanwhile: list[Callable[[], object]] = []
        """What others do just before a change is committed, one after the other."""

    def get(self, scope: Scope, memory_id: str) -> Node | None:
        return self.node if (scope, memory_id) == (SCOPE, KEY) else None

    def revise(self, scope: Scope, change: Change, at: datetime) -> Node | None:
        if self.meanwhile:
            self.meanwhile.pop(0)()
        if change.base != self.node.revision:
            return None
        self.changes.append(change)
        self.put(**{field.name: getattr(change.draft, field.name) for field in fields(Draft)})
        return self.node

    def put(self, **values: Any) -> None:
        self.former.append(self.node)
        self.node = replace(self.node, revision=self.node.revision + 1, **values)

    def history(self, scope: Scope, memory_id: str) -> list[Revision]:
        known = [*self.former, self.node] if memory_id == KEY else []
        return [
            Revision(revision=node.revision, made_at=START, **{name: getattr(node, name) for name in REVISABLE})
            for node in known
        ]


class Desk:
    """A reviser over a shelf; what it clears and whom it wakes."""

    def __init__(self) -> None:
        self.shelf, self.clock = Shelf(), HeldClock()
        self.cleared: list[str] = []
        self.woken = 0
        self.failure: BiemError | None = None
        queue = cast(JobQueue, self)
        hot = HotFeed(cast(HotStore, object()), window=10)
        records = cast(Records, self.shelf)
        writer = Writer(
            records=records, hot=hot, queue=queue, analyzer=RuleAnalyzer(), clock=self.clock,
            policy=WritePolicy(max_text_bytes=1_000), telemetry=Telemetry(),
        )  # fmt: skip
        self.reviser = Reviser(
            records=records, revisions=cast(Revisions, self.shelf), writer=writer, queue=queue, clear=self.clear,
            clock=self.clock, telemetry=Telemetry(),
        )  # fmt: skip

    def wake(self) -> None:
        self.woken += 1

    def clear(self, ns: str, ids: object) -> None:
        if self.failure is not None:
            raise self.failure
        self.cleared.append(ns)

    def revise(self, *, expect: int | None = None, **given: Any) -> Node:
        return self.reviser.revise(SCOPE, KEY, given, expect=expect)


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_a_change_names_what_differs_and_carries_all_values(desk: Desk) -> None:
    node = desk.revise(text="Ann likes cocoa", tags=["a"], importance=3)
    assert (node.text, node.revision, node.tags) == ("Ann likes cocoa", 2, ("a",))
    [change] = desk.shelf.changes
    assert (change.changed, change.base, change.by) == (frozenset({"text"}), 1, "revise")
    assert "cocoa" in change.lexemes.split()
    assert (desk.cleared, desk.woken) == ([SCOPE.ns], 1)


def test_equal_values_change_nothing(desk: Desk) -> None:
    assert desk.revise(text="Ann likes tea", tags=("a",), at=START, expires_at=None).revision == 1
    assert (desk.shelf.changes, desk.woken) == ([], 0)


def test_what_is_not_said_clears_no_cache(desk: Desk) -> None:
    desk.revise(importance=5, reason="she said so")
    assert (desk.cleared, desk.woken) == ([], 1)


def test_a_cache_that_is_down_is_left_to_the_worker(desk: Desk) -> None:
    desk.failure = StoreUnavailable("down")
    assert desk.revise(text="Ann likes cocoa").revision == 2


def test_an_unexpected_revision_is_answered_with_the_present_one(desk: Desk) -> None:
    desk.shelf.put(text="Ann likes milk")
    with pytest.raises(RevisionConflict, match="at revision 2, not 1"):
        desk.revise(text="Ann likes cocoa", expect=1)
    # And so is who was right when it was read, and too late when it was written
    desk.shelf.meanwhile.append(lambda: desk.shelf.put(text="Ann likes wine"))
    with pytest.raises(RevisionConflict, match="at revision 3, not 2"):
        desk.revise(text="Ann likes cocoa", expect=2)
    assert desk.shelf.changes == []


def test_without_expectations_the_change_is_made_of_what_stands_by_then(desk: Desk) -> None:
    desk.shelf.meanwhile.append(lambda: desk.shelf.put(tags=("b",)))
    node = desk.revise(text="Ann likes cocoa")
    assert (node.text, node.tags, node.revision) == ("Ann likes cocoa", ("b",), 3)


def test_a_caller_that_is_always_too_late_is_asked_to_try_again(desk: Desk) -> None:
    desk.shelf.meanwhile += [desk.shelf.put] * 1_000
    with pytest.raises(StoreUnavailable, match="try again"):
        desk.revise(text="Ann likes cocoa")


def test_a_revert_has_the_values_of_then_without_an_expiry_that_has_passed(desk: Desk) -> None:
    desk.shelf.node = replace(desk.shelf.node, expires_at=START + timedelta(days=1))
    desk.revise(text="Ann likes cocoa", tags=[], expires_at=START + timedelta(days=9))
    desk.clock.advance(days=2)
    node = desk.reviser.revert(SCOPE, KEY, 1)
    assert (node.text, node.tags, node.revision) == ("Ann likes tea", ("a",), 3)
    assert node.expires_at == START + timedelta(days=9)
    assert desk.shelf.changes[-1].by == "revert"
    with pytest.raises(NotFound, match="1 to 3"):
        desk.reviser.revert(SCOPE, KEY, 4)


@pytest.mark.parametrize("status", ["pending", "active", "archived"])
def test_all_but_the_archived_can_be_revised(desk: Desk, status: str) -> None:
    desk.shelf.node = replace(desk.shelf.node, status=status)
    if status == "archived":
        with pytest.raises(InvalidInput, match="restore it first"):
            desk.revise(text="Ann likes cocoa")
    else:
        assert desk.revise(text="Ann likes cocoa").revision == 2


def test_what_is_unknown_or_of_another_scope_is_not_found(desk: Desk) -> None:
    for scope, key in ((SCOPE, new_id()), (Scope(user="v"), KEY)):
        with pytest.raises(NotFound):
            desk.reviser.revise(scope, key, {"text": "Ann likes cocoa"})
    with pytest.raises(NotFound):
        desk.reviser.history(SCOPE, new_id())
    with pytest.raises(InvalidInput):
        desk.revise(text="Ann likes cocoa", expect=0)


BAD: list[dict[str, Any]] = [
    {"text": ""}, {"text": "x" * 10_000_000}, {"text": "a\0b"}, {"text": "\ud800"}, {"text": 1},
    {"importance": float("nan")}, {"importance": 6}, {"tags": "one"}, {"tags": [""]}, {"kind": "poem"},
    {"layer": "deep"}, {"speaker": "x" * 257}, {"metadata": {"n": float("inf")}}, {"trust": "blind"},
    {"on_expiry": "sell"}, {"expect": True}, {"expect": 0}, {"ttl": timedelta(0)}, {"expires_at": START},
    {"at": START.replace(year=1800)}, {"reason": "\ud800"},
]  # fmt: skip


@pytest.mark.parametrize("given", BAD, ids=lambda given: f"{given!r:.30}")
def test_bad_values_are_refused_and_change_nothing(desk: Desk, given: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        desk.revise(**given)
    assert desk.shelf.changes == []
