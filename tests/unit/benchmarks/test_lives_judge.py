"""How blocks are judged: by the turns that their lines stand for."""

from benchmarks.lives.agent import lines_of
from benchmarks.lives.facts import Question
from benchmarks.lives.judge import Line, Shown, breakdown, failures, measure
from biem.domain.node import Hit, Node, new_id
from biem.domain.scope import Scope
from biem.engine.context.block import Context
from tests.support.fakes import START

ASKED = Question(
    *("q", "Where do I live?", "en", "after", 9, "now", "home"),
    groups=(frozenset(["new"]),),
    stale=frozenset(["old"]),
    relevant=frozenset(["old", "new"]),
)
UNKNOWN = Question(*("u", "What is my blood type?", "en", "after", 9, "unknown", "stranger"))


def _node(text: str) -> Node:
    return Node(
        id=new_id(), scope=Scope(), text=text, kind="event", status="active", layer="short_term", at=START,
        created_at=START,
    )  # fmt: skip


def _shown(*lines: Line, question: Question = ASKED, **more: object) -> Shown:
    return Shown(question, lines, 10, **more)  # type: ignore[arg-type]


def _line(turn: str, **more: bool) -> Line:
    return Line(frozenset([turn]), **more)  # type: ignore[arg-type]


def test_the_valid_value_first_and_the_dated_former_one_below_is_right() -> None:
    one = _shown(_line("new"), _line("old", dated=True))
    assert one.answered
    assert one.first
    assert one.relevant == 2
    assert not one.stale_above
    assert not one.stale_unmarked


def test_a_former_value_above_or_alone_is_stale_above_even_when_marked() -> None:
    assert _shown(_line("old", marked=True), _line("new")).stale_above
    assert _shown(_line("old")).stale_above
    assert not _shown(_line("old", marked=True), _line("new")).stale_unmarked


def test_a_former_value_below_without_date_or_mark_is_unmarked() -> None:
    assert _shown(_line("new"), _line("old")).stale_unmarked
    assert _shown(_line("old", dated=True), _line("new")).stale_unmarked


def test_every_value_asked_for_must_be_shown() -> None:
    both = Question(
        *("q", "What am I allergic to?", "en", "after", 9, "now", "allergy"),
        groups=(frozenset(["nuts"]), frozenset(["eggs"])),
        relevant=frozenset(["nuts", "eggs"]),
    )
    assert not _shown(_line("nuts"), question=both).answered
    assert _shown(_line("nuts"), _line("eggs"), question=both).answered


def test_what_the_history_answers_is_not_judged() -> None:
    assert not _shown(_line("new"), history=frozenset(["new"])).judged
    assert _shown(_line("new"), history=frozenset(["other"])).judged


def test_the_row_of_a_system() -> None:
    shown = [
        _shown(_line("new"), _line("noise"), recalled=(frozenset(["new"]),)),
        _shown(_line("old"), _line("ok"), recalled=(frozenset(["old"]),)),
        _shown(),
        _shown(question=UNKNOWN),
        _shown(_line("noise"), question=UNKNOWN, doubted=True),
    ]
    row = measure(shown, frozenset(["ok"]))
    assert breakdown(shown) == [
        {"what": name, "n": 3, "answer": 1 / 3, "first": 1.0, "stale_above": 1 / 3}
        for name in ("asked after, of now", "home")
    ]
    assert (row["n"], row["known"], row["updated"], row["unknown"]) == (5, 3, 3, 2)
    assert row["answer"] == 1 / 3
    assert row["first"] == 1.0
    assert row["recall_first"] == 1.0
    assert row["precision"] == 0.5
    assert row["stale_above"] == 1 / 3
    assert row["silent"] == 1 / 3
    assert row["told_unknown"] == 0.5
    assert (row["told_unmarked"], row["doubted"]) == (0.0, 0.0)
    assert row["acknowledgements"] == 0.2
    assert {name: len(found) for name, found in failures(shown).items()} == {
        "not answered": 2, "not first": 0, "stale above": 1, "stale unmarked": 1, "silent": 1, "told though unknown": 1,
    }  # fmt: skip


def test_lines_are_those_of_the_hits_and_marks_are_what_the_block_adds() -> None:
    nodes = [_node("I live in Rome until the summer"), _node("I moved to Oslo")]
    text = (
        "## Relevant Memories\n\n1. [○ E=0.60] (2026-03-01) I live in Rome until the summer\n   Entities: Rome\n"
        "2. [○ E=0.60] I moved to Oslo (until 2026-05-01)"
    )
    hits = tuple(Hit(node, 0.5, {}) for node in nodes)

    def turns(node: Node) -> frozenset[str]:
        return frozenset([node.id])

    first, second = lines_of(Context(text, hits), turns)
    assert (first.turns, first.marked, first.dated) == (frozenset([nodes[0].id]), False, True)
    assert (second.turns, second.marked, second.dated) == (frozenset([nodes[1].id]), True, True)
